"""What holds for every text."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from emitter.recover import RecoveryPath, parse_answer, recover
from tests.work import examples

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
OBJECTS = st.dictionaries(TEXT, VALUES, min_size=1, max_size=4)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(TEXT, VALUES, max_size=4)
PROSE = st.text("abc xyz.,;!?éüß\n()-–", max_size=40)  # noqa: RUF001
SYNTAX = st.text(st.sampled_from("{}[]\"\"'':,,\\/*#`a1 \n-.tn“”"), max_size=40)

# A name in a string, for repairs that are made in the text.
WORD = st.text("abcxyz ", min_size=1, max_size=8)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | WORD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORD, inner, max_size=4),
    max_leaves=12,
)
PLAIN_OBJECTS = st.dictionaries(WORD, PLAIN, min_size=1, max_size=4)


def compact(value: object) -> str:
    """Write JSON without any space."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def holds_json(value: object) -> bool:
    """Tell whether a string would itself be read as a document."""
    return isinstance(value, str) and value.lstrip()[:1] in {"{", "[", '"'}


@given(st.text() | SYNTAX)
@settings(max_examples=examples(400))
def test_never_raises(text: str) -> None:
    """Any text is read without an exception."""
    parse_answer(text)


@given(SYNTAX)
@settings(max_examples=examples(400))
def test_strict_is_direct_and_only_that(text: str) -> None:
    """A text comes back as direct exactly when a strict parser takes it."""
    try:
        value = json.loads(text, parse_constant=pytest.fail)
    except ValueError:
        found = recover(text)
        assert found is None or found.path is not RecoveryPath.DIRECT
    else:
        assume(not holds_json(value))
        assert recover(text) is not None


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
@settings()
def test_any_value_is_direct(value: object, indent: int | None, ascii_only: bool) -> None:
    """What ``json.dumps`` writes is read back as it was."""
    assume(not holds_json(value))
    found = recover(json.dumps(value, indent=indent, ensure_ascii=ascii_only))
    assert found is not None
    assert found.path is RecoveryPath.DIRECT
    assert repr(found.value) == repr(value)


@given(OBJECTS, PROSE, PROSE, st.sampled_from([None, 2]))
@settings()
def test_prose_around(value: object, before: str, after: str, indent: int | None) -> None:
    """An object is found in prose, where it begins."""
    assume(before.strip() or after.strip())
    assume(not re.match(r"\s*,\s*\w", after))
    text = f"{before}\n{json.dumps(value, indent=indent)}\n{after}"
    found = recover(text)
    assert found is not None
    assert found.path is RecoveryPath.BRACE_WALKER
    assert repr(found.value) == repr(value)
    assert text.encode()[found.byte_offset :].startswith(b"{")


@given(CONTAINERS, PROSE, PROSE, st.sampled_from(["", "json"]))
@settings()
def test_fence_around(value: object, before: str, after: str, tag: str) -> None:
    """A document is found in a fence, even an empty one."""
    assume(not re.match(r"\s*,\s*\w", after))
    found = recover(f"{before}\n```{tag}\n{json.dumps(value)}\n```\n{after}")
    assert found is not None
    assert found.path is RecoveryPath.MARKDOWN_FENCE
    assert repr(found.value) == repr(value)


@given(CONTAINERS)
@settings(max_examples=examples(150))
def test_no_prefix_is_read(value: object) -> None:
    """A document cut anywhere, bare or in a fence, is never completed."""
    text = compact(value)
    for end in range(len(text)):
        assert recover(text[:end]) is None
        assert recover(f"```json\n{text[:end]}\n```") is None


@given(CONTAINERS, CONTAINERS)
@settings()
def test_two_documents(one: object, other: object) -> None:
    """Two documents are one when they are equal, and none when they differ."""
    found = recover(f"{compact(one)}\n{compact(other)}")
    if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        assert found is None
    else:
        assert found is not None
        assert found.path is RecoveryPath.CUSTOM


@given(CONTAINERS)
@settings()
def test_double_encoding(value: object) -> None:
    """A document in a string is taken out of it."""
    found = recover(json.dumps(json.dumps(value)))
    assert found is not None
    assert found.path is RecoveryPath.CUSTOM
    assert repr(found.value) == repr(value)


BREAKAGES = {
    "trailing commas": lambda text: re.sub(r"(?<=[^\[{])(?=[}\]])", ",", text),
    "comments": lambda text: re.sub(r"([,{\[])", r"\1/* x, */ // y\n # z\n", text),
    "single quotes": lambda text: text.replace('"', "'"),
    "smart quotes": lambda text: re.sub(r'"([^"]*)"', "“\\1”", text),
    "Python": lambda text: text.replace(":true", ":True").replace(":null", ":None"),
    "unquoted keys": lambda text: re.sub(r'"(\w+)":', r"\1:", text),
    "missing commas": lambda text: text.replace(",", "\n"),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
@given(value=PLAIN_OBJECTS)
@settings()
def test_breakage_is_repaired(breakage: str, value: object) -> None:
    """A document whose syntax was broken in one way is read as it was."""
    found = recover(BREAKAGES[breakage](compact(value)))
    assert found is not None
    assert repr(found.value) == repr(value)


@pytest.mark.parametrize("breakage", BREAKAGES)
@given(value=PLAIN_OBJECTS, share=st.floats(0, 1))
@settings()
def test_no_broken_prefix_is_read(breakage: str, value: object, share: float) -> None:
    """A document that is broken and cut is not read."""
    text = BREAKAGES[breakage](compact(value)).rstrip()
    assert recover(text[: int(share * (len(text) - 1))]) is None


UNESCAPED = {
    "German quotation": ('\u201eKoks" wird gewonnen', '\u201eKoks" wird gewonnen'),
    "German quotation at the end": ('the concept of \u201eKoks".', 'the concept of \u201eKoks".'),
    "quotation that is the text": ('\u201eKoks"', '\u201eKoks"'),
    "two quotations": ('\u201ea", \u201eb" und "c" da', '\u201ea", \u201eb" und "c" da'),
    "English quotation": ('so-called \u201ccoke" here', 'so-called \u201ccoke" here'),
    "plain quotation": ('the "coke" here', 'the "coke" here'),
    "formula": (r"\(a_k^i\)", r"\(a_k^i\)"),
    "formula with a command": (r"\(B_s(\tau)\) at \(\nu_1\)", r"\(B_s(\tau)\) at \(\nu_1\)"),
    "command alone": (r"the \alpha and \Omega", r"the \alpha and \Omega"),
    "spaces of a formula": (r"a\,b\;c\:d\!e", r"a\,b\;c\:d\!e"),
    "pattern": (r"^\d+\.\w$", r"^\d+\.\w$"),
    "path": (r"C:\Users\Public", r"C:\Users\Public"),
}
"""What a model writes into a string without escaping it, and the text that it means."""
DOCUMENTS: st.SearchStrategy[list[Any]] = st.lists(
    st.sampled_from(list(UNESCAPED.values())) | PLAIN_OBJECTS, min_size=1, max_size=4
)


def spelt(parts: list[Any]) -> tuple[str, Any]:
    """Return a document with unescaped texts, and its value."""
    texts = [f'"{part[0]}"' if isinstance(part, tuple) else compact(part) for part in parts]
    values = [part[1] if isinstance(part, tuple) else part for part in parts]
    members = ",\n  ".join(f'"m{index}": {text}' for index, text in enumerate(texts))
    value = {f"m{index}": value for index, value in enumerate(values)}
    return f'{{\n  {members},\n  "all": [{", ".join(texts)}]\n}}', {**value, "all": values}


@given(DOCUMENTS)
@settings(max_examples=examples(150))
def test_unescaped_texts_are_read_and_never_cut(parts: list[Any]) -> None:
    """A text is what was written, in members and in arrays, and no prefix of the document is read."""
    text, value = spelt(parts)
    found = recover(text)
    assert found is not None
    assert found.value == value
    assert not found.doubtful
    assert [end for end in range(len(text)) if recover(text[:end]) is not None] == []


@given(DOCUMENTS, st.integers(1, 40), st.integers(0, 2))
@settings(max_examples=examples(150))
def test_a_repeated_end_changes_nothing(parts: list[Any], length: int, closers: int) -> None:
    """The end of a document once more, from within its last string, and brackets that close nothing."""
    last = "the last text of all"
    text, value = f'{{"a": {spelt(parts)[0]}, "b": ["{last}"]}}', {"a": spelt(parts)[1], "b": [last]}
    for repeated in (f'{last[-(length % len(last)) or -1 :]}"]}}', "}" * closers):
        found = recover(f"{text}\n{repeated}")
        assert found is not None
        assert found.value == value
        assert not found.doubtful


@given(SYNTAX, PLAIN_OBJECTS)
@settings(max_examples=examples(300))
def test_repair_invents_no_word(noise: str, value: object) -> None:
    """Whatever is read out of a damaged document stood in it."""
    text = compact(value)
    text = text[: len(text) // 2] + noise[:3] + text[len(text) // 2 :]
    found = recover(text)
    if found is not None:
        flat = re.sub(r"[\W_]+", "", json.dumps(found.value, ensure_ascii=False).replace("\\n", ""))
        assert set(flat.lower()) <= set(text.lower())
