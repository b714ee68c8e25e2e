"""Write the model settings of an emission into the fields of a vendor's request body.

A setting that the model does not support raises ``InputError`` before the first call. The profile lists the settings
of each model with their fields and ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from emitter.adapters import ADAPTERS
from emitter.adapters.request_options import check_extra_body, merge_layers, to_snake_case
from emitter.errors import InputError
from emitter.messages import NO_FIELDS, as_list
from emitter.profiles import WireFormat
from emitter.profiles.tables import SETTING_DEFAULT, SETTING_NAMES, RequestParameter

if TYPE_CHECKING:
    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.messages import Json

_NUMBER_TYPES = {"temperature": (int, float), "top_p": (int, float), "seed": (int,)}


def build_parameters(
    parameters: Mapping[str, Json], extra_body: Mapping[str, Json], target: ModelTarget, *, is_fallback: bool = False
) -> Mapping[str, Json]:
    """Return the fields that the model settings and ``extra_body`` add to a request body.

    Args:
        parameters: The model settings.
        extra_body: The vendor's own parameters.
        target: The model.
        is_fallback: The model is a fallback, so an error explains how to change the settings of a fallback.

    Raises:
        InputError: The model does not support a setting or its value, or ``extra_body`` sets a reserved field.
    """
    wire = target.wire
    if extra_body != {}:
        check_extra_body(extra_body, ADAPTERS[wire].RESERVED_OPTIONS, require_json=wire is not WireFormat.GOOGLE)
    if not parameters:
        return extra_body
    supported = target.profile.accepted_parameters(wire, target.model)
    for name, value in parameters.items():
        if name not in supported:
            hint = f"{_describe_supported(supported, target)}{_other_wires(name, target)}"
            hint += f" {_fallback_hint(name)}" if is_fallback else ""
            raise InputError(f"{_name(target)} takes no {name} over {wire.value}.", hint=hint)
        _check_value(name, value, supported[name], target, is_fallback=is_fallback)
        if _is_set(extra_body, supported[name].path):
            raise InputError(f"{name}= and extra_body= both set {supported[name].path}.", hint="Pass one of them.")
    fields = [supported[name].write(value) for name, value in parameters.items()]
    body = merge_layers({}, *fields, extra_body)
    _check_thinking(parameters, body, target, is_fallback=is_fallback)
    return body


def _fallback_hint(name: str) -> str:
    return f"For this fallback, pass Fallback(..., settings={{{name!r}: None}})."


def _other_wires(name: str, target: ModelTarget) -> str:
    """Return a sentence that names the vendor's wires with this setting, or an empty string."""
    wires = target.profile.wires.items()
    supporting = [
        f"wire={wire.value!r}" for wire, facts in wires if facts.parameters and name in facts.parameters.accepted
    ]
    own = target.profile.model_parameters(target.model)
    return f" Or pass {' or '.join(supporting)}." if supporting and (own is None or name not in own.refuses) else ""


def check_model_settings(settings: Settings) -> None:
    """Raise ``InputError`` for settings that the model does not support."""
    target = settings.resolve()
    build_parameters(settings.parameters, settings.extra_body, target, is_fallback=settings.is_fallback)


def _check_value(
    name: str, value: Json, parameter: RequestParameter, target: ModelTarget, *, is_fallback: bool
) -> None:
    wrong_type = _type_error(name, value)
    if wrong_type is not None:
        raise InputError(f"{name} is {value!r}; it must be {wrong_type}.")
    if not _is_supported_value(value, parameter):
        hint = _fallback_hint(name) if is_fallback else f"Leave out {name}." if _is_fixed(parameter) else ""
        raise InputError(f"{_name(target)} takes {_describe(name, parameter)}, not {value!r}.", hint=hint)


def _type_error(name: str, value: Json) -> str | None:
    """Return a description of the required type if the value has another type, else None."""
    if name in _NUMBER_TYPES:
        fits = isinstance(value, _NUMBER_TYPES[name]) and not isinstance(value, bool)
        return None if fits else "a whole number" if name == "seed" else "a number"
    if name == "safety":
        entries = cast("Mapping[Json, Json]", value) if isinstance(value, Mapping) else NO_FIELDS
        fits = bool(entries) and all(isinstance(word, str) for word in (*entries, *entries.values()))
        return None if fits else "a mapping of categories to thresholds"
    if name == "stop":
        texts = (
            [value]
            if isinstance(value, str)
            else as_list([*cast("tuple[Json, ...]", value)] if isinstance(value, tuple) else value)
        )
        fits = bool(texts) and all(isinstance(text, str) and text for text in texts)
        return None if fits else "a text, or a list of texts"
    return None if isinstance(value, str) else "a text"


def _is_supported_value(value: Json, parameter: RequestParameter) -> bool:
    if isinstance(value, int | float):
        low, high = parameter.minimum, parameter.maximum
        return (low is None or value >= low) and (high is None or value <= high)
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, str]", value)
        return entries.keys() <= set(parameter.names) and set(entries.values()) <= set(parameter.values)
    if parameter.values:
        return value in parameter.values
    return isinstance(value, str) or parameter.max_items is None or len(value) <= parameter.max_items


def _is_fixed(parameter: RequestParameter) -> bool:
    return parameter.minimum is not None and parameter.minimum == parameter.maximum


def _describe(name: str, parameter: RequestParameter) -> str:
    """Return the name of a setting with its allowed values."""
    if _is_fixed(parameter):
        return f"{name}={parameter.minimum:g} only"
    if parameter.minimum is not None and parameter.maximum is not None:
        return f"{name} from {parameter.minimum:g} to {parameter.maximum:g}"
    if parameter.names:
        return f"{name} of {', '.join(parameter.names)} as {', '.join(parameter.values)}"
    if parameter.values:
        return f"{name} {', '.join(parameter.values)}"
    return name if parameter.max_items is None else f"{name} of at most {parameter.max_items} texts"


def _describe_supported(supported: Mapping[str, RequestParameter], target: ModelTarget) -> str:
    own = target.profile.model_parameters(target.model)
    fixed: frozenset[str] = frozenset() if own is None else own.default_only_if_thinking
    settings = "; ".join(
        (name if name == "safety" else _describe(name, supported[name]))
        + (" while it does not think" if name in fixed else "")
        for name in SETTING_NAMES
        if name in supported
    )
    return f"It takes {settings or 'no model settings'}. extra_body= adds the vendor's own fields."


def _is_set(extra_body: Mapping[str, Json], path: str) -> bool:
    """Return whether ``extra_body`` has a field, in snake_case or camelCase."""
    key, _, rest = path.partition(".")
    values: list[Json] = [value for name, value in extra_body.items() if to_snake_case(name) == to_snake_case(key)]
    return any(
        not rest or not isinstance(value, Mapping) or _is_set(cast("Mapping[str, Json]", value), rest)
        for value in values
    )


def _check_thinking(
    parameters: Mapping[str, Json], body: Mapping[str, Json], target: ModelTarget, *, is_fallback: bool
) -> None:
    """Reject settings that must have their default while the model thinks."""
    own = target.profile.model_parameters(target.model)
    fixed = (
        []
        if own is None
        else [name for name in own.default_only_if_thinking if parameters.get(name, 1) != SETTING_DEFAULT]
    )
    if fixed and target.profile.thinking_tokens(target.wire, target.model, body) > 0:
        name = min(fixed)
        hint = _fallback_hint(name) if is_fallback else f'Pass reasoning_effort="none", or leave out {name}.'
        raise InputError(f"{_name(target)} takes {name}={SETTING_DEFAULT} only while it thinks.", hint=hint)


def _name(target: ModelTarget) -> str:
    return f"{target.profile.name}/{target.model}"
