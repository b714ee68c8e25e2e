"""Emit a document of your own type or schema: ``emit``, ``aemit``, ``stream`` and ``astream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from emitter.client.execution import aexecute, execute
from emitter.client.request import prepare_emission
from emitter.client.settings import EmitOptions, Settings
from emitter.client.streams import AsyncStream, Stream
from emitter.forms.document import Check, document_form, stream_selectors
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from emitter.client.result import Emission
    from emitter.conversation import Messages
    from emitter.messages import Json
    from emitter.prompts import Material
    from emitter.telemetry.sinks import Sink

T = TypeVar("T")


@overload
def emit(
    schema: type[T],
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Emission[T]: ...


@overload
def emit(
    schema: object,
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Emission[Any]: ...


def emit(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Emission[Any]:
    """Ask a model for a typed object and return it validated.

    Args:
        schema: A pydantic model, dataclass, TypedDict or any other type pydantic accepts, or a JSON Schema.
        situation: A prompt, or a list of messages in OpenAI, Anthropic or Google format.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.
        client: An SDK client of any flavour. By default one is created from the vendor's environment variables.
        materials: Texts that bear on the task, with their trust.
        checks: Functions that receive a valid value and return what is wrong with it: sentences, ``Violation``s or
            False. The model is corrected with these messages, from which its own words are removed.
        examples: Valid values or documents to show to the model.
        policy: Limits on attempts, tokens, time and cost. Defaults to ``Policy()``.
        on_event: A function that is called with every event.
        **more: See ``emitter.client.settings.EmitOptions``.

    Returns:
        The emission. Its ``value`` is an instance of the type, or JSON.

    Raises:
        InputError: An argument cannot be used. Nothing was sent.
        Uncompilable: The vendor cannot be given this schema. Nothing was sent.
        Refused: The model declined to answer. Refusals are never retried.
        Truncated: The answer was cut off even at the largest output budget.
        Invalid: No answer satisfied the schema and the checks.
        Unreachable: The vendor could not be reached.
        CheckFailed: A check or validator of yours raised.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    form = document_form(schema, checks, examples, settings.kind, show_messages=settings.validator_messages)
    prepared = prepare_emission(form, situation, settings)
    return execute(prepared, settings)


@overload
async def aemit(
    schema: type[T],
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Emission[T]: ...


@overload
async def aemit(
    schema: object,
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Emission[Any]: ...


async def aemit(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Emission[Any]:
    """Async version of ``emit``. ``client`` is an async SDK client."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    form = document_form(schema, checks, examples, settings.kind, show_messages=settings.validator_messages)
    prepared = prepare_emission(form, situation, settings)
    return await aexecute(prepared, settings)


StreamedT = TypeVar("StreamedT")


@overload
def stream(
    schema: type[StreamedT],
    situation: Messages,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[StreamedT]] = (),
    examples: Iterable[StreamedT | Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Stream[Emission[StreamedT]]: ...


@overload
def stream(
    schema: object,
    situation: Messages,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Stream[Emission[Any]]: ...


def stream(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Messages,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Stream[Emission[Any]]:
    """Ask for a typed object as ``emit`` does, and report its fields while they are written.

    Iterate the stream for a ``FieldComplete`` as each property (or each member of a list or map at the root) is
    complete and valid, and then call ``result()`` for the ``Emission``. ``into`` names containers whose members are
    reported one by one. ``follow`` names texts that are reported while they are written, as ``TextDelta``. Both are
    JSON pointers such as ``/lines``. A ``Restart`` means that the answer was rejected and is asked for again.

    The result, the events and the errors are those of ``emit``.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    form = document_form(schema, checks, examples, settings.kind, show_messages=settings.validator_messages)
    prepared = prepare_emission(form, situation, settings)
    return Stream(prepared, settings, stream_selectors(into, follow))


@overload
def astream(
    schema: type[StreamedT],
    situation: Messages,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[StreamedT]] = (),
    examples: Iterable[StreamedT | Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> AsyncStream[Emission[StreamedT]]: ...


@overload
def astream(
    schema: object,
    situation: Messages,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> AsyncStream[Emission[Any]]: ...


def astream(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Messages,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> AsyncStream[Emission[Any]]:
    """Async version of ``stream``. ``client`` is an async SDK client."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    form = document_form(schema, checks, examples, settings.kind, show_messages=settings.validator_messages)
    prepared = prepare_emission(form, situation, settings)
    return AsyncStream(prepared, settings, stream_selectors(into, follow))
