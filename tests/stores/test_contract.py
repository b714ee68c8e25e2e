"""What every store does, wherever it keeps things."""

from __future__ import annotations

import json
import sqlite3
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy.exc import OperationalError

from emitter.errors import InputError, StoreFailed
from emitter.events import ClarificationRequested, RunEvent
from emitter.stores import Entry, NewEntry
from tests.stores.making import entry, event, events, fresh, ids, never

if TYPE_CHECKING:
    from collections.abc import Callable

_LONG = "\N{GRINNING FACE}" * 100_000
_WORDS = {
    "plain": "run:node:0:k",
    "empty": "",
    "a space": "a b ",
    "a backslash": "\\x00 \\ud83d",
    "a control": "\x00\x01\n\x7f",
    "a quote": 'it\'s "quoted" 100%s :run',
    "every plane": "é\u4f60\N{GRINNING FACE}\u202e\ufeff",
    "a surrogate": "\ud83d alone",
    "two surrogates": "\ud83d\ude00",
    "long": _LONG,
    "long, and one more": _LONG + "!",
}


def test_nothing_is_kept_at_first(store: Any) -> None:
    """What nobody has handled is not found, and a run that nobody knows has an empty log."""
    assert store.find("run", "c") is None
    assert store.events("run") == ()


def test_the_first_call_runs_the_handler(store: Any) -> None:
    """What it returns is kept, and its events are numbered."""
    kept = store.get_or_create("run", "c", lambda: fresh("n", "a", "b"))
    assert kept.created
    assert kept.entry == entry("n") == store.find("run", "c")
    assert [(each.event_id, each.sequence) for each in kept.events] == [("a", 0), ("b", 1)]
    assert store.events("run") == tuple(each.to_json() for each in kept.events)


def test_later_calls_get_what_was_kept(store: Any) -> None:
    """No handler runs, nothing is added to the log, and the outcome is the first one's."""
    first = store.get_or_create("run", "c", lambda: fresh("n", "a"))
    for _ in range(2):
        again = store.get_or_create("run", "c", never)
        assert (again.entry, again.events, again.created) == (first.entry, (), False)
    assert ids(store.events("run")) == ["a"]


@pytest.mark.parametrize("other", [("other", "c"), ("run", "other"), ("c", "run"), ("run\n", "c"), ("RUN", "c")])
def test_another_key_is_another_envelope(store: Any, other: tuple[str, str]) -> None:
    """The run and the correlation id name an envelope together."""
    store.get_or_create("run", "c", lambda: fresh("n"))
    assert store.find(*other) is None
    assert store.get_or_create(*other, lambda: fresh("another")).created
    assert store.find("run", "c") == entry("n")


def test_each_run_has_a_log_of_its_own(store: Any) -> None:
    """Numbers count from 0 in each run, whichever call adds to it."""
    store.append("run", [event("a")])
    store.append("other", events("x", "y", run="other"))
    store.get_or_create("run", "c", lambda: fresh("n", "b", "c"))
    assert [each.sequence for each in store.append("run", events("d", "e"))] == [3, 4]
    assert ids(store.events("run")) == ["a", "b", "c", "d", "e"]
    assert ids(store.events("other")) == ["x", "y"]


def test_nothing_can_be_appended(store: Any) -> None:
    """No events are added to a log without a trace."""
    assert store.append("run", ()) == ()
    assert store.append("run", [event("a")])[0].sequence == 0


@pytest.mark.parametrize(
    ("after", "left"),
    [(-1, "abc"), (-2, "abc"), (-(2**80), "abc"), (0, "bc"), (1, "c"), (2, ""), (99, ""), (2**63 - 1, ""), (2**80, "")],
)
def test_a_log_is_read_from_any_place(store: Any, after: int, left: str) -> None:
    """Those after a number are given, whatever the number is."""
    store.append("run", events(*"abc"))
    assert [each["eventId"] for each in store.events("run", after)] == list(left)


@pytest.mark.parametrize(
    "raised",
    [ValueError("a bug"), KeyboardInterrupt(), sqlite3.OperationalError("a database of the handler's"),
     OperationalError("SELECT", {}, Exception()), StoreFailed("another store")],
    ids=lambda each: type(each).__module__ + "." + type(each).__name__,
)  # fmt: skip
def test_what_a_handler_raises_is_raised(store: Any, raised: BaseException) -> None:
    """Nothing is kept, the error is the handler's own, and the next caller's handler runs."""

    def fail() -> NewEntry:
        raise raised

    with pytest.raises(type(raised)) as caught:
        store.get_or_create("run", "c", fail)
    assert caught.value is raised
    assert store.find("run", "c") is None
    assert store.events("run") == ()
    assert store.get_or_create("run", "c", lambda: fresh("n", "a")).created
    assert ids(store.events("run")) == ["a"]


@pytest.mark.parametrize("word", _WORDS.values(), ids=_WORDS)
def test_any_text_is_kept(store: Any, word: str) -> None:
    """As an id of a run or an envelope, and as content; only JSON's own ambiguity is JSON's."""
    store.get_or_create(word, word, lambda: NewEntry(entry(word), (event(word, word, text=word),)))
    read = json.loads(json.dumps(word))
    assert store.find(word, word) == entry(read)
    (reported,) = store.events(word)
    assert reported["runId"] == reported["eventId"] == reported["payload"]["fields"]["text"] == read


def test_texts_that_look_alike_are_apart(store: Any) -> None:
    """Each of the words is an id of its own."""
    for word in _WORDS.values():
        assert store.get_or_create(word, "c", lambda word=word: fresh(word)).created
        assert store.get_or_create("run", word, lambda word=word: fresh(word)).created


@pytest.mark.parametrize("number", [0, -0.0, 0.1, 1e300, 5e-324, 2**200, -1, True, None])
def test_any_number_is_kept(store: Any, number: object) -> None:
    """Of the same kind and to the last digit."""
    store.get_or_create("run", "c", lambda: fresh(number))
    assert repr(store.find("run", "c").envelope["payload"]["note"]) == repr(number)


def test_frozen_containers_are_kept(store: Any) -> None:
    """As JSON's own; the first caller is given what the others will be."""
    frozen = MappingProxyType({"a": (1, MappingProxyType({"b": ()}))})
    questions = (MappingProxyType({"id": "q", "question": "Which?"}),)
    asked = RunEvent(ClarificationRequested("i", questions), "e", "run", "node", "now", 0, "c")
    kept = store.get_or_create("run", "c", lambda: NewEntry(Entry("k", frozen, frozen), (asked,)))
    assert kept.entry == Entry("k", {"a": [1, {"b": []}]}, {"a": [1, {"b": []}]}) == store.find("run", "c")
    assert store.events("run")[0]["payload"]["questions"] == [{"id": "q", "question": "Which?"}]


def _nested() -> object:
    deep: object = None
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize("odd", [float("nan"), float("-inf"), object(), {1, 2}, b"bytes", {1: 1, "a": 2}, _nested()],
                         ids=["nan", "infinity", "object", "set", "bytes", "keys", "depth"])  # fmt: skip
def test_what_is_no_json_is_refused(store: Any, odd: object) -> None:
    """Nothing of the call is kept."""
    for each in (NewEntry(entry(odd), events("a")), NewEntry(entry(), (event("a"), event("b", odd=odd)))):
        with pytest.raises(InputError, match="not a JSON value") as caught:
            store.get_or_create("run", "c", lambda each=each: each)
        assert caught.value.hint
    with pytest.raises(InputError, match="not a JSON value"):
        store.append("run", [event("a"), event("b", odd=odd)])
    assert store.find("run", "c") is None
    assert store.events("run") == ()
    assert store.append("run", [event("a")])[0].sequence == 0


def test_what_is_given_out_is_the_callers(store: Any) -> None:
    """Nobody changes what is kept: neither who gave it nor who was given it."""
    given: dict[str, Any] = {"payload": {"note": "n"}}
    kept = store.get_or_create("run", "c", lambda: NewEntry(Entry("k", {}, given), events("a")))
    given["payload"]["note"] = kept.entry.envelope["payload"]["note"] = "changed"
    store.find("run", "c").envelope["payload"]["note"] = "changed"
    store.events("run")[0]["payload"]["message"] = "changed"
    assert store.find("run", "c").envelope == {"payload": {"note": "n"}}
    assert store.events("run")[0]["payload"]["message"] == "noted"


def test_two_readings_are_the_same_bytes(store: Any) -> None:
    """Members stand in one order, whatever order they came in."""
    store.get_or_create(
        "run", "c", lambda: NewEntry(Entry("k", {"b": 1, "a": {"d": 2, "c": 3}}, {}), (event("e", z=1, a=2),))
    )
    (read,) = store.events("run")
    assert json.dumps(read) == json.dumps(read, sort_keys=True)
    assert json.dumps(store.find("run", "c").outcome) == '{"a": {"c": 3, "d": 2}, "b": 1}'


def test_a_handler_may_use_the_store(store: Any) -> None:
    """What it adds is there at once, before its own envelope's events; it may handle another envelope."""

    def handle() -> NewEntry:
        assert store.append("run", events("a"))[0].sequence == 0
        assert store.get_or_create("run", "inner", lambda: fresh("inner", "b")).created
        assert ids(store.events("run")) == ["a", "b"]
        return fresh("outer", "c")

    assert store.get_or_create("run", "outer", handle).events[0].sequence == 2
    assert store.find("run", "inner") == entry("inner")
    assert ids(store.events("run")) == ["a", "b", "c"]


def test_what_a_failing_handler_added_stays(store: Any) -> None:
    """It was there when the call that added it returned."""

    def fail() -> NewEntry:
        store.append("run", events("a"))
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        store.get_or_create("run", "c", fail)
    assert ids(store.events("run")) == ["a"]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 86_401])
def test_a_time_that_is_none_is_refused(store_for: Callable[..., Any], timeout: float) -> None:
    """At once, before anything is opened."""
    with pytest.raises(InputError, match="timeout="):
        store_for(timeout=timeout)


def test_what_is_forgotten_is_gone(store: Any) -> None:
    """It is found no longer, its events stay, others are untouched, and the name can be used anew."""
    for name in ("c", "d"):
        store.get_or_create("run", name, lambda: fresh("n", "a"))
    store.forget("run", "c")
    store.forget("run", "c")
    store.forget("run", "nobody")
    assert store.find("run", "c") is None
    assert store.find("run", "d") == entry("n")
    assert len(store.events("run")) == 2
    assert store.get_or_create("run", "c", lambda: fresh("m")).entry == entry("m") == store.find("run", "c")
