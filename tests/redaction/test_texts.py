"""What becomes of texts, case by case."""

from __future__ import annotations

import re

import pytest

from emitter.redaction import NO_SECRETS, Redacted, Secrets
from emitter.redaction.matcher import SecretSpan, iter_decodings, merge_overlaps
from tests.redaction.planting import WRITTEN, inside

KEY = "sk-live-51H8xyz"
AWKWARD = 'a+b/c "d" \\e\tf&g<h>%i\'é€😀\nz'
SECRETS = Secrets.of({"stripe-key": KEY, "db": ["postgres://u:p@h/db", "correct horse"], "awkward": AWKWARD})
AROUND = {
    "in JSON in a whole document": (r'{\\"a\\": \[\\"', r'\\"\]}'),
    "in base64 behind a byte": ("/", "[a-zA-Z0-9/+]{1,4}=*"),
    "in base64 behind two bytes": ("dT", "[a-zA-Z0-9/+]{1,4}=*"),
    "in Python": ("['\"]", "['\"]"),
    "in Python as ASCII": ("['\"]", "['\"]"),
    "in Python as bytes": ("b['\"]", "['\"]"),
}
"""Patterns of what is left, where more was written than the secret."""


@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.parametrize(("name", "value"), [("stripe-key", KEY), ("awkward", AWKWARD)], ids=["key", "awkward"])
def test_written(way: str, name: str, value: str) -> None:
    """A secret is found however it is written, and everything of it goes."""
    reported = SECRETS.redact_text(f"It is {WRITTEN[way](value)}.")
    assert reported.count == 1
    before, behind = AROUND.get(way, ("", ""))
    assert re.fullmatch(rf"It is {before}\[REDACTED:{name}\]{behind}\.", reported.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("nothing here", "nothing here", id="nothing"),
        pytest.param(KEY, "[REDACTED:stripe-key]", id="alone"),
        pytest.param(f"{KEY}{KEY}", "[REDACTED:stripe-key][REDACTED:stripe-key]", id="side by side"),
        pytest.param(f"{KEY.upper()} {KEY[::-1]}", f"{KEY.upper()} {KEY[::-1]}", id="in other case and reversed"),
        pytest.param(f"x{KEY}x correct horse", "x[REDACTED:stripe-key]x [REDACTED:db]", id="two"),
        pytest.param("correct+horse correct%20horse", "[REDACTED:db] [REDACTED:db]", id="space in a query"),
        pytest.param(f"\ud800{KEY}\udc00", "\ud800[REDACTED:stripe-key]\udc00", id="between halves"),
        pytest.param(f"日本{KEY}語😀", "日本[REDACTED:stripe-key]語😀", id="between wide characters"),
        pytest.param(f"\0{KEY}\0", "\0[REDACTED:stripe-key]\0", id="between zeros"),
        pytest.param("100% R&D \\o/ %zz &x; &nosuch; \\u12 \\U00110000", None, id="no escapes after all"),
        pytest.param("%73k-live-51H8xy\\u007a", "[REDACTED:stripe-key]", id="escaped at both ends"),
        pytest.param("sk&#45;li\\u0076e%2D51H8xyz", "[REDACTED:stripe-key]", id="three ways at once"),
        pytest.param(f"C:\\{KEY[:-1]}%7a", "C:\\[REDACTED:stripe-key]", id="escape behind a backslash"),
        pytest.param(f"\\n{KEY}\\n", "\\n[REDACTED:stripe-key]\\n", id="between escapes"),
        pytest.param("\ufeffs\u200bk-live\xad-51H8xyz\u200d", "\ufeff[REDACTED:stripe-key]\u200d", id="unseen inside"),
        pytest.param("[REDACTED:stripe-key] and [REDACTED:db]", None, id="markers"),
        pytest.param("[REDACTED:somebody-else]", None, id="another's marker"),
        pytest.param(f"[REDACTED:{KEY}]", "[REDACTED:[REDACTED:stripe-key]]", id="hidden in a marker"),
        pytest.param(f"[REDACTED:stripe-key{KEY}", "[REDACTED:stripe-key[REDACTED:stripe-key]", id="half a marker"),
    ],
)
def test_text(text: str, expected: str | None) -> None:
    """Each place becomes one marker, what stands beside it stays, and other texts come back themselves."""
    reported = SECRETS.redact_text(text)
    assert reported.value == (text if expected is None else expected)
    assert SECRETS.found_in(text) is (reported.count > 0) is (reported.value != text)
    assert SECRETS.redact_text(reported.value) == Redacted(reported.value, 0)


@pytest.mark.parametrize(
    ("values", "text", "expected"),
    [
        pytest.param({"a": "secret", "b": "secret-two"}, "secret-two secret", "[b] [a]", id="one begins another"),
        pytest.param({"a": "two-secret", "b": "secret"}, "two-secret secret", "[a] [b]", id="one ends another"),
        pytest.param({"a": "cret", "b": "secrets"}, "secrets cret", "[b] [a]", id="one inside another"),
        pytest.param({"a": "abcdef", "b": "defghi"}, "xabcdefghix", "x[a]x", id="overlap"),
        pytest.param({"a": "abcdef", "b": "defghi", "c": "hijkl"}, "abcdefghijkl.", "[a][c].", id="chain"),
        pytest.param({"a": "abcd", "b": "defghijk", "c": "efgh"}, "abcdefghijk", "[a][c]", id="one across two"),
        pytest.param({"a": "abcd", "b": "cdef"}, "abcdcdefabcdef", "[a][b][a]", id="side by side"),
        pytest.param({"a": "aaaa"}, "a" * 11, "[a][a]", id="overlaps itself"),
        pytest.param({"a": "same", "b": "same"}, "same", "[a]", id="the same twice"),
        pytest.param({"a": "(.*)+$", "b": "[a-z]|x"}, "(.*)+$ [a-z]|x abc", "[a] [b] abc", id="signs of a pattern"),
        pytest.param({"a": "spaced\r\n"}, "spaced out", "[a] out", id="space around"),
        pytest.param({"a": "line\nbreak"}, "line\nbreak line\\nbreak line%0Abreak", "[a] [a] [a]", id="line break"),
        pytest.param({"a": "]abcd"}, "[REDACTED:a]abcd", "[a][a]", id="begins as a marker ends"),
        pytest.param({"a": "abcd[", "b": "key-1"}, "abcdkey-1", "[a][b]", id="ends as a marker begins"),
        pytest.param({"a": "abc%41d"}, "abc%41d abc%2541d abc\\u002541d", "[a] [a] [a]", id="looks like an escape"),
        pytest.param({"a": 'q"%41z'}, 'q\\"%41z q%22%2541z', "[a] [a]", id="looks like an escape, escaped"),
        pytest.param({"a": "abcd%C3"}, "abcdé", "[a]", id="a character's first byte"),
        pytest.param({"a": "%A9abcd"}, "éabcd", "[a]", id="a character's last byte"),
        pytest.param(
            {"a": "new-key-1"}, "C:\\new%2dkey-1 100%new\\u002dkey-1", "C:\\[a] 100%[a]", id="behind half an escape"
        ),
        pytest.param({"a": "4444"}, "NDQ0NA== NDQ0NA=== NDQ0NA NDQ0NAx", "[a] [a]= [a] [a]x", id="base64 with padding"),
        pytest.param({"a": "abcde"}, "YWJjZGU= YWJjZGU", "[a] [a]", id="base64 with little padding"),
    ],
)
def test_values(values: dict[str, str], text: str, expected: str) -> None:
    """Overlapping secrets leave nothing over, the longest counts, and no value is read as a pattern."""
    secrets = Secrets.of(values)
    reported = secrets.redact_text(text)
    short = reported.value
    for name in values:
        short = short.replace(f"[REDACTED:{name}]", f"[{name}]")
    assert short == expected
    assert secrets.redact_text(reported.value).count == 0


def test_apart() -> None:
    """Places that are chosen touch and never overlap."""
    assert merge_overlaps([SecretSpan(3, 11, 1), SecretSpan(4, 8, 2), SecretSpan(0, 4, 0)]) == [
        SecretSpan(0, 4, 0),
        SecretSpan(4, 11, 2),
    ]
    assert merge_overlaps([]) == []


def test_marks_that_never_settle() -> None:
    """Where each marker completes the next secret again and again, the whole text is hidden in the end."""
    values = [f"s{at}{at}{at}[" for at in range(20)]
    reported = Secrets.of({"first": [*values, "start"]}).redact_text(
        "".join(each[:-1] for each in reversed(values)) + "start"
    )
    assert reported.value == "[REDACTED:first]"


@pytest.mark.parametrize("layers", range(6))
def test_layers(layers: int) -> None:
    """A secret is found under as many layers of escapes as are promised."""
    text = AWKWARD
    for _ in range(layers):
        text = inside(text)
    assert SECRETS.redact_text(text) == Redacted("[REDACTED:awkward]", 1)


def test_no_secrets() -> None:
    """Without secrets everything comes back itself."""
    text, value = f"{KEY} \\u0041", {"a": {1, 2}}
    assert not NO_SECRETS
    assert not NO_SECRETS.found_in(text)
    assert NO_SECRETS.redact_text(text) == Redacted(text, 0)
    assert NO_SECRETS.redact_json(value).value is value


@pytest.mark.parametrize(
    "unit",
    [
        "\\",
        "\\\\u0041",
        "%25",
        "%2525",
        "&amp;",
        "&amp;amp;",
        "\u200b",
        "\ud83d\ude00",
        "&#92;u005c%5c\\x5c\u200b",
        "é",
    ],
    ids=ascii,
)
def test_linear(unit: str) -> None:
    """Work grows as the text does: readings of some twenty times its length at most, however often it is escaped."""
    for size in (100, 10_000):
        text = (unit * size).encode("utf-8", "surrogatepass")
        assert sum(len(each.data) for each in iter_decodings(text)) <= 22 * len(text)


def test_many() -> None:
    """Among thousands of secrets each is found as itself."""
    values = {f"id-{at}": f"value-{at:06}" for at in range(3_000)}
    reported = Secrets.of(values).redact_text(" ".join(values.values()))
    assert reported.value == " ".join(f"[REDACTED:{name}]" for name in values)
    assert reported.count == len(values)
