"""The registry: what it takes, what it refuses, and that it never shows a value."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import pprint
import traceback
from types import MappingProxyType
from typing import Any

import pytest

from emitter.errors import InputError
from emitter.redaction import NO_SECRETS, Redacted, Secrets

VALUE = "sk-live-51H8xyz"
SECRETS = Secrets.of({"stripe-key": VALUE, "two": (each for each in ["first-one", "second-one"])})


@pytest.mark.parametrize(
    ("registry", "message"),
    [
        pytest.param([VALUE], "not a mapping", id="list"),
        pytest.param(None, "not a mapping", id="nothing"),
        pytest.param(VALUE, "not a mapping", id="text"),
        pytest.param({"": VALUE}, "id of secret number 1", id="empty id"),
        pytest.param({"ok": "value", VALUE + "]": "k"}, "id of secret number 2", id="bracket in an id"),
        pytest.param({"a\nb": VALUE}, "id of secret number 1", id="line break in an id"),
        pytest.param({"a\u200bb": VALUE}, "id of secret number 1", id="unseen character in an id"),
        pytest.param({'a"b': VALUE}, "id of secret number 1", id="quote in an id"),
        pytest.param({"a%41": VALUE}, "id of secret number 1", id="escape in an id"),
        pytest.param({"\ud800": VALUE}, "id of secret number 1", id="half a character in an id"),
        pytest.param({"x" * 129: VALUE}, "id of secret number 1", id="long id"),
        pytest.param({5: VALUE}, "id of secret number 1", id="number as an id"),
        pytest.param({"ok": "value", f"my {VALUE}": VALUE}, "marker of secret number 2", id="value in its id"),
        pytest.param({VALUE: "short", "b": VALUE}, "marker of secret number 1", id="value in another's id"),
        pytest.param({"c2stbGl2ZS01MUg4eHl6": VALUE}, "marker of secret number 1", id="value in base64 as an id"),
        pytest.param({"stripe": "D:stri"}, "marker of secret number 1", id="value across a marker"),
        pytest.param({VALUE: "x", "b": [VALUE, ""]}, "marker of secret number 1", id="the id before the value"),
        pytest.param({"a": VALUE, "b": ""}, "secret number 2 has fewer", id="empty value"),
        pytest.param({VALUE: "aws"}, "A value of secret number 1 has fewer", id="id and value, the wrong way round"),
        pytest.param({"b": "abc"}, "A value of secret number 1 has fewer", id="short value"),
        pytest.param({"b": " abc\n"}, "A value of secret number 1 has fewer", id="short but for space"),
        pytest.param({"b": "\u200babc"}, "A value of secret number 1 has fewer", id="short but for something unseen"),
        pytest.param({"b": "%41%42%43"}, "A value of secret number 1 has fewer", id="short once it is read"),
        pytest.param({"b": "abcd\ud800"}, "A value of secret number 1 contains a lone", id="half a character"),
        pytest.param({"b": "REDACTED"}, "A value of secret number 1 is part of every marker", id="marker's word"),
        pytest.param(
            {"b": "x[REDACTED:b]x"},
            "A value of secret number 1 is part of every marker or contains",
            id="marker inside",
        ),
        pytest.param({"b": 12345}, "A value of secret number 1 is not a string", id="number"),
        pytest.param({"b": None}, "A value of secret number 1 is not a string", id="null"),
        pytest.param({"b": b"abcde"}, "A value of secret number 1 is not a string", id="bytes"),
        pytest.param({"b": {"c": VALUE}}, "A value of secret number 1 is not a string", id="mapping"),
        pytest.param({"b": []}, "A value of secret number 1 is not a string", id="no values"),
        pytest.param({"b": [VALUE, [VALUE]]}, "A value of secret number 1 is not a string", id="list in a list"),
    ],
)
def test_refused(registry: Any, message: str) -> None:
    """What cannot be kept safe is refused in words that show no value, nor do those behind the error."""
    with pytest.raises(InputError, match=message) as error:
        Secrets.of(registry)
    reported = "".join(traceback.format_exception(error.value)).split("InputError", 1)[1]
    assert VALUE not in reported
    assert error.value.__cause__ is error.value.__context__ is None
    assert error.value.hint


@pytest.mark.parametrize(
    ("registry", "ids"),
    [
        pytest.param({}, (), id="none"),
        pytest.param({"a": "four"}, ("a",), id="short"),
        pytest.param({"vault://kv/stripe#1 (live)": VALUE}, ("vault://kv/stripe#1 (live)",), id="reference"),
        pytest.param({"schlüssel": VALUE}, ("schlüssel",), id="other letters"),
        pytest.param(MappingProxyType({"a": {"value-1", "value-2"}, "b": "value-1"}), ("a", "b"), id="sets and views"),
        pytest.param({"x" * 128: VALUE}, ("x" * 128,), id="longest id"),
    ],
)
def test_taken(registry: Any, ids: tuple[str, ...]) -> None:
    """Any mapping will do, an id may be a reference, and several ids may have one value."""
    secrets = Secrets.of(registry)
    assert secrets.ids == ids
    assert bool(secrets) is bool(ids)


def reachable(thing: object) -> list[object]:
    """Return everything that can be reached from a thing, but for types and modules."""
    found = {id(thing): thing}
    pending = [thing]
    for each in pending:
        for other in gc.get_referents(each):
            if id(other) not in found and not isinstance(other, type | type(gc)):
                found[id(other)] = other
                pending.append(other)
    return list(found.values())


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        ascii,
        "{}".format,
        pprint.pformat,
        dir,
        dataclasses.asdict,
        dataclasses.astuple,
        copy.copy,
        copy.deepcopy,
    ],
    ids=lambda each: each.__name__,
)
def test_shows_ids_only(show: Any) -> None:
    """However a registry is looked at, its ids may be seen and its values may not."""
    assert not any(each in f"{show(SECRETS)!r}" for each in (VALUE, "first-one", "second-one"))
    assert repr(SECRETS) == "Secrets(ids=('stripe-key', 'two'))"


def test_holds_no_value() -> None:
    """No value can be reached from a registry, in whatever form: it keeps an automaton only."""
    kept = [each for each in reachable(SECRETS) if isinstance(each, str | bytes)]
    assert kept
    assert not any(SECRETS.found_in(str(each)) for each in kept)


def test_copies_are_of_use() -> None:
    """A copy redacts like the registry, and equals it."""
    for each in (copy.copy(SECRETS), copy.deepcopy(SECRETS), copy.deepcopy([SECRETS])[0]):
        assert each == SECRETS
        assert each.redact_text(VALUE) == Redacted("[REDACTED:stripe-key]", 1)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_not_pickled(protocol: int) -> None:
    """A registry does not leave its process."""
    with pytest.raises(TypeError, match="cannot be pickled") as error:
        pickle.dumps(SECRETS, protocol)
    assert VALUE not in repr(error.value)


def test_frozen() -> None:
    """Nothing of a registry can be changed, and it is not built by hand."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        SECRETS.ids = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        Secrets({"a": VALUE})  # type: ignore[call-arg]
    assert Secrets() == NO_SECRETS
    assert len({SECRETS, copy.copy(SECRETS), NO_SECRETS}) == 2
