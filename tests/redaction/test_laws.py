"""What holds of every text, every JSON value and every registry."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from emitter.errors import InputError
from emitter.redaction import Redacted, Secrets
from emitter.redaction.matcher import escape_syntax, find_escape_kinds
from emitter.redaction.secret_registry import find_value_problem
from emitter.visible_text import COMBINING_MARKS, DEFAULT_IGNORABLE, has_invisible, is_blank
from tests.redaction.planting import TWICE, UNSEEN, WRITTEN, inside, shows

if TYPE_CHECKING:
    from collections.abc import Iterator

ODD = "aZ0nux14#;=-_.:/+ %&\\\"'<>[]{}\n\té€😀\u200d"
VALUES = (
    st.text(ODD + "bcdefgkstuxy", min_size=4, max_size=20)
    .map(str.strip)
    .filter(lambda each: not find_value_problem(each))
)
REAL = (
    "sk-live-51H8x",
    'pass "word" \\ with/all+of it',
    "zwölf €uro 😀",
    "line\nbreak",
    "-----BEGIN KEY-----\nAb+/9=\n---",
)
REGISTRIES = st.dictionaries(st.sampled_from(["k", "stripe-key", "two words"]), VALUES, min_size=1)
PLAIN = sorted({*ODD} - {*"\\%&"})
"""What begins no escape."""
NEUTRAL = sorted({*PLAIN} - {*"aZ0-_:/+>\"'"})
"""What ends none either."""
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


def built(registry: dict[str, Any]) -> Secrets:
    """Build a registry, and pass over one whose ids would show a value."""
    try:
        return Secrets.of(registry)
    except ValueError:
        assume(False)
        raise


def texts(value: Any) -> Iterator[str]:
    """Yield every string of a JSON value."""
    if isinstance(value, str):
        yield value
    for each in value if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else ():
        yield from texts(each)


@st.composite
def holding(draw: st.DrawFn, value: Any, secrets: list[str]) -> Any:
    """Put a secret into one place of a value at least, as a key or as a text."""
    written = WRITTEN[draw(st.sampled_from(sorted(WRITTEN)))](draw(st.sampled_from(secrets)))
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: draw(holding(value[key], secrets))}
    if isinstance(value, list) and value and draw(st.booleans()):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(holding(value[at], secrets)), *value[at + 1 :]]
    return draw(st.sampled_from([written, [value, written], {written: value}, {"a": written, written: value}]))


def shape(value: Any) -> Any:
    """Return a value with its texts and keys left out."""
    if isinstance(value, dict):
        return [shape(each) for each in value.values()]
    if isinstance(value, list):
        return tuple(shape(each) for each in value)
    return str if isinstance(value, str) else repr(value)


def starts(text: str, value: str) -> list[int]:
    """Return every place where a value begins in a text."""
    return [at for at in range(len(text)) if text.startswith(value, at)]


@given(REGISTRIES, st.data())
def test_never_shown(registry: dict[str, str], data: st.DataObject) -> None:
    """However a secret is written, alone or with what stands beside it, no reader finds any secret afterwards."""
    secrets = built(registry)
    value = data.draw(st.sampled_from(sorted(registry.values())))
    way = data.draw(st.sampled_from(sorted(WRITTEN)))
    together = data.draw(st.booleans())
    beside = st.text(NEUTRAL if way in TWICE else ODD if together else PLAIN, max_size=12)
    before, behind = data.draw(beside), data.draw(beside)
    text = WRITTEN[way](before + value + behind) if together else before + WRITTEN[way](value) + behind
    reported = secrets.redact_text(text)
    note(f"{way}: {text!a} -> {reported!a}")
    assert reported.count >= 1
    assert not any(shows(reported.value, each) for each in registry.values())


@given(st.sampled_from(REAL), st.data())
def test_unseen_characters_hide_nothing(value: str, data: st.DataObject) -> None:
    """However many of them, of whatever kinds, stand between the characters of a secret, also in JSON."""
    runs = st.text(UNSEEN, max_size=3) | st.sampled_from(["\u0336", "\u20e0", "\ufe0f\u0301"])
    hidden = value[0] + "".join(data.draw(runs) + each for each in value[1:])
    secrets = Secrets.of({"k": value})
    for text in (hidden, inside(hidden)):
        assert secrets.redact_text(f"<{text}>") == Redacted("<[REDACTED:k]>", 1)


def test_the_unseen_characters_are_those_of_unicode() -> None:
    """All of its default ignorable code points, and no other."""
    assert frozenset(UNSEEN) == DEFAULT_IGNORABLE
    assert all(has_invisible(each) for each in UNSEEN)
    assert all(is_blank(each) for each in UNSEEN)


def test_the_unseen_characters_are_found_in_bytes() -> None:
    """Those and the marks of no script are hinted at, and nothing else is removed."""
    unseen = DEFAULT_IGNORABLE | COMBINING_MARKS
    remove = escape_syntax(("unseen",)).pattern.fullmatch
    codes = (*range(0xD800), *range(0xE000, 0x110000))
    assert {each for each in map(chr, codes) if remove(each.encode())} == unseen
    assert all("unseen" in find_escape_kinds(each.encode()) for each in unseen)


@given(st.sets(st.sampled_from(REAL), min_size=1), JSON, st.data())
def test_never_reported(values: set[str], value: Any, data: st.DataObject) -> None:
    """Wherever in a JSON value a secret is put, no string of the result shows it, nor the JSON that is made of it."""
    planted = data.draw(holding(value, sorted(values)))
    before = copy.deepcopy(planted)
    reported = Secrets.of({"k": values}).redact_json(planted)
    written = json.dumps(reported.value)
    assert reported.count >= 1
    assert planted == before
    for secret in values:
        assert not any(shows(each, secret) for each in texts(reported.value))
        assert inside(secret) not in written
        assert secret not in json.dumps(reported.value, ensure_ascii=False)


@given(REGISTRIES, JSON, st.data())
def test_nothing_lost(registry: dict[str, str], value: Any, data: st.DataObject) -> None:
    """A redacted value has as many members and items as before, in the same order."""
    planted = data.draw(holding(value, sorted(registry.values())))
    assert shape(built(registry).redact_json(planted).value) == shape(planted)


@given(REGISTRIES, JSON, st.data())
def test_once(registry: dict[str, str], value: Any, data: st.DataObject) -> None:
    """What was redacted is not redacted again: it comes back itself."""
    secrets = built(registry)
    reported = secrets.redact_json(data.draw(holding(value, sorted(registry.values()))))
    again = secrets.redact_json(reported.value)
    assert again.count == 0
    assert again.value is reported.value


@given(REGISTRIES, st.text(ODD), st.text(ODD))
def test_text_once(registry: dict[str, str], before: str, behind: str) -> None:
    """Nothing is found in a text that was redacted, whatever stands beside the markers."""
    secrets = built(registry)
    reported = secrets.redact_text(
        behind.join([before, *registry.values(), *map("[REDACTED:{}]".format, registry), before])
    )
    assert not secrets.found_in(reported.value)
    assert secrets.redact_text(reported.value) == Redacted(reported.value, 0)


@given(JSON)
def test_clean(value: Any) -> None:
    """A value without a secret comes back itself."""
    reported = Secrets.of({"k": "a secret that nobody generates"}).redact_json(value)
    assert reported.value is value
    assert reported.count == 0


@given(st.text(), st.text("sk-live_[]RED:\\"))
def test_any_text(text: str, more: str) -> None:
    """Any text at all is read without an error, and is the same where it shows nothing."""
    assert Secrets.of({"k": "another secret that nobody generates"}).redact_text(text + more) == Redacted(
        text + more, 0
    )


@given(st.lists(st.sampled_from(["sk-live-1", "pk-test-22", "filler", "[REDACTED:k]", "\n"])), st.sampled_from(" ,;"))
def test_counted(words: list[str], between: str) -> None:
    """As many places are counted as hold a secret, and as many markers come to stand."""
    secrets = {"sk-live-1": "k", "pk-test-22": "two"}
    reported = Secrets.of({name: value for value, name in secrets.items()}).redact_text(between.join(words))
    assert reported.count == sum(each in secrets for each in words)
    assert reported.value == between.join(f"[REDACTED:{secrets[each]}]" if each in secrets else each for each in words)


@given(st.text("abc", min_size=12, max_size=30), st.data())
def test_overlapping(text: str, data: st.DataObject) -> None:
    """Whatever overlaps, exactly the characters stay that belong to no secret."""
    places = st.tuples(st.integers(0, len(text) - 4), st.integers(4, 9))
    values = [text[start : start + size] for start, size in data.draw(st.lists(places, min_size=1, max_size=8))]
    reported = Secrets.of({"k": values}).redact_text(text)
    hidden = {at for each in values for begin in starts(text, each) for at in range(begin, begin + len(each))}
    assert reported.value.replace("[REDACTED:k]", "") == "".join(
        each for at, each in enumerate(text) if at not in hidden
    )
    assert reported.value.count("[REDACTED:k]") == reported.count


@given(st.text(max_size=3) | st.text("\ud800\udfff ", min_size=4) | st.sampled_from(["[REDACTED:x", "REDACTED"]))
def test_refused_in_other_words(value: str) -> None:
    """A registry that is refused does not quote the value, nor does anything behind the error."""
    with pytest.raises(InputError) as error:
        Secrets.of({"k": ["long enough", value]})
    assert str(error.value).startswith("A value of secret number 1 ")
    assert error.value.__context__ is None
    assert ascii(value)[1:-1] not in repr(error.value) or len(value) < 4
