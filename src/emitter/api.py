"""The clients: ``Emitter`` and ``AsyncEmitter`` hold one SDK client and the settings of many emissions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from emitter.bulk.api import aemit_binding_moments, aemit_many, emit_binding_moments, emit_many
from emitter.client.binding_moments import to_decision
from emitter.client.execution import aexecute, execute
from emitter.client.pool import ClientPool
from emitter.client.request import prepare_emission
from emitter.client.settings import Settings
from emitter.client.streams import AsyncStream, Stream
from emitter.forms import binding_moment, document
from emitter.models import OPEN_HATCHES, Hatches
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike
    from typing import Self

    from emitter.bulk.batches.emissions import Batch
    from emitter.bulk.jobs import AnySituations, Situations
    from emitter.bulk.progress import ProgressCallback
    from emitter.bulk.runs import AsyncRun, Run
    from emitter.checks import LintConfig
    from emitter.client.binding_moments import Decision
    from emitter.client.result import Emission
    from emitter.clock import Clock
    from emitter.conversation import Messages
    from emitter.forms.binding_moment import Actions, EarlierAnswers
    from emitter.forms.document import Check
    from emitter.forms.form import OutputForm
    from emitter.host import Acceptor, EnvelopeContract
    from emitter.messages import Json
    from emitter.prompts import Material
    from emitter.schema.compiler import UndeclaredProperties
    from emitter.schema.references import SchemaRegistry
    from emitter.telemetry.sinks import Sink

T = TypeVar("T")


class _BaseEmitter:
    """The settings that both clients hold."""

    def __init__(  # noqa: PLR0913  every one but the model has a default
        self,
        model: str,
        *,
        client: object = None,
        api_key: str | None = None,
        base_url: str | None = None,
        wire: str | None = None,
        policy: Policy | None = None,
        on_event: Sink | None = None,
        host: Acceptor | None = None,
        contract: EnvelopeContract | None = None,
        kind: str | None = None,
        instructions: str | None = None,
        prompts: str | PathLike[str] | None = None,
        options: Mapping[str, Json] | None = None,
        requires: Iterable[str] = (),
        fallback_model: str | None = None,
        provider_ids: Mapping[str, str] | None = None,
        degrade: bool = True,
        undeclared: UndeclaredProperties | str | None = None,
        registry: SchemaRegistry | None = None,
        validator_messages: bool = True,
        clock: Clock | None = None,
    ) -> None:
        """Check the settings. Nothing is sent and no connection is opened.

        Args:
            model: The provider and model name, for example ``"openai/gpt-6-sol"``.
            client: An SDK client of your own, of any flavour. You close it. Without one, SDK clients are created from
                the provider's usual environment variables, kept open, and closed by ``close()``.
            api_key: The key to use instead of the one in the environment.
            base_url: The address of the server, if no ``client`` is passed.
            wire: One of the provider's APIs, such as ``"openai-chat"``, if it has several.
            policy: Limits on attempts, tokens, time and cost. Defaults to ``Policy()``.
            on_event: Called with every event as it happens.
            host: The OpenWOP host that accepts the envelopes: kinds, limits, secrets and a store of your own.
            contract: The kinds of envelope that may be emitted.
            kind: The kind that a document is emitted as; ``host`` must know it. Default: ``vendor.emitter.document``.
            instructions: Words of your own for the system prompt.
            prompts: A folder whose files replace the library's prompts of the same name.
            options: Parameters of the provider's own, such as ``{"temperature": 0}``.
            requires: Capabilities that the model must have, such as ``["structured-output"]`` (OpenWOP RFC 0031).
            fallback_model: The model to use instead if ``model`` lacks one of them.
            provider_ids: Names of providers in events, where yours differ from ours.
            degrade: Whether a schema that is too large for the provider may be enforced in part; the rest is
                checked here.
            undeclared: Whether properties that an object schema does not mention are kept (``"carry"``) or forbidden
                (``"close"``). Defaults to ``"carry"`` for a JSON Schema and ``"close"`` for a type.
            registry: The schemas that a JSON Schema refers to outside itself, by URI. Nothing is fetched.
            validator_messages: Whether the model reads the messages of your validators and checks. Every piece of
                its answer is struck out of them.
            clock: The source of time, for tests and replays.

        Raises:
            InputError: An argument cannot be used. The message names it.
            UnknownModel: No provider has this name.
        """
        self.model = model
        self.policy = policy or DEFAULT_POLICY
        self._client, self._on_event = client, on_event
        self._pool = ClientPool(api_key=api_key)
        given = {
            "base_url": base_url,
            "wire": wire,
            "host": host,
            "contract": contract,
            "kind": kind,
            "instructions": instructions,
            "prompts": prompts,
            "options": options,
            "requires": tuple(requires) if not isinstance(requires, str) else requires,
            "fallback_model": fallback_model,
            "provider_ids": provider_ids,
            "degrade": degrade,
            "undeclared": undeclared,
            "registry": registry,
            "validator_messages": validator_messages,
            "clock": clock,
        }
        self._options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        self._settings((), None, {})  # an error in an argument is raised here, not by the first emission

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def _settings(
        self, materials: Iterable[Material | str], policy: Policy | None, call: Mapping[str, object]
    ) -> Settings:
        options: dict[str, Any] = {**self._options}
        options |= {name: value for name, value in call.items() if value is not None}
        return Settings(
            self.model, self._client, materials, policy or self.policy, self._on_event, pool=self._pool, **options
        )

    def _bulk_arguments(self, policy: Policy | None, run_id: str | None) -> dict[str, Any]:
        return {
            **self._options,
            **({} if run_id is None else {"run_id": run_id}),
            "model": self.model,
            "client": self._client,
            "policy": policy or self.policy,
            "on_event": self._on_event,
        }

    def _document_form(
        self, form: object, checks: Iterable[Check[Any]], examples: Iterable[Json], settings: Settings
    ) -> OutputForm:
        return document.document_form(form, checks, examples, settings.kind, show_messages=settings.validator_messages)


class Emitter(_BaseEmitter):
    """Emit typed objects and decisions with one model, and keep its SDK client open between them.

    Use it from any number of threads. Close it with ``close()`` or
    a ``with`` block. The arguments are described at ``help(Emitter.__init__)``.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the SDK clients that this emitter created. A ``client`` of your own stays open."""
        self._pool.close()

    @overload
    def emit(
        self,
        form: type[T],
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[T]] = (),
        examples: Iterable[T | Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Emission[T]: ...

    @overload
    def emit(
        self,
        form: object,
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Emission[Any]: ...

    def emit(  # noqa: PLR0913  every one but the first two has a default
        self,
        form: object,
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Emission[Any]:
        """Ask the model for a typed object and return it validated. See ``emitter.emit``.

        ``run_id``, ``node_id`` and ``turn`` name the emission in events and in the host's store.
        """
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = self._document_form(form, checks, examples, settings)
        return execute(prepare_emission(wanted, messages, settings), settings)

    @overload
    def stream(
        self,
        form: type[T],
        messages: Messages,
        *,
        into: Iterable[str] = (),
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[T]] = (),
        examples: Iterable[T | Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Stream[Emission[T]]: ...

    @overload
    def stream(
        self,
        form: object,
        messages: Messages,
        *,
        into: Iterable[str] = (),
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Stream[Emission[Any]]: ...

    def stream(  # noqa: PLR0913  every one but the first two has a default
        self,
        form: object,
        messages: Messages,
        *,
        into: Iterable[str] = (),
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Stream[Emission[Any]]:
        """Ask for a typed object and read its parts while they are written. See ``emitter.stream``."""
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = self._document_form(form, checks, examples, settings)
        selectors = document.stream_selectors(into, follow)
        return Stream(prepare_emission(wanted, messages, settings), settings, selectors)

    def emit_binding_moment(  # noqa: PLR0913  every one but the first has a default
        self,
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        decision_class: str | None = None,
        hatches: Hatches = OPEN_HATCHES,
        discipline: LintConfig | None = None,
        after: EarlierAnswers = (),
        actions: Actions = binding_moment.NO_ACTIONS,
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Decision:
        """Ask the model for a decision that a person can make. See ``emitter.emit_binding_moment``."""
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = binding_moment.DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
        prepared = prepare_emission(binding_moment.binding_moment_form(wanted), messages, settings)
        return to_decision(execute(prepared, settings), wanted.actions)

    def stream_binding_moment(  # noqa: PLR0913  every one but the first has a default
        self,
        messages: Messages,
        *,
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        decision_class: str | None = None,
        hatches: Hatches = OPEN_HATCHES,
        discipline: LintConfig | None = None,
        after: EarlierAnswers = (),
        actions: Actions = binding_moment.NO_ACTIONS,
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Stream[Decision]:
        """Ask for a decision and read its parts while they are written. See ``emitter.stream_binding_moment``."""
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = binding_moment.DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
        prepared = prepare_emission(binding_moment.binding_moment_form(wanted), messages, settings)
        finish = partial(to_decision, actions=wanted.actions)
        return Stream(prepared, settings, binding_moment.stream_selectors(follow), finish)

    @overload
    def emit_many(
        self,
        form: type[T],
        situations: Situations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[T]] = (),
        examples: Iterable[T | Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> Run[Emission[T]]: ...

    @overload
    def emit_many(
        self,
        form: object,
        situations: Situations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> Run[Emission[Any]]: ...

    def emit_many(  # noqa: PLR0913  every one but the first two has a default
        self,
        form: object,
        situations: Situations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> Run[Emission[Any]]:
        """Ask for a typed object for each of many situations. See ``emitter.emit_many``."""
        return emit_many(
            form,
            situations,
            in_flight=in_flight,
            ordered=ordered,
            journal=journal,
            progress=progress,
            batch=batch,
            materials=materials,
            checks=checks,
            examples=examples,
            **self._bulk_arguments(policy, run_id),
        )

    def emit_binding_moments(  # noqa: PLR0913  every one but the first has a default
        self,
        situations: Situations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        decision_class: str | None = None,
        hatches: Hatches = OPEN_HATCHES,
        discipline: LintConfig | None = None,
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> Run[Decision]:
        """Ask for a decision in each of many situations. See ``emitter.emit_binding_moments``."""
        return emit_binding_moments(
            situations,
            in_flight=in_flight,
            ordered=ordered,
            journal=journal,
            progress=progress,
            batch=batch,
            materials=materials,
            decision_class=decision_class,
            hatches=hatches,
            discipline=discipline,
            **self._bulk_arguments(policy, run_id),
        )


class AsyncEmitter(_BaseEmitter):
    """Emit typed objects and decisions with one model, and keep its async SDK client open between them.

    Use it from any number of tasks. Each event loop has connections of its own. Close it with ``aclose()`` or
    an ``async with`` block. The arguments are described at ``help(Emitter.__init__)``.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the SDK clients that this emitter created. A ``client`` of your own stays open."""
        await self._pool.aclose()

    @overload
    async def emit(
        self,
        form: type[T],
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[T]] = (),
        examples: Iterable[T | Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Emission[T]: ...

    @overload
    async def emit(
        self,
        form: object,
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Emission[Any]: ...

    async def emit(  # noqa: PLR0913  every one but the first two has a default
        self,
        form: object,
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Emission[Any]:
        """Ask the model for a typed object and return it validated. See ``emitter.aemit``.

        ``run_id``, ``node_id`` and ``turn`` name the emission in events and in the host's store.
        """
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = self._document_form(form, checks, examples, settings)
        return await aexecute(prepare_emission(wanted, messages, settings), settings)

    @overload
    def stream(
        self,
        form: type[T],
        messages: Messages,
        *,
        into: Iterable[str] = (),
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[T]] = (),
        examples: Iterable[T | Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> AsyncStream[Emission[T]]: ...

    @overload
    def stream(
        self,
        form: object,
        messages: Messages,
        *,
        into: Iterable[str] = (),
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> AsyncStream[Emission[Any]]: ...

    def stream(  # noqa: PLR0913  every one but the first two has a default
        self,
        form: object,
        messages: Messages,
        *,
        into: Iterable[str] = (),
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> AsyncStream[Emission[Any]]:
        """Ask for a typed object and read its parts while they are written. See ``emitter.astream``."""
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = self._document_form(form, checks, examples, settings)
        selectors = document.stream_selectors(into, follow)
        return AsyncStream(prepare_emission(wanted, messages, settings), settings, selectors)

    async def emit_binding_moment(  # noqa: PLR0913  every one but the first has a default
        self,
        messages: Messages,
        *,
        materials: Iterable[Material | str] = (),
        decision_class: str | None = None,
        hatches: Hatches = OPEN_HATCHES,
        discipline: LintConfig | None = None,
        after: EarlierAnswers = (),
        actions: Actions = binding_moment.NO_ACTIONS,
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> Decision:
        """Ask the model for a decision that a person can make. See ``emitter.aemit_binding_moment``."""
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = binding_moment.DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
        prepared = prepare_emission(binding_moment.binding_moment_form(wanted), messages, settings)
        return to_decision(await aexecute(prepared, settings), wanted.actions)

    def stream_binding_moment(  # noqa: PLR0913  every one but the first has a default
        self,
        messages: Messages,
        *,
        follow: Iterable[str] = (),
        materials: Iterable[Material | str] = (),
        decision_class: str | None = None,
        hatches: Hatches = OPEN_HATCHES,
        discipline: LintConfig | None = None,
        after: EarlierAnswers = (),
        actions: Actions = binding_moment.NO_ACTIONS,
        policy: Policy | None = None,
        run_id: str | None = None,
        node_id: str | None = None,
        turn: int = 0,
    ) -> AsyncStream[Decision]:
        """Ask for a decision and read its parts while they are written. See ``emitter.astream_binding_moment``."""
        settings = self._settings(materials, policy, {"run_id": run_id, "node_id": node_id, "turn": turn})
        wanted = binding_moment.DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
        prepared = prepare_emission(binding_moment.binding_moment_form(wanted), messages, settings)
        finish = partial(to_decision, actions=wanted.actions)
        return AsyncStream(prepared, settings, binding_moment.stream_selectors(follow), finish)

    @overload
    def emit_many(
        self,
        form: type[T],
        situations: AnySituations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[T]] = (),
        examples: Iterable[T | Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> AsyncRun[Emission[T]]: ...

    @overload
    def emit_many(
        self,
        form: object,
        situations: AnySituations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> AsyncRun[Emission[Any]]: ...

    def emit_many(  # noqa: PLR0913  every one but the first two has a default
        self,
        form: object,
        situations: AnySituations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        checks: Iterable[Check[Any]] = (),
        examples: Iterable[Json] = (),
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> AsyncRun[Emission[Any]]:
        """Ask for a typed object for each of many situations. See ``emitter.aemit_many``."""
        return aemit_many(
            form,
            situations,
            in_flight=in_flight,
            ordered=ordered,
            journal=journal,
            progress=progress,
            batch=batch,
            materials=materials,
            checks=checks,
            examples=examples,
            **self._bulk_arguments(policy, run_id),
        )

    def emit_binding_moments(  # noqa: PLR0913  every one but the first has a default
        self,
        situations: AnySituations,
        *,
        in_flight: int = 32,
        ordered: bool = True,
        journal: str | PathLike[str] | None = None,
        progress: ProgressCallback | bool | None = None,
        batch: Batch | bool = False,
        materials: Iterable[Material | str] = (),
        decision_class: str | None = None,
        hatches: Hatches = OPEN_HATCHES,
        discipline: LintConfig | None = None,
        policy: Policy | None = None,
        run_id: str | None = None,
    ) -> AsyncRun[Decision]:
        """Ask for a decision in each of many situations. See ``emitter.aemit_binding_moments``."""
        return aemit_binding_moments(
            situations,
            in_flight=in_flight,
            ordered=ordered,
            journal=journal,
            progress=progress,
            batch=batch,
            materials=materials,
            decision_class=decision_class,
            hatches=hatches,
            discipline=discipline,
            **self._bulk_arguments(policy, run_id),
        )
