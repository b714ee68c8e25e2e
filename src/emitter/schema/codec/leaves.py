"""Scalars as they are, and any value as JSON text."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs

from emitter.errors import Unencodable
from emitter.schema.codec.base import unread
from emitter.schema.value import EVERY_TYPE, INTEGER, STRING, is_of, same
from emitter.wire.strict import NotJsonError, loads

if TYPE_CHECKING:
    from emitter.wire import Json

_MEANT_AS_JSON: Final = re.compile(
    r"""[\s\ufeff]*(?:[{\["]|(?:(?=[-\d])-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?|NaN|-?Infinity)\s*\Z)""", re.ASCII
)
"""The beginning of an object, a list or a string in JSON, or what is at most a number, whole or cut."""

_JSON_TEXT: Final = (
    "one whole JSON text: strings in quotes, no property of an object twice, no number that a double cannot hold"
)

_UNSPOKEN = frozenset({"type", "title", "description", "default"})


class Plain:
    """A scalar that stands on the wire as it is; ``wire`` is its schema there."""

    plain = still = True

    def __init__(self, types: tuple[str, ...], wire: dict[str, Any]) -> None:
        self.types = frozenset(types)
        self.values: list[Json] | None = wire.get("enum")
        self._named = types
        self._wire = wire

    @cached_property
    def _keys(self) -> frozenset[str] | None:
        return None if self.values is None else frozenset(map(same, self.values))

    @cached_property
    def _check(self) -> Any:
        rules = {key: each for key, each in self._wire.items() if key not in _UNSPOKEN}
        return jsonschema_rs.validator_for(rules, validate_formats=True) if rules else None

    def encode(self, value: Json, at: str) -> Json:
        """Return ``value`` where the wire takes it."""
        if not is_of(value, self._named):
            raise Unencodable(at, f"must be of type {' or '.join(self._named)}")
        if self._check is not None and not self._check.is_valid(value):
            raise Unencodable(at, "breaks a rule of its schema")
        return value

    def decode(self, value: Json) -> Json:
        """Return ``value``."""
        return value

    def admits(self, value: Json) -> bool:
        """Tell whether type and listed values fit."""
        return is_of(value, self._named) and (self._keys is None or same(value) in self._keys)


class Free:
    """Any value, as it is."""

    types = frozenset({*EVERY_TYPE, INTEGER})
    plain = still = True

    def encode(self, value: Json, at: str) -> Json:  # noqa: ARG002  every codec is told where it stands
        """Return ``value``."""
        return value

    def decode(self, value: Json) -> Json:
        """Return ``value``."""
        return value

    def admits(self, value: Json) -> bool:  # noqa: ARG002  whatever it is
        """Admit anything."""
        return True


class Text:
    """Any value of ``named`` types, written as JSON text; ``values`` lists the texts where they are given.

    Text that does not look like JSON, or is JSON of another type, is itself the value where a string may stand.
    Text that looks like JSON and cannot be read is marked as not read.
    """

    types = frozenset({STRING})
    plain = still = False

    def __init__(self, named: tuple[str, ...] = EVERY_TYPE, values: dict[str, str] | None = None) -> None:
        self._named = named
        self.values = None if values is None else list(values.values())
        self._texts = values

    def encode(self, value: Json, at: str) -> Json:
        """Return the JSON text of ``value``."""
        if not is_of(value, self._named):
            raise Unencodable(at, f"must be of type {' or '.join(self._named)}")
        if self._texts is None:
            return json.dumps(value, ensure_ascii=False)
        key = same(value)
        if key not in self._texts:
            raise Unencodable(at, "is none of the values listed")
        return self._texts[key]

    def decode(self, value: Json) -> Json:
        """Return what the text says."""
        if not isinstance(value, str):
            return value
        try:
            meant = loads(value)
        except NotJsonError:
            return unread(value, "json", _JSON_TEXT) if _MEANT_AS_JSON.match(value) else value
        return meant if is_of(meant, self._named) else value

    def admits(self, value: Json) -> bool:
        """Tell whether it is text, and one of those given."""
        return isinstance(value, str) and (self.values is None or value in self.values)
