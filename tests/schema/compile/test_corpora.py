"""What vendors were recorded to refuse is mended, and what they took is taken as it is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from emitter.errors import Uncompilable
from emitter.schema import compile_schema
from tests.schema.compile.lens import ALL, CLOSED, GOOGLE, broken, lens
from tests.shared import lines
from tests.testing.schema_rules.corpora import checker

if TYPE_CHECKING:
    from tests.shared import Line

REFUSED = {
    "rej007": "refers only to itself",
    "rej008": "does not exist in this document",
    "rej080": "no document can satisfy",
    "rej081": "no document can satisfy",
    "rej122": "not valid JSON Schema",
    "rej126": "outside this document",
    "rej149": "does not exist in this document",
}
"""Rejected schemas that are refused here too, each with the reason."""

LOSSY = {362, 507, 509, 878}
"""Lines that Google takes with keywords that it ignores, or a oneOf that it reads as anyOf: these are losses."""


def vendor_of(line: Line) -> str:
    """Return the profile of the vendor of a line."""
    return "google" if line["vendor"] == "google-vertex" else line["vendor"]


def test_what_was_rejected_is_mended_or_refused_by_name() -> None:
    """No rule of the vendor, nor of the surface it was rejected on, fires on what is compiled."""
    refused: dict[str, str] = {}
    for line in [each for each in lines("schema_rejections.jsonl") if each.get("schema") is not None]:
        try:
            compiled = compile_schema(line["schema"], vendor_of(line))
        except Uncompilable as error:
            refused[line["id"]] = error.reason
            continue
        assert compiled.enforced, line["id"]
        assert broken(compiled, vendor_of(line)) == [], line["id"]
        if "responseSchema" not in line["surface"] and vendor_of(line) != GOOGLE:
            assert checker(line["vendor"], line["surface"])(compiled.schema) == [], line["id"]

    assert refused.keys() == REFUSED.keys()
    assert all(REFUSED[each] in reason for each, reason in refused.items())


def test_what_was_taken_strictly_is_taken_without_loss() -> None:
    """Only what the schema is silent about may be closed; OpenAPI's types in capitals are no JSON Schema."""
    taken: Counter[str] = Counter()
    lossy: set[int] = set()
    for index, line in enumerate(lines("schema_accepted.jsonl")):
        if line["strict"] is not True or line["mode"] == "responseSchema":
            continue
        compiled = lens(line["schema"], vendor_of(line))
        taken[vendor_of(line)] += 1
        if any(each.why is not CLOSED for each in compiled.losses):
            lossy.add(index)

    assert set(taken) == set(ALL)
    assert taken == {"openai": 195, "anthropic": 55, "google": 24, "azure-openai": 15}
    assert lossy == LOSSY
