"""``emit`` and ``aemit``: they compose the parts and decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from emitter.document.wanted import wanted
from emitter.door.perform import aperform, perform
from emitter.door.plan import plan
from emitter.door.result import Done, Emission
from emitter.door.settings import More, Settings
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from emitter.conversation import Situation
    from emitter.document.checks import Check
    from emitter.prompt import Material
    from emitter.sinks import Sink
    from emitter.wire import Json

T = TypeVar("T")


@overload
def emit(
    schema: type[T],
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Emission[T]: ...
@overload
def emit(
    schema: object,
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Emission[Any]: ...
def emit(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Emission[Any]:
    """Turn a situation into a document that holds to a schema, or into a value of a type.

    ``schema`` is a JSON Schema as a dict, or a type: a pydantic model, a dataclass, a TypedDict, or whatever
    else pydantic reads, such as ``list[int]``. ``situation`` is the task as a text, or the agent's own message
    list in any vendor's form. ``model``, ``client``, ``materials``, ``policy`` and ``sink`` are those of
    ``emit_binding_moment``.

    ``checks`` are rules of your own: each is called with a value that satisfies the schema, and returns what
    it finds, as sentences or ``Violation``s, or False. The model is told in the words of your checks and of your
    type's validators, from which every piece of its answer is struck out; ``validator_messages=False`` withholds
    them. ``examples`` are valid values or documents that are shown to the model.

    ``more`` is described by ``emitter.door.settings.More``: ``host``, ``run_id``, ``requires``, ``instructions``, ...

    Returns an ``Emission`` whose ``value`` is of the type, or JSON. Raises ``Uncompilable`` or ``InputError``
    before anything is sent, and ``Refused``, ``Truncated``, ``Invalid``, ``Unreachable`` or ``CheckFailed``,
    each with the whole trace.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    asked = wanted(schema, checks, examples, settings.kind, told=settings.validator_messages)
    planned = plan(asked, situation, settings)
    return emission_of(perform(planned, settings))


@overload
async def aemit(
    schema: type[T],
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Emission[T]: ...
@overload
async def aemit(
    schema: object,
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Emission[Any]: ...
async def aemit(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Emission[Any]:
    """Do as ``emit`` does, without blocking; ``client`` is an async one."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    asked = wanted(schema, checks, examples, settings.kind, told=settings.validator_messages)
    planned = plan(asked, situation, settings)
    return emission_of(await aperform(planned, settings))


def emission_of(done: Done) -> Emission[Any]:
    """Return the document, or the value that was read from it, in its envelope."""
    return Emission(done.value, done.envelope, done.trace)
