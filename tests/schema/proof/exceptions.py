"""Where the tools of the proof differ from one another, each by name and with its reason.

A difference that is not listed here is a failure of the compiler until someone shows otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.schema.proof.judge import Fault

UNREAD_BY_THE_DECODER = {
    r"lookarounds not supported": "llguidance reads no word boundary or lookaround; OpenAI's page bars only lookaround",
    r"regex parse error": "llguidance reads Rust's regular expressions, JSON Schema ECMA-262's",
    r"regex for (float|integer) range": "llguidance's ranges end where its integers do",
    r"'multipleOf' has too many digits": "llguidance counts decimals with 32 bits",
    r"circular references with sibling keys": "llguidance merges a reference with what stands beside it",
    r"Unknown format": "llguidance knows fewer formats than some vendors list",
}
"""Complaints of the decoder that are its own: a vendor documents that it takes such a schema."""

LOOSER_FORMATS = {
    "date-time": "llguidance takes a leap second in any minute, and 29 February in any year",
    "time": "llguidance takes a leap second in any minute",
    "date": "llguidance takes 29 February in any year",
    "email": "llguidance does not count the 64 bytes before the @",
    "hostname": "llguidance takes hyphens in the third and fourth place, which only Punycode may have",
}
"""Formats whose grammar in the decoder is wider than the format."""

_EXACT = 2**50
"""Beyond this a double no longer tells the decimals that the decoder has counted."""

_NEXT_LINE = "\x85"
"""llguidance's ``\\s`` takes it, ECMA-262's does not."""

DIFFERENT_VALIDATORS = {
    "unicode": "ours finds a fault in half a character, which no UTF-8 can carry; Python takes it for a text",
    "contentEncoding": "jsonschema-rs asserts it in draft 7, for the specification it is a hint",
    "contentMediaType": "jsonschema-rs asserts it in draft 7, for the specification it is a hint",
    "unevaluatedProperties": "jsonschema 4.26 misreads it beside additionalProperties in draft 2019-09",
}
"""Keywords on which the two validators are known to differ."""


def own_refusal(complaint: str) -> str | None:
    """Return the reason why a complaint of the decoder is only its own, if it is."""
    return next((why for each, why in UNREAD_BY_THE_DECODER.items() if re.search(each, complaint)), None)


def by_the_decoder(fault: Fault) -> bool:
    """Tell whether a vendor that enforces the keyword would not have written what breaks it.

    Of a union that is so where nothing else is broken in one of its branches.
    """
    if fault.branches:
        return any(all(map(by_the_decoder, each)) for each in fault.branches)
    if fault.steps[0].keyword == "format":
        return fault.expected in LOOSER_FORMATS
    if fault.steps[0].keyword == "multipleOf":
        return abs(fault.instance) > _EXACT
    return fault.steps[0].keyword == "pattern" and _NEXT_LINE in str(fault.instance) and r"\s" in str(fault.expected)
