r"""Find control characters that are left of backslashes which were not escaped.

``"\frac{1}{2}"`` is valid JSON with one backslash too few: the text begins with a form feed. It is another text than
the model meant, but nothing proves it, so this is a finding and no violation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from emitter.findings import Finding, Severity
from emitter.schema.validator import property_names, redact_name
from emitter.strict_json import unescape_string

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from re import Match

    from emitter.messages import Json
    from emitter.schema import Compiled

CONTROL_CHARACTER: Final = "control-character"
"""The id of the rule."""
_EXPECTED: Final = (
    r"no control characters: JSON reads \b, \f, \n, \r and \t as such, so write each backslash as \\. "
    "Tabs and line breaks that are meant may stay"
)
MAX_FINDINGS: Final = 12
"""Further findings are dropped, so that a corrective prompt has a constant size."""
_SUSPECT: Final = re.compile("(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f])|[\t\n\r](?P<letters>[A-Za-z]+)")
_ESCAPES: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_JSON_STRING: Final = re.compile(
    r"""((?:\A|[\[{:,])\s{0,20}+")((?:[^"\\\n]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+)(?="\s{0,20}+(?:[\]}:,]|\Z))"""
)
"""A string of a JSON text within a source, in which a backslash before a letter is an escape."""
_COMMAND: Final = re.compile(r"\\([nrt][A-Za-z]+)")
_CONTEXT: Final = 2
"""The number of characters after a control character by which it is found in a source."""


@dataclass(frozen=True)
class SourceTexts:
    """The texts of a request, from which the texts of a document may be copied."""

    texts: Iterable[str]

    def has_lost_backslash(self, suspect: Match[str]) -> bool:
        r"""Return whether a control character is certainly not copied.

        A tab or a line break is suspicious only if a source has a backslash there: ``\temp`` for a tab and ``emp``.
        """
        if suspect["control"] is None:
            return _ESCAPES[suspect[0][0]][1] + suspect["letters"] in self._commands
        return suspect.string[suspect.start() : suspect.end() + _CONTEXT] not in self._whole

    @cached_property
    def _whole(self) -> str:
        return "\n".join(self.texts)

    @cached_property
    def _commands(self) -> frozenset[str]:
        if "\\" not in self._whole:
            return frozenset()
        return frozenset(_COMMAND.findall(_JSON_STRING.sub(_decode_string, self._whole)))


def _decode_string(string: Match[str]) -> str:
    return string[1] + unescape_string(string[2])


def find_control_characters(document: Json, sources: SourceTexts, compiled: Compiled) -> tuple[Finding, ...]:
    """Return a finding for each text of a document that has lost backslashes.

    The findings ask for a correction, unless the document would not be valid with the backslashes: then its schema
    wants the control characters.

    Args:
        document: A valid document.
        sources: The texts of the request.
        compiled: The document's schema.
    """
    places = [
        path for path, text in _iter_texts(document) if any(map(sources.has_lost_backslash, _SUSPECT.finditer(text)))
    ]
    if not places:
        return ()
    severity = Severity.WARNING if compiled.validate(_restore(document, sources)) else Severity.RETRY
    names = property_names(cast("Json", compiled.original))
    pointers = dict.fromkeys("".join(_write_step(step, names) for step in path) for path in places)
    return tuple(Finding(pointer, CONTROL_CHARACTER, severity, _EXPECTED) for pointer in pointers)[:MAX_FINDINGS]


_Path: TypeAlias = "tuple[str | int, ...]"


def _iter_texts(document: Json) -> Iterator[tuple[_Path, str]]:
    """Yield the texts of a document in order, names included, each with its path."""
    pending: list[tuple[_Path, Json]] = [((), document)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            members = cast("dict[str, Json]", value)
            yield from (((*path, name), name) for name in members)
            pending.extend(((*path, name), members[name]) for name in reversed(members))
        elif isinstance(value, list):
            items = cast("Sequence[Json]", value)
            pending.extend(((*path, index), items[index]) for index in range(len(items) - 1, -1, -1))


def _write_step(step: str | int, names: frozenset[str]) -> str:
    return f"/{step}" if isinstance(step, int) else f"/{redact_name(step, names)}"


def _restore(value: Json, sources: SourceTexts) -> Json:
    """Return a document with the backslashes that it has lost. A character that no escape stands for is removed."""
    if isinstance(value, str):
        return _SUSPECT.sub(
            lambda suspect: _restore_escape(suspect) if sources.has_lost_backslash(suspect) else suspect[0], value
        )
    if isinstance(value, dict):
        return {name: _restore(child, sources) for name, child in cast("dict[str, Json]", value).items()}
    if isinstance(value, list):
        return [_restore(item, sources) for item in cast("Sequence[Json]", value)]
    return value


def _restore_escape(suspect: Match[str]) -> str:
    return _ESCAPES.get(suspect[0][0], "") + (suspect["letters"] or "")
