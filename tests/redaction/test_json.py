"""What becomes of JSON values."""

from __future__ import annotations

import json
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError
from emitter.redaction import Redacted, Secrets
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH = 100_000 if FULL else 20_000
KEY, OTHER = "sk-live-51H8xyz", "pk-test-0042"
SECRETS = Secrets.of({"k": KEY, "o": OTHER})


class Word(str, Enum):
    """A text that is an enumeration's member."""

    KEY = "sk-live-51H8xyz"


@pytest.mark.parametrize(
    ("value", "expected", "count"),
    [
        pytest.param(
            {"a": KEY, "bag": {"b": [f"x {KEY}", {"c": f"{KEY}!"}]}, "n": 1},
            {"a": "[REDACTED:k]", "bag": {"b": ["x [REDACTED:k]", {"c": "[REDACTED:k]!"}]}, "n": 1},
            3,
            id="nested",
        ),
        pytest.param(KEY, "[REDACTED:k]", 1, id="text"),
        pytest.param({"a": ([(KEY,), 1],)}, {"a": ([("[REDACTED:k]",), 1],)}, 1, id="tuples and lists by turns"),
        pytest.param({KEY: 1}, {"[REDACTED:k]": 1}, 1, id="key"),
        pytest.param({KEY: OTHER}, {"[REDACTED:k]": "[REDACTED:o]"}, 2, id="key and value"),
        pytest.param((1, (KEY,)), (1, ("[REDACTED:k]",)), 1, id="tuples"),
        pytest.param(
            MappingProxyType({"a": MappingProxyType({KEY: None})}), {"a": {"[REDACTED:k]": None}}, 1, id="views"
        ),
        pytest.param([Word.KEY, {Word.KEY: 1}], ["[REDACTED:k]", {"[REDACTED:k]": 1}], 2, id="members"),
        pytest.param(
            {1: KEY, None: 2.5, False: 0}, {1: "[REDACTED:k]", None: 2.5, False: 0}, 1, id="keys that are no texts"
        ),
        pytest.param([json.dumps({"k": KEY})] * 2, ['{"k": "[REDACTED:k]"}'] * 2, 2, id="JSON inside"),
        pytest.param([KEY[:5], KEY[5:]], [KEY[:5], KEY[5:]], 0, id="in two parts"),
        pytest.param({"[REDACTED:k]": "[REDACTED:o]"}, {"[REDACTED:k]": "[REDACTED:o]"}, 0, id="markers"),
        pytest.param([{}, [], (), "", None, True, 0, -1.5], [{}, [], (), "", None, True, 0, -1.5], 0, id="empty"),
    ],
)
def test_value(value: Any, expected: Any, count: int) -> None:
    """Every string at any depth is redacted, and each place counts."""
    assert SECRETS.redact_json(value) == Redacted(expected, count)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param([KEY, f"{KEY[:-1]}\\u007a"], ["[REDACTED:k]", "[REDACTED:k]~2"], id="two"),
        pytest.param([KEY, "[REDACTED:k]"], ["[REDACTED:k]~2", "[REDACTED:k]"], id="one was there"),
        pytest.param(
            [KEY, "%73k-live-51H8xyz", "[REDACTED:k]~2", "a"],
            ["[REDACTED:k]", "[REDACTED:k]~3", "[REDACTED:k]~2", "a"],
            id="and its number",
        ),
        pytest.param([f"a{KEY}", f"a{OTHER}", KEY], ["a[REDACTED:k]", "a[REDACTED:o]", "[REDACTED:k]"], id="apart"),
    ],
)
def test_keys(keys: list[str], expected: list[str]) -> None:
    """No key takes the place of another, and their order stays."""
    reported = SECRETS.redact_json({key: at for at, key in enumerate(keys)})
    assert list(reported.value.items()) == [(key, at) for at, key in enumerate(expected)]


def test_number_that_completes_a_secret() -> None:
    """The number of a key does not make a secret of what was left of it."""
    secrets = Secrets.of({"k": [KEY, "abc~2", "abc~3"]})
    reported = secrets.redact_json({f"{KEY}abc": 0, f"%73{KEY[1:]}abc": 1})
    assert secrets.redact_json(reported.value) == Redacted(reported.value, 0)
    assert list(reported.value.values()) == [0, 1]


def test_many_keys_alike() -> None:
    """Thousands of keys that become equal all stay."""
    ways = [[each, f"%{ord(each):02x}"] for each in KEY[:11]]
    keys = ["".join(way[at >> place & 1] for place, way in enumerate(ways)) + KEY[11:] for at in range(2_048)]
    reported = SECRETS.redact_json(dict.fromkeys(keys, 0))
    assert reported.count == len(reported.value) == len(keys)


@pytest.mark.parametrize(
    ("wrap", "depth", "count"),
    [
        pytest.param(lambda value: [value], DEPTH, 1, id="arrays"),
        pytest.param(lambda value: {"a": (value,)}, DEPTH // 2, 1, id="objects and tuples"),
        pytest.param(lambda value: {KEY: value}, DEPTH // 5, DEPTH // 5 + 1, id="objects with the secret as a key"),
    ],
)
def test_deep(wrap: Callable[[Any], Any], depth: int, count: int) -> None:
    """No depth is too much."""
    value: Any = KEY
    for _ in range(depth):
        value = wrap(value)
    found = SECRETS.redact_json(value)
    assert found.count == count
    innermost = found.value
    while not isinstance(innermost, str):
        innermost = next(iter(innermost.values() if isinstance(innermost, dict) else innermost))
    assert innermost == "[REDACTED:k]"


def test_untouched() -> None:
    """The value that was handed over stays as it was, and comes back itself where nothing is found."""
    value = {"a": [KEY, {"b": KEY}]}
    reported = SECRETS.redact_json(value)
    assert value == {"a": [KEY, {"b": KEY}]}
    assert SECRETS.redact_json(reported.value).value is reported.value


def test_looked_closer_and_nothing_there() -> None:
    """Where only the whole looked suspicious, the value itself comes back."""
    secrets = Secrets.of({"k": "left\0right"})
    value = {"a": ["left", "right"]}
    assert secrets.redact_json(value).value is value
    assert secrets.redact_json(value).count == 0


def test_shared() -> None:
    """What stands in two places counts twice, as it does in the JSON."""
    shared = {"a": KEY}
    assert SECRETS.redact_json([shared, shared]) == Redacted([{"a": "[REDACTED:k]"}] * 2, 2)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        pytest.param({"a": {KEY}}, "set", id="set"),
        pytest.param([KEY.encode()], "bytes", id="bytes"),
        pytest.param({"a": object()}, "object", id="object"),
        pytest.param({("a", KEY): 1}, "tuple", id="tuple as a key"),
    ],
)
def test_no_json(value: Any, word: str) -> None:
    """What is no JSON is refused, since a secret could hide in it; the error shows its type only."""
    with pytest.raises(InputError, match=rf"type {word} is not JSON") as error:
        SECRETS.redact_json(value)
    assert KEY not in repr(error.value)


def test_circle() -> None:
    """A value that holds itself and a secret is refused; one without a secret comes back."""
    circle: list[Any] = []
    circle.append({"a": [circle]})
    assert SECRETS.redact_json(circle).value is circle
    circle.append(KEY)
    with pytest.raises(InputError, match="contains itself"):
        SECRETS.redact_json(circle)
