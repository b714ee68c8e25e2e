"""What a refusal must not tell its user: how it came about, which is what a probe would learn from.

Source: RFC-0010, RefusalReason: "MUST NOT leak control-plane details that enable probing", and ``user_message`` has
"no oracle/threshold details". Which words are such details is ours. What a user may be told: what is missing, what to
send instead, whom to turn to, and limits of form (files, characters, hours).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.details import DETAILS
from emitter.authority.narrative.marker import Marker, Rule, marker
from emitter.authority.narrative.seen import closed_up, see
from emitter.authority.narrative.spelling import found
from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

_DETAILS: Final = re.compile(rf"(?<![^\W_])(?:{DETAILS})(?![^\W_])|\d[\d.,]{{0,12}}\s?%", re.IGNORECASE)


def leaks(text: str, names: Iterable[str]) -> tuple[Marker, ...]:
    """Return where a text for a user tells how its refusal came about, in the order in which it does.

    ``names`` are the ids and names of oracles, or whatever else is not to be named; each is found as a whole word, in
    any case and spelling. Raises ``InputError`` where the text is none, or the names are one text.
    """
    seen = see(_text(text, names))
    closed = closed_up(seen)
    spans = {closed.span(*each.span()) for each in _DETAILS.finditer(closed.text)}
    spans |= {seen.span(*each) for each in found(tuple(names), seen.text, acronyms=True)}
    return tuple(marker(Rule.LEAK, each) for each in sorted(spans))


def _text(text: object, names: object) -> str:
    if not isinstance(text, str) or isinstance(names, str):
        raise InputError("A text is looked through for leaks, and for names that are more than one text.")
    return text
