"""What a vendor took is not broken: an acceptance is stronger than what a page says."""

from __future__ import annotations

from collections import Counter

import pytest

from emitter.testing import vendor_rules
from tests.shared import Line, lines
from tests.testing.schema_rules.corpora import checker

NOT_THE_DIALECT = {
    403: "the wire has numbers for types (Vertex over gRPC), not JSON Schema",
    764: "not OpenAI's model: Azure passes Grok an unknown keyword",
}
"""Lines that are broken all the same, each with its reason."""

HELD_TO = {
    "openai response_format": 57,
    "openai text.format": 39,
    "openai tool": 99,
    "azure-openai response_format": 6,
    "azure-openai text.format": 2,
    "azure-openai tool": 7,
    "anthropic output_config": 12,
    "anthropic output_format": 9,
    "anthropic tool": 34,
    "google responseJsonSchema": 20,
    "google responseSchema": 21,
    "google tool": 94,
    "google tool.parametersJsonSchema": 45,
    "google-vertex responseJsonSchema": 4,
    "google-vertex responseSchema": 1,
    "google-vertex tool": 8,
    "google-vertex tool.parametersJsonSchema": 5,
}
"""How many schemas each dialect is tried on: the strict ones, and all of Google's, which knows no strictness."""

_OTHERS = ("anthropic-on-vertex", "openai-compat.chat.completions")


@pytest.fixture(scope="module")
def held_to() -> dict[int, Line]:
    """Read the schemas that were taken under the rules, by their line."""
    taken = enumerate(lines("schema_accepted.jsonl"))
    return {
        index: line
        for index, line in taken
        if (line["strict"] or line["vendor"].startswith("google")) and line["endpoint"] not in _OTHERS
    }


def test_the_acceptances_are_counted(held_to: dict[int, Line]) -> None:
    """No group of schemas is left out unseen."""
    assert Counter(f"{each['vendor']} {each['mode']}" for each in held_to.values()) == HELD_TO


@pytest.mark.parametrize("group", HELD_TO)
def test_what_was_taken_is_not_broken(held_to: dict[int, Line], group: str) -> None:
    """The checker finds nothing, except in the lines that are listed."""
    ours = {index: line for index, line in held_to.items() if f"{line['vendor']} {line['mode']}" == group}
    found = {index: checker(line["vendor"], line["mode"])(line["schema"]) for index, line in ours.items()}

    assert {index: each for index, each in found.items() if each and index not in NOT_THE_DIALECT} == {}
    assert all(found[index] for index in NOT_THE_DIALECT if index in found)


def test_what_google_ignores_is_told_apart(held_to: dict[int, Line]) -> None:
    """Keywords that were taken without effect are no breach, and are reported."""
    ours = [each["schema"] for each in held_to.values() if "JsonSchema" in each["mode"]]

    assert Counter(each.detail for schema in ours for each in vendor_rules.GOOGLE_IGNORED.find_violations(schema)) == {
        "default": 14,
        "$schema": 5,
        "pattern": 2,
        "minLength": 1,
        "maxLength": 1,
    }
