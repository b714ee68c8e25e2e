"""Reads a registry of secrets as a caller or a file has it, and says what is wrong without showing a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from emitter.errors import InputError
from emitter.redact.readings import readings
from emitter.redact.spans import OPENING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST = 4
"""Characters of a value: a shorter one stands in any text by chance, and what it leaves out can be guessed."""

_LONGEST_ID = 128
_NO_ID = re.compile(r"""[]["'\\%&<>]""")
_HALF = re.compile("[\ud800-\udfff]")
HINT = "Hand over each value as one text of its own, whole; what is too short to be found safely must be left out."
_FORM = 'Name each secret by an id: {"stripe-key": "the value"}, or a list of values.'


def names(registry: object) -> tuple[str, ...]:
    """Return the ids; raises ``InputError``, which names them by number: an id may be a value in the wrong place."""
    if not isinstance(registry, Mapping):
        raise InputError("Secrets are no mapping from ids to values.", hint=_FORM)
    ids = tuple(cast("Mapping[object, object]", registry))
    for number, name in enumerate(ids, 1):
        if not (isinstance(name, str) and 0 < len(name) <= _LONGEST_ID and name.isprintable()) or _NO_ID.search(name):
            raise InputError(
                f"The id of secret number {number} cannot stand in a marker.",
                hint=f"An id is a text of 1 to {_LONGEST_ID} characters that can be seen, without quotes, brackets, "
                "backslashes, percent signs and ampersands.",
            )
    return cast("tuple[str, ...]", ids)


def values(registry: Mapping[str, object]) -> Iterator[tuple[int, object]]:
    """Yield the number of an id, from 0, and each of its values; what is no value is yielded as it is."""
    for number, held in enumerate(registry.values()):
        for each in _several(held) or [None]:
            yield number, each.strip() if isinstance(each, str) else each


def _several(held: object) -> list[object]:
    if isinstance(held, Iterable) and not isinstance(held, (str, bytes, Mapping)):
        return list(cast("Iterable[object]", held))
    return [held]


def flaw(value: object) -> str | None:
    """Say why a value cannot be a secret; None where it can."""
    if not isinstance(value, str):
        return "is no text"
    if _HALF.search(value):
        return "holds half of a character"
    if min(len(each.data.decode(errors="replace")) for each in readings(value.encode())) < SHORTEST:
        return (
            f"has fewer than {SHORTEST} characters, where escapes, what nobody sees and the space around do not count"
        )
    if OPENING in value or value in OPENING:
        return "is a part of every marker, or holds one"
    return None
