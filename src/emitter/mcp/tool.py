"""``@binding_moment``: a tool's function hands over a decision beside its payload.

Source: draft-morrison-binding-moment-envelope-00, section 7.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from pydantic_core import to_jsonable_python

from emitter.errors import EmitterError, InputError
from emitter.mcp import sdk
from emitter.mcp.advert import advert
from emitter.mcp.attach import Decided, attached, moment_of, undecided
from emitter.mcp.flag import Enabled, is_on, takes_context
from emitter.mcp.inlining import published
from emitter.mcp.output_schema import closed, widened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from emitter.wire import Json

Payload_co = TypeVar("Payload_co", covariant=True)

Decide: TypeAlias = "Callable[[Any], Decided | Awaitable[Decided]]"
"""Says, of what a tool returned, which decision goes with it."""

_CONTEXT = "emitter_context"


@dataclass(frozen=True, slots=True)
class WithMoment(Generic[Payload_co]):
    """What a tool returns that says itself which decision goes with its payload.

    Write ``-> WithMoment[Payload]``, or ``-> Payload | WithMoment[Payload]``: the output schema is ``Payload``'s.
    """

    payload: Payload_co
    moment: Decided = None


@dataclass(frozen=True, slots=True)
class _Emitting:
    """A tool that may emit: its function, what decides, when it is on, and what the SDK makes of its payload."""

    function: Callable[..., Any]
    decide: Decide | None
    enabled: Enabled
    made: sdk.Conventional

    async def call(self, context: Any, given: tuple[Any, ...], arguments: Mapping[str, Any]) -> Any:
        """Return the result, which may also be one of the protocol's own."""
        returned = await sdk.call(self.function, *given, **arguments)
        payload = cast("WithMoment[Any]", returned).payload if isinstance(returned, WithMoment) else returned
        conventional = self.made.convert(payload)
        if not isinstance(conventional, sdk.Result) or not is_on(self.enabled, context):
            return conventional
        told = _told(conventional, payload)
        try:
            moment = moment_of(await self._decided(cast("object", returned)))
            return conventional if moment is None else attached(told, moment)
        except Exception as error:  # noqa: BLE001  the tool ran: whatever its decider raises, its result stands
            return undecided(conventional, _name(self.function), error)

    async def _decided(self, returned: object) -> Decided:
        if isinstance(returned, WithMoment):
            return returned.moment
        return None if self.decide is None else await sdk.call(self.decide, returned)


def binding_moment(
    decide: Decide | None = None,
    *,
    enabled: Enabled = True,
    widen: bool = True,
    structured_output: bool | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for the function of a tool, which is registered with the SDK as any other.

    The tool returns what it always returned, of any kind that the SDK takes, and ``decide`` is called with it; or the
    tool returns ``WithMoment``. An envelope becomes the member ``binding_moment`` of the structured content, and stands
    whole in the text after the conventional one; without one, the result is the conventional one.

    ``enabled`` is the flag of staged adoption: False leaves the tool as it was, a function is asked at each call, with
    the call's context where it takes an argument. The published output schema is widened by the optional member;
    ``widen=False`` leaves it, and refuses a tool whose schema is closed. ``structured_output`` is the SDK's.

    Raises ``InputError`` where the tool is decorated for a schema without room for the member. An error of this
    library that the tool raises becomes an error result with its sentence. Where ``decide`` raises, the tool's result
    stands, with a text that says so, and the exception is logged under ``emitter.mcp``.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = _signature(function)
        payload = _payload_type(signature.return_annotation)
        made = sdk.conventional(_name(function), payload, structured_output)
        off = enabled is False and made.schema is not None
        annotation = payload if off else _return_type(made.schema, widen=widen)
        return _wrapped(_Emitting(function, decide, enabled, made), signature.replace(return_annotation=annotation))

    return decorator


def tool(server: Any, decide: Decide | None = None, **settings: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that registers a tool which may emit, with its advert in ``_meta``.

    ``server`` is the SDK's. ``settings`` are those of ``binding_moment`` and of the server's own ``tool``.
    """
    ours = {name: settings.pop(name) for name in ("enabled", "widen", "structured_output") if name in settings}
    if ours.get("enabled") is not False:
        settings["meta"] = advert(settings.get("meta"))

    def decorator(function: Callable[..., Any]) -> Any:
        return server.tool(**settings)(binding_moment(decide, **ours)(function))

    return decorator


def _told(conventional: sdk.Result, payload: object) -> sdk.Result:
    """Return a result whose structured content tells the payload, also where the SDK knows no schema of it."""
    if sdk.structured(conventional) is not None or not isinstance(payload, dict):
        return conventional
    return sdk.with_more(conventional, (), to_jsonable_python(cast("object", payload)))


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise InputError(
            f"The annotations of {_name(function)} cannot be read: they name {error.name}.",
            hint="Define the types of a tool at the top of its module, and import them there.",
        ) from error


def _name(function: Callable[..., Any]) -> str:
    """Return what a function is called; one that is made of another has no name of its own."""
    return str(getattr(function, "__name__", type(function).__name__))


def _payload_type(returned: Any) -> Any:
    """Return a return annotation without the ``WithMoment`` around the payload's type."""
    if returned is WithMoment:
        return inspect.Signature.empty
    if get_origin(returned) is WithMoment:
        return get_args(returned)[0]
    if get_origin(returned) in (Union, UnionType):
        return Union[tuple(_payload_type(each) for each in get_args(returned))]  # noqa: UP007  known at run time only
    return returned


def _return_type(schema: Mapping[str, Json] | None, *, widen: bool) -> Any:
    """Return the annotation that publishes a tool's schema, and lets its result be built here."""
    if schema is None:
        return sdk.Result
    if widen:
        return Annotated[sdk.Result, published(widened(schema))]
    if closed(schema):
        raise InputError(
            "The tool's output schema is closed, so a client would refuse the member binding_moment.",
            hint="Allow it to be widened, or open the type of the tool's result.",
        )
    return Annotated[sdk.Result, published(schema)]


def _wrapped(emitting: _Emitting, signature: inspect.Signature) -> Callable[..., Any]:
    """Return the function to register; where the flag wants the call's context, it asks for that too."""
    own = sdk.context_parameter(emitting.function)
    added = takes_context(emitting.enabled) and own is None

    @functools.wraps(emitting.function)
    async def wrapper(*given: Any, **arguments: Any) -> Any:
        context = arguments.pop(_CONTEXT, None) if added else arguments.get(own or "")
        try:
            return await emitting.call(context, given, arguments)
        except EmitterError as error:
            raise sdk.ToolError(error.summary) from error

    asked = [inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=sdk.Context)] if added else []
    parameters = sorted([*signature.parameters.values(), *asked], key=lambda each: each.kind)
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapper
