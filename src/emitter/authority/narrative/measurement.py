"""Measurements: a number with its unit, money, a share, a multiple, a frequency, a quantity named before its number.

None is a count of things, a date or a time of day, a number that names something, or a vague quantity ("some hours").
What a measurement is, RFC-0010 does not say; this reading is ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.quantities import (
    DECIMAL,
    DIGITS,
    EQUALS,
    HAS,
    MONEY_SIGN,
    NAMED,
    NUMBER,
    RANGE,
    SHORT,
    SPELT,
    STATED,
    SURELY_EQUALS,
    TIME,
    UNIT_AFTER,
    WITH_UNIT,
)
from emitter.authority.narrative.seen import Seen, closed_up, see

if TYPE_CHECKING:
    from collections.abc import Iterable

WITHHELD: Final = "[measurement withheld]"
"""What stands where a measurement was taken out."""

_END: Final = r"(?![^\W_])"
_START: Final = r"(?<![^\W_])"
_MORE: Final = r"(?i:as|more|less|fewer|higher|lower|greater|larger|smaller|faster|slower|better|worse|the|that|what)"
_FRACTION: Final = r"(?i:hal(?:f|ves)|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?)"
_YEAR: Final = r"(?:1[5-9]|20)\d\d(?![\d.,]\d)"
_OFTEN: Final = (
    rf"(?:(?i:a|an|per|each|every|in\s+an?)\s+{TIME}|(?i:daily|nightly|weekly|monthly|yearly|annually|hourly))"
)
_ONE: Final = (
    r"(?i:(?:kilo)?met(?:re|er)|mile|foot|inch|pound|ounce|lit(?:re|er)|gallon|tonne?|yard|kilo(?:gram)?|acre|hectare)"
)
_KINDS: Final = (
    rf"{_START}(?:{WITH_UNIT})",
    rf"(?:{_START}(?:US|A|C))?{MONEY_SIGN}\s?{NUMBER}",
    rf"{_START}(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|Rs\.?)\s?{NUMBER}",
    rf"{_START}(?:{SHORT})\)?[\s:=|]{{1,3}}(?:(?i:is|was|of)\s{{1,2}})?(?:{DIGITS}|{SPELT}{_END})",
    rf"{_START}(?:(?i:once|twice|thrice)|{RANGE}\s+(?i:times))\s+{_OFTEN}{_END}",
    rf"{_START}{NUMBER}\s+(?i:out\s+of|of\s+every|in(?:\s+every)?)\s+(?i:an?\s+)?(?!{_YEAR}){NUMBER}{_END}",
    rf"{_START}{NUMBER}\s+(?i:to)\s+{NUMBER}\s+(?i:odds|against|on){_END}",
    rf"{_START}{SPELT}[\s-]+{_FRACTION}{_END}(?!\s+(?i:party|parties|time|place|person|man|day|floor|class))",
    rf"{_START}(?i:an?\s+|the\s+)?{_FRACTION}\s+(?i:of\s+(?:all|the|an?|those|these|our|its|their|\w{{3,20}}s)){_END}",
    rf"{_START}(?i:half)\s+(?i:the|as|an?|all|of){_END}",
    rf"{_START}(?:{NUMBER}[\s-]?|{SPELT})(?i:fold){_END}",
    rf"{_START}\d++(?:\.\d++)?[xX\u00d7]{_END}",
    rf"{_START}(?:(?i:twice|thrice)|{NUMBER}\s+(?i:times))\s+{_MORE}{_END}",
    rf"{_START}(?i:an?)\s+{TIME}\s+(?i:and\s+a\s+(?:half|quarter)){_END}",
    rf"{_START}{STATED}{DECIMAL}",
    rf"(?<!at\s){_START}{SPELT}(?:[\s-]+{SPELT})?\s+(?i:point)\s+{SPELT}(?:\s+{SPELT}){{0,3}}{_END}",
    rf"{_START}{NAMED}{SURELY_EQUALS}{SPELT}(?:[\s-]+{SPELT}){{0,3}}(?:{UNIT_AFTER})?{_END}",
    rf"{_START}{SPELT}\s+\w{{3,20}}\s+(?i:in)\s+(?i:every\s+)?{SPELT}{_END}",
    rf"{_START}(?i:an?)\s+{_ONE}\s+(?i:of|thick|long|wide|deep|high|tall|away|apart|per|across){_END}",
    rf"{_START}(?i:double|triple|treble)\s+(?i:the|that|what){_END}",
    rf"{_START}{NAMED}{EQUALS}(?!{_YEAR}\b){DIGITS}(?::{DIGITS})?(?:{UNIT_AFTER})?{_END}",
    rf"{_START}{HAS}{SURELY_EQUALS}(?!{_YEAR}\b){DIGITS}(?:{UNIT_AFTER})?{_END}",
    rf"{_START}(?i:by|to)\s+(?i:an?)\s+{_FRACTION}{_END}",
    rf"{_START}(?i:by|up|down|gained|lost|fell|rose)\s+{NUMBER}\s+(?i:points?){_END}",
    rf"{_START}{RANGE}\s+per\s+(?:{NUMBER}|(?i:capita|person|head|{TIME})){_END}",
    rf"{_START}(?i:an?)\s+(?i:(?:milli|micro|kilo)?grams?|millilit(?:re|er)s?|teaspoon|tablespoon|percent){_END}",
)
_MEASUREMENT: Final = re.compile(rf"(?=[^\W_]|{MONEY_SIGN})(?:{'|'.join(_KINDS)})")
_PASSES: Final = 8


def measurements(seen: Seen) -> list[tuple[int, int]]:
    """Return where the measurements of a text as it is seen start and end, in their order."""
    return [each.span() for each in _MEASUREMENT.finditer(seen.text)]


def scrub(text: str) -> str:
    """Return a text with ``WITHHELD`` in the place of each measurement; the rest stays as it was written.

    What is returned has no measurement left: a text that would still have one after some passes, as none does that
    was written to be read, is withheld whole.
    """
    for _ in range(_PASSES):
        seen = closed_up(see(text))
        found = [seen.span(*each) for each in measurements(seen)]
        if not found:
            return text
        text = _without(text, found)
    return WITHHELD


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept: list[str] = []
    place = 0
    for start, end in spans:
        kept += (text[place:start], WITHHELD)
        place = max(place, end)
    return "".join((*kept, text[place:]))
