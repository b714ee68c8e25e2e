"""The clients: ``Emitter`` and ``AsyncEmitter`` hold one SDK client and the settings of many emissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from emitter.bulk import api as bulk
from emitter.bulk.api import DecisionBulkCall, DocumentBulkCall
from emitter.client import binding_moments, documents
from emitter.client.options import (
    DecisionCall,
    DecisionStreamCall,
    DocumentCall,
    DocumentStreamCall,
    EmitterOptions,
    documented_options,
)
from emitter.client.pool import ClientPool
from emitter.client.settings import Settings
from emitter.errors import InputError
from emitter.policy import DEFAULT_POLICY, Policy
from emitter.profiles import find_profile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self, Unpack

    from emitter.bulk.jobs import AnyInputs, Inputs
    from emitter.bulk.runs import AsyncRun, Run
    from emitter.client.result import Decision, Emission
    from emitter.client.streams import AsyncStream, Stream
    from emitter.conversation import Messages

T = TypeVar("T")


class _BaseEmitter:
    """The settings that both clients hold."""

    @documented_options(EmitterOptions)
    def __init__(
        self, model: str, *, policy: Policy | None = None, api_key: str | None = None, **options: Unpack[EmitterOptions]
    ) -> None:
        """Check the settings. Nothing is sent and no connection is opened.

        Args:
            model: The provider and model name, for example ``"openai/gpt-6-sol"``.
            policy: Limits on attempts, tokens, time and cost. Defaults to ``Policy()``.
            api_key: The key to use instead of the one in the environment.

        Raises:
            InputError: An argument cannot be used. The message names it.
            UnknownModel: No provider has this name.
        """
        if not isinstance(cast("object", model), str):
            raise InputError(
                f"model is of type {type(model).__name__}, not text.",
                hint='Write Emitter("openai/gpt-6-sol", client=client).',
            )
        find_profile(model, options.get("profile"))
        self.model = model
        self.policy = policy or DEFAULT_POLICY
        self._pool = ClientPool(api_key=api_key)
        self._options: dict[str, Any] = {**options, "client": options.get("client") or self._pool}
        settings = Settings.from_options(model, self._call({}))  # an error in an argument is raised here
        if settings.parameters or settings.extra_body != {}:
            from emitter.client.model_settings import check_model_settings  # noqa: PLC0415  most clients set nothing

            check_model_settings(settings)
        self._options["requires"] = settings.requires

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def _call(self, options: Mapping[str, object]) -> Any:
        """Return the options of one emission. An option passed to it overrides the emitter's."""
        passed = {name: value for name, value in options.items() if value is not None}
        return {"policy": self.policy, **self._options, **passed}


class Emitter(_BaseEmitter):
    """Emit typed objects and decisions with one model, and keep its SDK client open between them.

    It is thread-safe. Close it with ``close()`` or a ``with`` block.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the SDK clients that this emitter created. A ``client`` of your own stays open."""
        self._pool.close()

    @overload
    def emit(self, form: type[T], messages: Messages, **options: Unpack[DocumentCall[T]]) -> Emission[T]: ...

    @overload
    def emit(self, form: object, messages: Messages, **options: Unpack[DocumentCall[Any]]) -> Emission[Any]: ...

    @documented_options(DocumentCall)
    def emit(self, form: object, messages: Messages, **options: Unpack[DocumentCall[Any]]) -> Emission[Any]:
        """Ask the model for a typed object and return it validated. See ``emitter.emit``."""
        return documents.emit(form, messages, model=self.model, **self._call(options))

    @overload
    def stream(
        self, form: type[T], messages: Messages, **options: Unpack[DocumentStreamCall[T]]
    ) -> Stream[Emission[T]]: ...

    @overload
    def stream(
        self, form: object, messages: Messages, **options: Unpack[DocumentStreamCall[Any]]
    ) -> Stream[Emission[Any]]: ...

    @documented_options(DocumentStreamCall)
    def stream(
        self, form: object, messages: Messages, **options: Unpack[DocumentStreamCall[Any]]
    ) -> Stream[Emission[Any]]:
        """Ask for a typed object, and report its fields while they are written. See ``emitter.stream``."""
        return documents.stream(form, messages, model=self.model, **self._call(options))

    @documented_options(DecisionCall)
    def emit_binding_moment(self, messages: Messages, **options: Unpack[DecisionCall]) -> Decision:
        """Ask the model for a decision that a person can make. See ``emitter.emit_binding_moment``."""
        return binding_moments.emit_binding_moment(messages, model=self.model, **self._call(options))

    @documented_options(DecisionStreamCall)
    def stream_binding_moment(self, messages: Messages, **options: Unpack[DecisionStreamCall]) -> Stream[Decision]:
        """Ask for a decision, and report its parts while they are written. See ``emitter.stream_binding_moment``."""
        return binding_moments.stream_binding_moment(messages, model=self.model, **self._call(options))

    @overload
    def emit_many(self, form: type[T], inputs: Inputs, **options: Unpack[DocumentBulkCall[T]]) -> Run[Emission[T]]: ...

    @overload
    def emit_many(
        self, form: object, inputs: Inputs, **options: Unpack[DocumentBulkCall[Any]]
    ) -> Run[Emission[Any]]: ...

    @documented_options(DocumentBulkCall)
    def emit_many(self, form: object, inputs: Inputs, **options: Unpack[DocumentBulkCall[Any]]) -> Run[Emission[Any]]:
        """Ask for a typed object for each of many inputs. See ``emitter.emit_many``."""
        return bulk.emit_many(form, inputs, model=self.model, **self._call(options))

    @documented_options(DecisionBulkCall)
    def emit_binding_moments(self, inputs: Inputs, **options: Unpack[DecisionBulkCall]) -> Run[Decision]:
        """Ask for a decision for each of many inputs. See ``emitter.bulk.emit_binding_moments``."""
        return bulk.emit_binding_moments(inputs, model=self.model, **self._call(options))


class AsyncEmitter(_BaseEmitter):
    """Emit typed objects and decisions with one model, and keep its async SDK client open between them.

    Use it from any number of tasks. Each event loop has its own connections. Close it with ``aclose()`` or an
    ``async with`` block.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the SDK clients that this emitter created. A ``client`` of your own stays open."""
        await self._pool.aclose()

    @overload
    async def emit(self, form: type[T], messages: Messages, **options: Unpack[DocumentCall[T]]) -> Emission[T]: ...

    @overload
    async def emit(self, form: object, messages: Messages, **options: Unpack[DocumentCall[Any]]) -> Emission[Any]: ...

    @documented_options(DocumentCall)
    async def emit(self, form: object, messages: Messages, **options: Unpack[DocumentCall[Any]]) -> Emission[Any]:
        """Ask the model for a typed object and return it validated. See ``emitter.aemit``."""
        return await documents.aemit(form, messages, model=self.model, **self._call(options))

    @overload
    def stream(
        self, form: type[T], messages: Messages, **options: Unpack[DocumentStreamCall[T]]
    ) -> AsyncStream[Emission[T]]: ...

    @overload
    def stream(
        self, form: object, messages: Messages, **options: Unpack[DocumentStreamCall[Any]]
    ) -> AsyncStream[Emission[Any]]: ...

    @documented_options(DocumentStreamCall)
    def stream(
        self, form: object, messages: Messages, **options: Unpack[DocumentStreamCall[Any]]
    ) -> AsyncStream[Emission[Any]]:
        """Ask for a typed object, and report its fields while they are written. See ``emitter.astream``."""
        return documents.astream(form, messages, model=self.model, **self._call(options))

    @documented_options(DecisionCall)
    async def emit_binding_moment(self, messages: Messages, **options: Unpack[DecisionCall]) -> Decision:
        """Ask the model for a decision that a person can make. See ``emitter.aemit_binding_moment``."""
        return await binding_moments.aemit_binding_moment(messages, model=self.model, **self._call(options))

    @documented_options(DecisionStreamCall)
    def stream_binding_moment(self, messages: Messages, **options: Unpack[DecisionStreamCall]) -> AsyncStream[Decision]:
        """Ask for a decision, and report its parts while they are written. See ``emitter.astream_binding_moment``."""
        return binding_moments.astream_binding_moment(messages, model=self.model, **self._call(options))

    @overload
    def emit_many(
        self, form: type[T], inputs: AnyInputs, **options: Unpack[DocumentBulkCall[T]]
    ) -> AsyncRun[Emission[T]]: ...

    @overload
    def emit_many(
        self, form: object, inputs: AnyInputs, **options: Unpack[DocumentBulkCall[Any]]
    ) -> AsyncRun[Emission[Any]]: ...

    @documented_options(DocumentBulkCall)
    def emit_many(
        self, form: object, inputs: AnyInputs, **options: Unpack[DocumentBulkCall[Any]]
    ) -> AsyncRun[Emission[Any]]:
        """Ask for a typed object for each of many inputs. See ``emitter.aemit_many``."""
        return bulk.aemit_many(form, inputs, model=self.model, **self._call(options))

    @documented_options(DecisionBulkCall)
    def emit_binding_moments(self, inputs: AnyInputs, **options: Unpack[DecisionBulkCall]) -> AsyncRun[Decision]:
        """Ask for a decision for each of many inputs. See ``emitter.bulk.aemit_binding_moments``."""
        return bulk.aemit_binding_moments(inputs, model=self.model, **self._call(options))
