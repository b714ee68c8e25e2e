"""Laying options over a request body, and what options may not touch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from pydantic_core import PydanticSerializationError, to_json

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json


class Owned(str, Enum):
    """Who sets a part of the request that options may not: the value says what to use instead."""

    MODEL = "Pass model=."
    PROMPT = "Pass the situation and materials=."
    INSTRUCTIONS = "Pass instructions=."
    BUDGET = "Set Policy(output_tokens=...) or Policy(max_output_tokens=...)."
    FORM = "The schema that you ask for decides it."
    TOOLS = "An emission calls no tools but its own: call yours before it, and pass what they return as materials=."
    STREAM = "Call stream() or astream()."
    WHOLE = "An emission waits for the whole answer."
    HEADERS = "Set headers on the client, such as client=openai.OpenAI(default_headers={...})."
    QUERY = "Set it on the client, such as client=openai.OpenAI(default_query={...})."
    HTTP = "Set it on the client, such as client=google.genai.Client(http_options={...})."
    BODY = "options= is laid over the request body: write the entries of extra_body directly into it."
    TIMEOUT = "Set Policy(timeout=...)."
    RETRIES = "Set Policy(max_faults=...)."


_ARGUMENTS: Mapping[str, Owned] = MappingProxyType(
    {
        "extra_headers": Owned.HEADERS,
        "headers": Owned.HEADERS,
        "default_headers": Owned.HEADERS,
        "extra_query": Owned.QUERY,
        "extra_body": Owned.BODY,
        "http_options": Owned.HTTP,
        "timeout": Owned.TIMEOUT,
        "max_retries": Owned.RETRIES,
    }
)
"""Arguments of the SDKs' own methods, which are no part of a request body on any wire."""

_CAPITAL = re.compile("[A-Z]")


def check_options(options: object, owned: Mapping[str, Owned], *, plain: bool) -> None:
    """Raise ``InputError`` for options that set what the library sets, or that cannot be sent.

    ``owned`` are the keys of the wire's request that the library sets, a key inside an object with a dot before it.
    With ``plain`` the options must be JSON; otherwise they may hold objects of the SDK's.
    """
    if not isinstance(options, Mapping):
        raise InputError(
            f"options= is of type {type(options).__name__}, not a mapping.", hint='Write options={"temperature": 0}.'
        )
    given = cast("Mapping[object, Json]", options)
    for path in _paths(given):
        instead = _instead(path, given, {**_ARGUMENTS, **owned})
        if instead is not None:
            raise InputError(f"options= may not set {path}.", hint=instead.value)
    if plain:
        try:
            to_json(given)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise InputError(f"options= cannot be sent as JSON: {error}.") from error


def _paths(options: Mapping[object, Json]) -> Iterator[str]:
    """Yield each key, and each key of an object as ``key.inner``."""
    for key, value in options.items():
        if not isinstance(key, str):
            raise InputError(f"options= has the key {key!r}, which is no text.")
        yield key
        if isinstance(value, Mapping):
            yield from (f"{key}.{inner}" for inner in cast("Mapping[object, Json]", value))


def _instead(path: str, options: Mapping[object, Json], owned: Mapping[str, Owned]) -> Owned | None:
    """Return who sets what stands at ``path``, however it is spelled; None where options may."""
    spelled = _CAPITAL.sub(lambda found: f"_{found[0].lower()}", path)
    if spelled in owned:
        return owned[spelled]
    inside = None if isinstance(options.get(path), Mapping) or "." in path else f"{spelled}."
    return next((who for name, who in owned.items() if inside and name.startswith(inside)), None)


def merged(body: Mapping[str, Json], *layers: Mapping[str, Json]) -> dict[str, Json]:
    """Return ``body`` with each layer laid over it; objects are merged key by key."""
    result = dict(body)
    for layer in layers:
        for key, value in layer.items():
            below = result.get(key)
            if isinstance(below, dict) and isinstance(value, Mapping):
                result[key] = merged(cast("dict[str, Json]", below), cast("Mapping[str, Json]", value))
            else:
                result[key] = value
    return result
