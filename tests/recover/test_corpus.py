"""Agreement with the corpora that stand beside the checkout."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

from emitter.recover import Recovered, RecoveryPath, parse_answer, recover
from tests.shared import Line, lines

AGREE_AT_LEAST = {
    "bad-key": 1,
    "bare-value": 7,  # ".5" is not guessed at
    "comment": 13,
    "concatenated": 4,
    "control-char": 3,
    "extra-data": 6,
    "fence": 51,
    "missing-colon": 5,
    "missing-comma-or-unescaped-quote": 11,
    "prose": 40,
    "single-quote": 9,
    "smart-quote": 3,
    "trailing-comma": 7,
    "unquoted": 6,
    "valid": 126,  # one names a member twice with different values
}
"""Floors: what was read as meant when they were set."""

ANOTHER_QUESTION = {"schema_coerce", "schema_repair", "must_fail_schema", "partial_schema", "must_reject_strict"}
"""Kinds whose expected value depends on a schema, or on a reader that repairs nothing."""

NOT_OURS = {"y_object_duplicated_key.json"}
"""What a strict reader may take and this one does not: a member that is named twice with different values."""

DIFFER_AT_MOST = 19
"""Of the other kinds: nine strings whose last line break we keep, five texts that are strict JSON, three fences
whose document was meant as text, one float that equals an integer and one unquoted key meant as an error.
"""


def outcome(line: Line) -> str:
    """Return how the reading compares with the value meant: agree, none, several or differ."""
    found = parse_answer(line["input"])
    if found is None:
        return "none"
    if not isinstance(found, Recovered):
        return "several"
    same = json.dumps(found.value, sort_keys=True) == json.dumps(line["expected"], sort_keys=True)
    return "agree" if same and line["expected_known"] else "differ"


def table(corpus: list[Line]) -> dict[str, Counter[str]]:
    """Count the outcomes by category."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in corpus:
        counts[line["category"]][outcome(line)] += 1
    return dict(sorted(counts.items()))


def unclosed(text: str) -> bool:
    """Tell whether a string or a bracket is open at the end of a text that begins with a bracket."""
    text = text.replace('\\"', '"') if text.startswith('{\\"') else text
    text = re.sub(r'\u201e([^"\u201c\u201d]*)"', "\\1", text)  # the plain quote ends a quotation, and not the string
    owed, string, escaped = 0, False, False
    for char in text:
        if escaped:
            escaped = False
        elif string:
            string, escaped = char != '"', char == "\\"
        elif char == '"':
            string = True
        else:
            owed += (char in "{[") - (char in "}]")
    return text.lstrip()[:1] in {"{", "["} and (string or owed > 0)


def test_agreement() -> None:
    """No category falls below its floor."""
    counts = table(lines("malformed.jsonl"))
    below = {name: counts[name]["agree"] for name, floor in AGREE_AT_LEAST.items() if counts[name]["agree"] < floor}
    assert below == {}


def test_few_differ() -> None:
    """Where no schema is asked, hardly anything is read as another value than the one meant."""
    differing = [line["id"] for line in lines("malformed.jsonl") if outcome(line) == "differ"]
    kinds = {line["id"]: line["kind"] for line in lines("malformed.jsonl")}
    assert len([name for name in differing if kinds[name] not in ANOTHER_QUESTION]) <= DIFFER_AT_MOST


def test_real_answers() -> None:
    """What real models fenced or wrapped in prose is read as meant, all of it."""
    real = [line for line in lines("malformed.jsonl") if line["kind"] in {"fenced_real", "prose_real"}]
    assert {outcome(line) for line in real} == {"agree"}


def test_truncated_is_never_read() -> None:
    """No line that is cut yields a value."""
    cut = [line["input"] for line in lines("malformed.jsonl") if line["category"] == "truncated"]
    assert [text for text in cut if unclosed(text) and recover(text) is not None] == []


def test_strictness() -> None:
    """JSONTestSuite: what must be accepted is direct, and what must be rejected never is."""
    wrong: list[str] = []
    for line in lines("jsontestsuite.jsonl"):
        found = recover(line["input"]) if "input" in line else None
        direct = found is not None and found.path is RecoveryPath.DIRECT
        if (line["expect"] == "reject" and direct) or (line["expect"] == "accept" and not direct):
            wrong.append(line["name"])
    assert set(wrong) <= NOT_OURS
