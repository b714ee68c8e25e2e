"""Attach a decision to the result of a tool.

``binding_moment`` decorates the function of a tool, and ``tool`` also registers it. The envelope is added to
the structured content and to the text, after the tool's own payload. The tool advertises in its ``_meta`` that
it may emit.

Source: draft-morrison-binding-moment-envelope-00, sections 4, 7 and 8.3.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
import unicodedata
from dataclasses import dataclass
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from pydantic_core import to_jsonable_python

from emitter.client.result import Emission, Withheld
from emitter.decisions.envelope_parsing import MOMENT_FIELD
from emitter.errors import EmitterError, InputError
from emitter.mcp import sdk
from emitter.mcp.schemas import is_closed, make_schema_type, widen_schema
from emitter.messages import as_mapping
from emitter.models import BindingMoment
from emitter.render import text_formats

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from emitter.messages import Json

Payload_co = TypeVar("Payload_co", covariant=True)
ToolDecider: TypeAlias = "Callable[[Any], ToolDecision | Awaitable[ToolDecision]]"
"""Returns the decision that goes with a tool's return value."""
ToolDecision: TypeAlias = BindingMoment | Emission[BindingMoment] | Withheld | None
"""An envelope, an emission of one, or no decision: ``Withheld`` or ``None``."""


@dataclass(frozen=True, slots=True)
class WithMoment(Generic[Payload_co]):
    """A tool's payload together with its decision.

    Annotate the tool with ``-> WithMoment[Payload]`` or ``-> Payload | WithMoment[Payload]``. The output schema is
    generated from ``Payload``.
    """

    payload: Payload_co
    moment: ToolDecision = None


EnabledFlag: TypeAlias = "bool | Callable[[], bool] | Callable[[Any], bool]"
"""A constant, a function called for each call, or a function called with the call's context."""


@dataclass(frozen=True, slots=True)
class _DecidingTool:
    """A tool that may emit decisions."""

    function: Callable[..., Any]
    decide: ToolDecider | None
    enabled: EnabledFlag
    default_output: sdk.DefaultOutput

    async def call(self, context: Any, args: tuple[Any, ...], arguments: Mapping[str, Any]) -> Any:
        """Call the tool, and return its result with the decision."""
        returned = await sdk.call_tool(self.function, *args, **arguments)
        payload = cast("WithMoment[Any]", returned).payload if isinstance(returned, WithMoment) else returned
        conventional = self.default_output.convert(payload)
        if not isinstance(conventional, sdk.Result) or not is_enabled(self.enabled, context):
            return conventional
        try:
            moment = get_moment(await self._decide(cast("object", returned)))
            return conventional if moment is None else attach_moment(_with_payload(conventional, payload), moment)
        except Exception as error:  # noqa: BLE001  the tool ran, so its result is kept whatever its decider raises
            return attach_failure_note(conventional, sdk.tool_name(self.function), error)

    async def _decide(self, value: object) -> ToolDecision:
        if isinstance(value, WithMoment):
            return value.moment
        return None if self.decide is None else await sdk.call_tool(self.decide, value)


def binding_moment(
    decide: ToolDecider | None = None,
    *,
    enabled: EnabledFlag = True,
    widen: bool = True,
    structured_output: bool | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the function of a tool that may emit decisions. Register it with the SDK like any other tool.

    The tool returns its usual value, and ``decide`` is called with it; or the tool returns ``WithMoment``. The
    envelope becomes the member ``binding_moment`` of the structured content, and is appended to the text. Without a
    decision, the result is unchanged. Errors of this library that the tool raises become error results with their
    message. If ``decide`` raises, the tool's result is kept with a note, and the exception is logged under
    ``emitter.mcp``.

    Args:
        decide: Returns the decision for the tool's return value. May be async.
        enabled: The flag for staged adoption. False leaves the tool unchanged. A function is called for each call, with
            the call's context if it takes an argument.
        widen: Add the optional member to the published output schema. With False, a tool with a closed schema is
            rejected.
        structured_output: The SDK's own setting.

    Raises:
        InputError: The tool's output schema has no room for the member.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = sdk.tool_signature(function)
        payload = _payload_type(signature.return_annotation)
        output = sdk.default_output(sdk.tool_name(function), payload, structured_output)
        is_off = enabled is False and output.schema is not None
        annotation = payload if is_off else _return_type(output.schema, widen=widen)
        return _wrap_tool(_DecidingTool(function, decide, enabled, output), signature, annotation)

    return decorator


def tool(server: Any, decide: ToolDecider | None = None, **settings: Any) -> Callable[[Callable[..., Any]], Any]:
    """Register a tool that may emit decisions, with its advertisement in ``_meta``.

    Args:
        server: The SDK's server.
        decide: Returns the decision for the tool's return value. May be async.
        settings: The settings of ``binding_moment`` and of the server's own ``tool``.
    """
    options = {name: settings.pop(name) for name in ("enabled", "widen", "structured_output") if name in settings}
    if options.get("enabled") is not False:
        settings["meta"] = add_advertisement(settings.get("meta"))

    def decorator(function: Callable[..., Any]) -> Any:
        return server.tool(**settings)(binding_moment(decide, **options)(function))

    return decorator


def _with_payload(conventional: sdk.Result, payload: object) -> sdk.Result:
    """Return a result with the payload as structured content, also if the SDK knows no schema for it."""
    if sdk.structured_content(conventional) is not None or not isinstance(payload, dict):
        return conventional
    return sdk.extend_result(conventional, (), to_jsonable_python(cast("object", payload)))


def _payload_type(annotation: Any) -> Any:
    """Return a return annotation without its ``WithMoment``."""
    if annotation is WithMoment:
        return inspect.Signature.empty
    if get_origin(annotation) is WithMoment:
        return get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        return Union[tuple(map(_payload_type, get_args(annotation)))]  # noqa: UP007  known at run time only
    return annotation


def _return_type(schema: Mapping[str, Json] | None, *, widen: bool) -> Any:
    """Return the annotation that publishes a tool's schema and accepts a finished result."""
    if schema is None:
        return sdk.Result
    if widen:
        return Annotated[sdk.Result, make_schema_type(widen_schema(schema))]
    if is_closed(schema):
        raise InputError(
            "The tool's output schema is closed, so clients would reject the member binding_moment.",
            hint="Remove widen=False, or allow additional members in the type of the tool's result.",
        )
    return Annotated[sdk.Result, make_schema_type(schema)]


def _wrap_tool(tool: _DecidingTool, signature: inspect.Signature, returns: Any) -> Callable[..., Any]:
    """Return the function to register. It takes the call's context if the flag needs it."""
    own = sdk.context_parameter(tool.function)
    adds_context = flag_takes_context(tool.enabled) and own is None

    @functools.wraps(tool.function)
    async def wrapper(*args: Any, **arguments: Any) -> Any:
        context = arguments.pop(sdk.CONTEXT_PARAMETER, None) if adds_context else arguments.get(own or "")
        try:
            return await tool.call(context, args, arguments)
        except EmitterError as error:
            raise sdk.ToolError(error.summary) from error

    added = [sdk.added_context_parameter()] if adds_context else []
    return sdk.set_signature(wrapper, signature, added, returns)


_log = logging.getLogger("emitter.mcp")


def get_moment(decision: ToolDecision) -> BindingMoment | None:
    """Return the envelope of a decision, or None. Raises ``InputError`` for anything else."""
    match decision:
        case BindingMoment():
            return decision
        case Emission(value=BindingMoment() as moment):
            return moment
        case Withheld() | None:
            return None
        case _:
            raise InputError(
                f"The decision is of type {type(decision).__name__}.",
                hint="Return a BindingMoment, the result of emit_binding_moment, or None.",
            )


def moment_texts(moment: BindingMoment) -> list[str]:
    """Return an envelope as readable text, and as complete JSON."""
    document = json.dumps({MOMENT_FIELD: moment.to_json()}, ensure_ascii=False)
    return [text_formats.format_moment(moment).strip("\n"), "".join(map(_escape_invisible, document))]


def _escape_invisible(character: str) -> str:
    """Escape a control or invisible character as JSON does, because hosts may show the document to a person."""
    return json.dumps(character)[1:-1] if unicodedata.category(character) in _INVISIBLE_CATEGORIES else character


_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def attach_moment(result: sdk.Result, moment: BindingMoment | None, *, structured: bool = True) -> sdk.Result:
    """Return a tool's result with an envelope added. Errors, and results without an envelope, are returned unchanged.

    Args:
        result: The tool's result.
        moment: The envelope.
        structured: Add it to the structured content as well as to the text.

    Raises:
        InputError: The payload is not an object or has such a member, or the envelope is malformed.
    """
    if moment is None or sdk.is_error(result):
        return result
    texts = [sdk.text_block(text) for text in moment_texts(moment)]
    members = sdk.structured_content(result)
    return sdk.extend_result(
        result, texts, {**_check_members(members), MOMENT_FIELD: moment.to_json()} if structured else members
    )


def attach_failure_note(result: sdk.Result, tool: str, error: Exception) -> sdk.Result:
    """Return a tool's result with a note that making its decision failed.

    The result is always kept, because the tool may have done something that cannot be repeated. Only errors of this
    library are quoted: other messages may hold a secret.
    """
    _log.warning("Making the decision for the result of %s failed.", tool, exc_info=error)
    reason = Exception.__str__(error) if isinstance(error, EmitterError) else f"It raised {type(error).__name__}."
    note = f"This result comes without a decision, because making one failed: {reason} The result itself is valid."
    members = sdk.structured_content(result)
    # A malformed member with the envelope's name must not reach a renderer.
    if isinstance(members, dict):
        members = {name: value for name, value in as_mapping(members).items() if name != MOMENT_FIELD}
    return sdk.extend_result(result, [sdk.text_block(note)], members)


def _check_members(members: object) -> dict[str, object]:
    """Return the members of a payload that has room for the envelope."""
    if members is not None and not isinstance(members, dict):
        raise InputError(f"The tool's result is not an object, so {MOMENT_FIELD} cannot be added to it.")
    if MOMENT_FIELD in as_mapping(members):
        raise InputError(f"The tool's result already has a member {MOMENT_FIELD}.", hint="Rename that member.")
    return dict(as_mapping(members))


EXTENSION_PREFIX = "alt.emitter"
"""A reversed ``.alt`` name, which RFC 9476 keeps out of the DNS, so that it claims nobody's domain."""
EMITS_KEY = "emits_binding_moment"
"""The name that the draft recommends."""
ADVERTISEMENT_META: Mapping[str, bool] = MappingProxyType({EMITS_KEY: True, f"{EXTENSION_PREFIX}/{EMITS_KEY}": True})
"""The members that advertise a tool in its ``_meta``."""


def add_advertisement(meta: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """Return a tool's ``_meta`` with the advertisement."""
    return {**(meta or {}), **ADVERTISEMENT_META}


def advertises(tool: object) -> bool:
    """Check whether a tool of ``tools/list``, as the SDK's model or as JSON, advertises that it may emit."""
    dump: Any = getattr(tool, "model_dump", None)
    members = as_mapping(dump(by_alias=True) if dump is not None else tool)
    flags = [*as_mapping(members.get("_meta")).items(), *as_mapping(members.get("annotations")).items()]
    return any(value is True and (name == EMITS_KEY or name.endswith(f"/{EMITS_KEY}")) for name, value in flags)


def flag_takes_context(enabled: EnabledFlag) -> bool:
    """Check whether a flag takes the call's context."""
    return callable(enabled) and bool(inspect.signature(enabled).parameters)


def is_enabled(enabled: EnabledFlag, context: Any) -> bool:
    """Return the value of a flag for a call."""
    if not callable(enabled):
        return enabled
    flag: Callable[..., bool] = enabled
    return flag(context) if flag_takes_context(enabled) else flag()
