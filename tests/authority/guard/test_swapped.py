"""What was approved is what is made: another call under the same id is refused, wherever it differs."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.authority.proposals import make_digest_object
from emitter.errors import ApprovalPending, OtherCall
from tests.authority.guard.parts import CEO, MOM, proven, resolved

STAGES = ("waiting", "approved", "done")
SECRET = "the PIN is 1234"
DIGEST = make_digest_object(SECRET)
Given = tuple[tuple[Any, ...], dict[str, Any]]


def given(*positional: Any, **named: Any) -> Given:
    """Return what a call is made with."""
    return positional, named


def called(body: Any, other: Any, pointer: str) -> tuple[Given, Given, str]:
    """Return two calls that differ in the body, and where they do."""
    return given(MOM, body), given(MOM, other), f"/parameters/body{pointer}"


SWAPS: dict[str, tuple[Given, Given, str]] = {
    "another recipient": (given(MOM), given(CEO), "/parameters/to"),
    "by name": (given(to=MOM), given(to=CEO), "/parameters/to"),
    "a look-alike": (given(MOM), given("m\u043em@x.org"), "/parameters/to"),
    "another case": (given(MOM), given("Mom@x.org"), "/parameters/to"),
    "a space more": (given(MOM), given(f"{MOM} "), "/parameters/to"),
    "a character that is not seen": (given(MOM), given(f"{MOM}\u200b"), "/parameters/to"),
    "composed otherwise": called("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9"), ""),
    "in an object": called({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "/a/b/1"),
    "in an object in a list": called([{"a": 1}], [{"a": 2}], "/0/a"),
    "the order of a list": called([1, 2], [2, 1], "/0"),
    "an entry more": called([1], [1, 1], ""),
    "a member more": called({"a": 1}, {"a": 1, "b": 2}, ""),
    "a member less": called({"a": 1, "b": 2}, {"a": 1}, "/b"),
    "a member by another name": called({"a": 1}, {"b": 1}, "/a"),
    "true for one": called(1, True, ""),
    "false for nought": called(0, False, ""),
    "a text for a number": called(1, "1", ""),
    "a text for nothing": called(None, "null", ""),
    "an empty text for nothing": called(None, "", ""),
    "an empty list for an empty object": called({}, [], ""),
    "the next number that there is": called(0.3, 0.1 + 0.2, ""),
    "text for bytes": called(b"hi", "hi", ""),
    "bytes for text": called("hi", b"hi", ""),
    "other bytes": called(b"hi", b"ho", ""),
    "bytes in an object": called({"a": b"hi"}, {"a": b"ho"}, "/a"),
    "the default for what was given": (given(MOM, "yo"), given(MOM), "/parameters/body"),
    "what was given for the default": (given(MOM), given(MOM, "yo"), "/parameters/body"),
    "a positional argument more": (given(MOM, "hi"), given(MOM, "hi", 1), "/parameters/more"),
    "a keyword argument more": (given(MOM), given(MOM, bcc=CEO), "/parameters/headers"),
    "a keyword argument less": (given(MOM, bcc=CEO), given(MOM), "/parameters/headers/bcc"),
    "a keyword argument by another name": (given(MOM, cc=CEO), given(MOM, bcc=CEO), "/parameters/headers/cc"),
    "the end of a long text": called("x" * 5_000, "x" * 4_999 + "y", ""),
    "what was kept back": (given(MOM, pin=SECRET), given(MOM, pin="the PIN is 4321"), "/parameters/pin"),
    "the digest of what was kept back": (given(MOM, pin=SECRET), given(MOM, pin=DIGEST), "/parameters/pin"),
    "its digest as a text": (given(MOM, pin=SECRET), given(MOM, pin=DIGEST["s256"]), "/parameters/pin"),
    "the digest for a long text": called("x" * 5_000, make_digest_object("x" * 5_000, excerpt=True), ""),
    "the digest for bytes": called(b"hi", make_digest_object(b"hi"), ""),
    "the digest object's own digest": called(DIGEST, make_digest_object(DIGEST), ""),
}
SAME: dict[str, tuple[Given, Given]] = {
    "by name": (given(MOM, "hi"), given(body="hi", to=MOM)),
    "the default, given": (given(MOM), given(MOM, "hi")),
    "another order of members": (given(MOM, {"a": 1, "b": 2}), given(MOM, {"b": 2, "a": 1})),
    "what looks like a digest": (given(MOM, DIGEST), given(MOM, dict(DIGEST))),
}


class Office:
    """An authority, and a guarded tool with every kind of parameter."""

    def __init__(self) -> None:
        self.authority = Authority()
        self.sent: list[Any] = []

        def send_email(to: Any, body: Any = "hi", *more: Any, pin: Any = None, **headers: Any) -> str:
            self.sent.append((to, body, more, pin, headers))
            return "sent"

        self.guard = self.authority.guard(send_email, digested=["pin"])

    def call(self, given: Given) -> Any:
        """Make the call with an id."""
        return self.guard.call("c1", *given[0], **given[1])

    def come_to(self, stage: str, given: Given) -> None:
        """Take a call as far as a stage."""
        with pytest.raises(ApprovalPending) as waiting:
            self.call(given)
        if stage != "waiting":
            resolved(self.authority, waiting.value.decision_id)
        if stage == "done":
            assert self.call(given) == "sent"


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("one", "other", "pointer"), SWAPS.values(), ids=SWAPS)
def test_another_call_under_the_same_id_is_refused(one: Given, other: Given, pointer: str, stage: str) -> None:
    """Whether the first waits, was approved, or was made; the error tells the place, and nothing is done."""
    office = Office()
    office.come_to(stage, one)
    before = list(office.sent)

    with pytest.raises(OtherCall) as refused:
        office.call(other)

    assert refused.value.pointer == pointer
    assert office.sent == before
    if stage == "approved":
        assert office.call(one) == "sent"
        assert len(office.sent) == 1
        proven(office.authority)


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same_call_may_be_spelled_otherwise(one: Given, other: Given) -> None:
    """What is one JSON value is one call, made once."""
    office = Office()
    office.come_to("approved", one)

    assert office.call(other) == office.call(one) == "sent"
    assert len(office.sent) == 1


BASE: dict[str, Any] = {
    "name": "send",
    "operation": {"tool": "send_email"},
    "capability": "mail",
    "target": "inbox",
    "account": "me",
    "step_id": "s1",
    "workflow_id": "w",
    "spends": lambda _: {"budget_usd": 5},
}
TERMS: dict[str, dict[str, Any]] = {
    "name": {"name": "wipe"},
    "operation": {"operation": {"tool": "wipe"}},
    "vocabulary": {"vocabulary": "urn:acme:tools"},
    "capability": {"capability": "admin"},
    "target": {"target": "outbox"},
    "target by a function": {"target": lambda given: str(given["body"])},
    "account": {"account": "you"},
    "no account": {"account": None},
    "step": {"step_id": "s2"},
    "spends more": {"spends": lambda _: {"budget_usd": 6}},
    "spends less": {"spends": lambda _: {"budget_usd": 4}},
    "spends of something else": {"spends": lambda _: {"budget_eur": 5}},
    "spends nothing": {"spends": None},
    "more side effects": {"spends": lambda _: {"budget_usd": 5, "max_side_effects": 2}},
    "a longer time": {"ttl_seconds": 901},
    "a lower risk": {"risk_level": "low"},
    "not revocable": {"revocable": False},
    "a parameter left out": {"exclude": ["body"]},
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("changed", TERMS.values(), ids=TERMS)
def test_a_call_is_approved_on_the_terms_of_its_guard(changed: dict[str, Any], stage: str) -> None:
    """A guard with other terms is another one: it neither makes the call nor answers with what it returned."""
    authority, sent = Authority(), list[str]()

    def send(to: str, body: str = "hi") -> None:
        sent.append(f"{body} to {to}")

    guard, other = authority.guard(send, **BASE), authority.guard(send, **{**BASE, **changed})
    with pytest.raises(ApprovalPending) as waiting:
        guard.call("c1", MOM)
    if stage != "waiting":
        resolved(authority, waiting.value.decision_id)
    if stage == "done":
        guard.call("c1", MOM)
    before = list(sent)

    with pytest.raises(OtherCall) as refused:
        other.call("c1", MOM)

    assert sent == before
    (option,) = changed
    elsewhere = {"exclude": "/parameters/body", "operation": "/operations/0"}  # of the proposal
    assert refused.value.pointer == elsewhere.get(option, f"/{option}")


def test_another_function_is_named() -> None:
    """A script that one process runs and another imports is two functions, which nobody would guess."""
    authority = Authority()

    def one(x: int) -> None: ...

    def other(x: int) -> None: ...

    with pytest.raises(ApprovalPending):
        authority.guard(one, name="act").call("c1", 1)
    with pytest.raises(OtherCall) as refused:
        authority.guard(other, name="act").call("c1", 1)

    assert refused.value.pointer == "/function"
    assert [name in refused.value.hint for name in ("locals>.one", "locals>.other", "python -m")] == [True] * 3
