"""Merge the caller's ``extra_body`` into a request body, and reject fields that the library sets itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from pydantic_core import PydanticSerializationError, to_json

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.messages import Json
    from emitter.profiles.model import WireProfile


class ReservedOption(str, Enum):
    """A part of a request that ``extra_body`` may not set. The value is the hint for the caller."""

    MODEL = "Pass model=."
    PROMPT = "Pass it as messages or materials=."
    INSTRUCTIONS = "Pass instructions=."
    BUDGET = "Set Policy(output_tokens=...) or Policy(max_output_tokens=...)."
    SCHEMA = (
        "The schema of the emission sets it. To choose the output mode, pass "
        "profile=Profile.from_name(...).override(modes=[...])."
    )
    TOOLS = "An emission calls no tools. Call yours before it, and pass their results as materials=."
    STREAM = "Call stream() or astream()."
    WHOLE_ANSWER = "An emission waits for the whole answer."
    ONE_ANSWER = "An emission has one answer. Call emit_many() with the same input for several."
    BACKGROUND = "Use background=True."
    HEADERS = "Pass extra_headers=."
    QUERY = "Set it on the client, such as client=openai.OpenAI(default_query={...})."
    HTTP = "Set it on the client, such as client=google.genai.Client(http_options={...})."
    BODY = "Write its entries directly into extra_body=."
    TIMEOUT = "Set Policy(timeout=...)."
    RETRIES = "Set Policy(max_faults=...)."


_SDK_ARGUMENTS: Mapping[str, ReservedOption] = MappingProxyType(
    {
        "extra_headers": ReservedOption.HEADERS,
        "headers": ReservedOption.HEADERS,
        "default_headers": ReservedOption.HEADERS,
        "extra_query": ReservedOption.QUERY,
        "extra_body": ReservedOption.BODY,
        "http_options": ReservedOption.HTTP,
        "timeout": ReservedOption.TIMEOUT,
        "max_retries": ReservedOption.RETRIES,
    }
)
"""Arguments of the SDKs' own methods, which are not part of a request body."""
_CAPITAL = re.compile("[A-Z]")


def check_extra_body(extra_body: object, reserved: Mapping[str, ReservedOption], *, require_json: bool) -> None:
    """Raise ``InputError`` for fields that the library sets itself or that cannot be sent.

    Args:
        extra_body: The caller's fields.
        reserved: The reserved request fields of the wire format. A dot separates nested keys.
        require_json: Reject fields that are not JSON. Otherwise they may contain objects of the SDK.
    """
    if not isinstance(extra_body, Mapping):
        raise InputError(
            f"extra_body= is of type {type(extra_body).__name__}, not a mapping.",
            hint='Pass extra_body={"metadata": {"team": "legal"}}.',
        )
    mapping = cast("Mapping[object, Json]", extra_body)
    for path in _iter_option_paths(mapping):
        replacement = _reserved_as(path, mapping, {**_SDK_ARGUMENTS, **reserved})
        if replacement is not None:
            raise InputError(f"extra_body= may not set {path}.", hint=replacement.value)
    if require_json:
        try:
            to_json(mapping)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise InputError(f"extra_body= cannot be sent as JSON: {error}.") from error


_OWN_HEADERS = re.compile(
    r"authorization|proxy-authorization|(x-)?(goog-)?api-key|cookie|host|content-.*|accept(-encoding)?|connection"
    r"|transfer-encoding|x-stainless-.*"
)
"""Headers that the client or the SDK sets: credentials, and the framing of the request."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110, section 5.6.2."""


def check_extra_headers(headers: Mapping[str, object]) -> None:
    """Raise ``InputError`` for headers that the client sets itself or that cannot be sent."""
    for name, value in cast("Mapping[object, object]", headers).items():
        if not isinstance(name, str) or _HEADER_NAME.fullmatch(name) is None:
            raise InputError(f"extra_headers= has {name!r}, which is not the name of a header.")
        if not isinstance(value, str) or not value.isascii() or not value.isprintable():
            raise InputError(f"extra_headers= has a value for {name} that is not a line of ASCII text.")
        if _OWN_HEADERS.fullmatch(name.lower()):
            raise InputError(f"extra_headers= may not set {name}.", hint="Set it on the client, and pass client=.")


def _iter_option_paths(options: Mapping[object, Json]) -> Iterator[str]:
    """Yield every key, and every key of a nested object as ``key.inner``."""
    for key, value in options.items():
        if not isinstance(key, str):
            raise InputError(f"extra_body= has the key {key!r}, which is not a string.")
        yield key
        if isinstance(value, Mapping):
            yield from (f"{key}.{inner}" for inner in cast("Mapping[object, Json]", value))


def _reserved_as(
    path: str, options: Mapping[object, Json], reserved: Mapping[str, ReservedOption]
) -> ReservedOption | None:
    """Return why the option at ``path`` is reserved, in camelCase or snake_case, or None if it is allowed."""
    name = to_snake_case(path)
    if name in reserved:
        return reserved[name]
    # A value that is not a mapping would replace every field below it, reserved ones included.
    prefix = None if isinstance(options.get(path), Mapping) or "." in path else f"{name}."
    return next((reason for other, reason in reserved.items() if prefix and other.startswith(prefix)), None)


@lru_cache(maxsize=512)
def to_snake_case(name: str) -> str:
    """Return a camelCase name in snake_case."""
    return _CAPITAL.sub(lambda match: f"_{match[0].lower()}", name)


def merge_layers(body: Mapping[str, Json], *layers: Mapping[str, Json]) -> dict[str, Json]:
    """Return a copy of ``body`` with each layer merged into it, key by key for nested objects."""
    result = dict(body)
    for layer in layers:
        for key, value in layer.items():
            current = result.get(key)
            if isinstance(current, dict) and isinstance(value, Mapping):
                result[key] = merge_layers(cast("dict[str, Json]", current), cast("Mapping[str, Json]", value))
            else:
                result[key] = value
    return result


def add_stream_flag(body: Mapping[str, Json], wire: WireProfile) -> dict[str, Json]:  # noqa: ARG001  some adapters need it
    """Return the body of a streaming request, for the adapters whose API only needs a flag."""
    return {**body, "stream": True}
