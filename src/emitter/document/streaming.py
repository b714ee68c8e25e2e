"""``stream`` and ``astream``: a document that is told while it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from emitter.document.door import emission_of
from emitter.document.wanted import wanted
from emitter.document.watch import watched
from emitter.door.plan import plan
from emitter.door.running import AsyncStream, Stream
from emitter.door.settings import More, Settings
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from emitter.conversation import Situation
    from emitter.document.checks import Check
    from emitter.door.result import Emission
    from emitter.prompt import Material
    from emitter.sinks import Sink
    from emitter.wire import Json

T = TypeVar("T")


@overload
def stream(
    schema: type[T],
    situation: Situation,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Stream[Emission[T]]: ...
@overload
def stream(
    schema: object,
    situation: Situation,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Stream[Emission[Any]]: ...
def stream(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Situation,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Stream[Emission[Any]]:
    """Do as ``emit`` does, and tell of the document while it is written.

    Returns a ``Stream``: iterate it for a ``Slot`` as each property of the document (or each member of a list or
    map) is whole and valid, and ask its ``result()`` for the ``Emission``. ``into`` names containers whose members
    are told one by one instead, ``follow`` names texts that are told as they are written (``TextDelta``); both are
    JSON pointers such as ``/lines``. A ``Restart`` says that the answer did not do and is asked for again.

    The verdict on the whole is that of ``emit``, with the same events, and iterating raises the same errors.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    asked = wanted(schema, checks, examples, settings.kind, told=settings.validator_messages)
    planned = plan(asked, situation, settings)
    return Stream(planned, settings, watched(into, follow), emission_of)


@overload
def astream(
    schema: type[T],
    situation: Situation,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncStream[Emission[T]]: ...
@overload
def astream(
    schema: object,
    situation: Situation,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncStream[Emission[Any]]: ...
def astream(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Situation,
    *,
    model: str,
    into: Iterable[str] = (),
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncStream[Emission[Any]]:
    """Do as ``stream`` does, without blocking; ``client`` is an async one."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    asked = wanted(schema, checks, examples, settings.kind, told=settings.validator_messages)
    planned = plan(asked, situation, settings)
    return AsyncStream(planned, settings, watched(into, follow), emission_of)
