"""A call matches a proposal if, and only if, it is the one that was proposed."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority.proposals import DigestedParameter, Mismatch, find_mismatch, make_digest_object, propose
from emitter.errors import InputError
from tests.authority.proposals.values import OPERATION, SMALL, alike, pairs, places
from tests.work import examples

LAW = settings(max_examples=examples(250))
EMAIL = {"to": "mom@example.com", "subject": "Dinner Sunday?", "body": "Hi Mom, are you free?", "copies": 1}


@LAW
@given(pairs(), SMALL, st.data())
def test_only_the_same_parameters_match(two: tuple[Any, Any], longest: int, data: st.DataObject) -> None:
    """Whatever stands as a digest, a call matches exactly where its parameters are the same JSON values."""
    one, other = two
    hidden = data.draw(st.lists(st.sampled_from(places(one)), max_size=2)) if one else []
    found = find_mismatch(propose("send_email", one, digested=hidden, longest=longest), OPERATION, other)
    assert (found is None) == alike(one, other)


@LAW
@given(pairs(), SMALL)
def test_what_is_bound_is_another_thing_for_every_other_call(two: tuple[Any, Any], longest: int) -> None:
    """The parameters in two documents are equal JSON exactly where those of the calls are the same."""
    one, other = (propose("send_email", each, longest=longest).parameters for each in two)
    assert alike(dict(one), dict(other)) == alike(*two)


@pytest.mark.parametrize(
    ("presented", "pointer", "reason"),
    [
        ({**EMAIL, "to": "ceo@example.com"}, "/parameters/to", "differs"),
        ({**EMAIL, "to": "mom@example.com "}, "/parameters/to", "differs"),
        ({**EMAIL, "to": "mom@ex\u0430mple.com"}, "/parameters/to", "differs"),
        ({**EMAIL, "to": ["mom@example.com"]}, "/parameters/to", "differs"),
        ({**EMAIL, "to": None}, "/parameters/to", "differs"),
        ({**EMAIL, "to": b"mom@example.com"}, "/parameters/to", "differs"),
        ({**EMAIL, "copies": True}, "/parameters/copies", "differs"),
        ({**EMAIL, "copies": "1"}, "/parameters/copies", "differs"),
        ({**EMAIL, "copies": 2**53}, "/parameters", "not valid parameters"),
        ({**EMAIL, "copies": float("nan")}, "/parameters", "not valid parameters"),
        ({**EMAIL, "cc": "ceo@example.com"}, "/parameters", "not proposed"),
        ({**EMAIL, "cc": None}, "/parameters", "not proposed"),
        ({name: EMAIL[name] for name in ("to", "subject", "copies")}, "/parameters/body", "missing"),
        ({**EMAIL, "body": "Hi Boss, are you free?"}, "/parameters/body", "differs"),
        ({**EMAIL, "body": EMAIL["body"].encode()}, "/parameters/body", "a different kind"),
        ({**EMAIL, "body": make_digest_object(EMAIL["body"])}, "/parameters/body", "a different kind"),
        ({**EMAIL, "body": None}, "/parameters/body", "a different kind"),
        ([], "/parameters", "not valid parameters"),
        (None, "/parameters", "not valid parameters"),
        ({**EMAIL, 1: 2}, "/parameters", "not valid parameters"),
        ({**EMAIL, "body": "\ud800"}, "/parameters", "not valid parameters"),
    ],
)
def test_another_argument_is_a_mismatch(presented: Any, pointer: str, reason: str) -> None:
    """What differs, is missing or is more is reported by its place, and never by its value."""
    found = find_mismatch(propose("send_email", EMAIL, digested=["body"]), OPERATION, presented)
    assert found is not None
    assert found.pointer == pointer
    assert reason in found.reason
    assert "ceo" not in str(found)


@pytest.mark.parametrize(
    "presented",
    [
        dict(reversed(EMAIL.items())),
        {**EMAIL, "copies": 1.0},
        json.loads(json.dumps(EMAIL)),
    ],
    ids=["another order", "a decimal", "read again"],
)
def test_another_spelling_is_the_same_call(presented: Any) -> None:
    """The order of members and the spelling of numbers say nothing."""
    assert find_mismatch(propose("send_email", EMAIL), "send_email", presented) is None


def test_text_object_and_bytes_never_collide() -> None:
    """A text, an object and bytes that spell the same have digests of their own."""
    calls: list[dict[str, Any]] = [{"x": '{"a":1}'}, {"x": {"a": 1}}, {"x": b'{"a":1}'}, {"x": ['{"a":1}']}]
    proposals = [propose("f", each, digested=["x"]) for each in calls]
    assert len({each.s256 for each in proposals}) == len(calls)
    for index, each in enumerate(proposals):
        assert [find_mismatch(each, "f", call) is None for call in calls] == [
            index == other for other in range(len(calls))
        ]


def test_a_parameter_that_looks_like_a_digest_is_no_digest() -> None:
    """An object with s256 stands as its own digest, and matches itself and nothing that it would be the digest of."""
    looks = make_digest_object("secret")
    proposal = propose("f", {"x": looks})
    assert proposal.parameters["x"] == make_digest_object(looks)
    assert find_mismatch(proposal, "f", {"x": looks}) is None
    assert find_mismatch(proposal, "f", {"x": "secret"}) == Mismatch(
        "/parameters/x", "This is of a different kind than what was proposed."
    )
    assert find_mismatch(propose("f", {"x": "secret"}, digested=["x"]), "f", {"x": looks}) is not None


def test_a_parameter_may_be_called_s256() -> None:
    """The parameters are no value that a digest object could stand for: one of them has any name."""
    call = {"s256": "x", "media_type": "text/plain"}
    proposal = propose("f", call)
    assert proposal.parameters == call
    assert find_mismatch(proposal, "f", call) is None
    assert find_mismatch(proposal, "f", {**call, "s256": "y"}) is not None


@pytest.mark.parametrize(
    ("whole", "looks"),
    [
        ({"name": "a", "data": b"x"}, {"name": "a", "data": make_digest_object(b"x")}),
        ([b"x", b"y"], [b"x", make_digest_object(b"y")]),
        ([b"x", {"a": b"y"}], [b"x", {"a": make_digest_object(b"y")}]),
        ({"s256": b"x", "a": b"y"}, {"s256": b"x", "a": make_digest_object(b"y")}),
    ],
    ids=["an object", "beside bytes", "deeper", "what looks like a digest"],
)
def test_bytes_within_what_is_digested_are_bytes(whole: Any, looks: Any) -> None:
    """What has bytes in it has another digest than what has their digest object in it."""
    proposal = propose("f", {"file": whole}, digested=["file"])
    assert find_mismatch(proposal, "f", {"file": whole}) is None
    assert find_mismatch(proposal, "f", {"file": looks}) is not None
    assert find_mismatch(propose("f", {"file": looks}, digested=["file"]), "f", {"file": whole}) is not None


@pytest.mark.parametrize(
    ("proposed", "presented", "matches"),
    [
        (None, None, True),
        ("42", "42", True),
        ("42", "43", False),
        ("42", None, False),
        (None, "42", False),
        ("", None, False),
    ],
)
def test_the_account_is_part_of_the_call(proposed: str | None, presented: str | None, *, matches: bool) -> None:
    """A call for another account, or for none, is another call."""
    found = find_mismatch(propose("f", {}, account=proposed), "f", {}, account=presented)
    assert (found is None) == matches
    assert matches or (found is not None and found.pointer == "/account")


@pytest.mark.parametrize(
    ("presented", "matches"),
    [
        ("CreateEvent", False),
        ({"operation": "CreateEvent", "service": "Calendar"}, True),
        ({"service": "Calendar", "operation": "CreateEvent"}, True),
        ({"operation": "CreateEvent", "service": "Mail"}, False),
        ({"operation": "CreateEvent", "service": None}, False),
        ({}, False),
        ({"operation": "CreateEvent", "service": "\ud800"}, False),
        (None, False),
        (5, False),
        (["CreateEvent"], False),
    ],
)
def test_the_operation_is_part_of_the_call(presented: Any, *, matches: bool) -> None:
    """Another operation, or the same one said otherwise, is another call."""
    operation = {"operation": "CreateEvent", "service": "Calendar"}
    found = find_mismatch(propose(operation, {}, vocabulary="urn:aauth:vocabulary:wsdl"), presented, {})
    assert (found is None) == matches
    assert matches or (found is not None and found.pointer == "/operations/0")


def test_a_name_that_is_no_operation_is_a_mismatch() -> None:
    """Where a vocabulary needs more than a name, a name that is presented is another operation, and no error."""
    graphql = "urn:aauth:vocabulary:graphql"
    proposal = propose({"operation": "CreateEvent", "type": "mutation"}, {}, vocabulary=graphql)
    found = find_mismatch(proposal, "CreateEvent", {})
    assert found is not None
    assert found.pointer == "/operations/0"


class Shade(str, Enum):
    """A text that calls itself otherwise."""

    RED = "red"


@pytest.mark.parametrize("excerpt", [False, True])
def test_a_digest_is_of_what_a_text_holds(excerpt: bool) -> None:
    """Not of what it calls itself: a member of an enumeration is, as JSON, its value."""
    hidden = [DigestedParameter("shade", excerpt=excerpt)]
    proposal = propose("paint", {"shade": Shade.RED}, digested=hidden)
    assert proposal.document == propose("paint", {"shade": "red"}, digested=hidden).document
    assert find_mismatch(proposal, "paint", {"shade": Shade.RED}) is None
    assert find_mismatch(proposal, "paint", {"shade": "red"}) is None
    assert find_mismatch(proposal, "paint", {"shade": "Shade.RED"}) is not None


@pytest.mark.parametrize(
    ("media_type", "matching"),
    [
        (None, ["text", b"text"]),
        ("text/plain", ["text"]),
        ("Text/HTML; charset=utf-8", ["text"]),
        ("application/json", []),
        ("application/pdf", [b"text"]),
    ],
)
def test_the_media_type_says_of_what_a_digest_is(media_type: str | None, matching: list[Any]) -> None:
    """A document of another's making may leave it out: then the bytes of a text and bytes are reported by nothing."""
    digest = {"s256": make_digest_object("text")["s256"], **({} if media_type is None else {"media_type": media_type})}
    document = json.dumps(
        {"vocabulary": "urn:aauth:vocabulary:mcp", "operations": [OPERATION], "parameters": {"x": digest}}
    ).encode()
    presented: list[Any] = ["text", b"text", ["text"], {"text": 1}, None, 1]
    assert [each for each in presented if find_mismatch(document, OPERATION, {"x": each}) is None] == matching


def test_a_digest_of_json_is_of_its_canonical_form() -> None:
    """Under application/json, an object presented in another order is the same; a text that spells it is not."""
    proposal = propose("f", {"x": {"b": 1, "a": [2.0, "é"]}}, digested=[DigestedParameter("x")])
    assert find_mismatch(proposal, "f", {"x": {"a": [2, "é"], "b": 1}}) is None
    assert find_mismatch(proposal, "f", {"x": '{"a":[2,"é"],"b":1}'}) is not None


def test_a_place_deep_within_is_reported() -> None:
    """The pointer leads through objects and lists, its names escaped."""
    proposal = propose("f", {"a/b": [{"c~d": 1}, {"c~d": 2}]})
    found = find_mismatch(proposal, "f", {"a/b": [{"c~d": 1}, {"c~d": 3}]})
    assert found == Mismatch("/parameters/a~1b/1/c~0d", "This differs from what was proposed.")
    assert str(found) == "/parameters/a~1b/1/c~0d: This differs from what was proposed."
    shorter = find_mismatch(proposal, "f", {"a/b": [{"c~d": 1}]})
    assert shorter == Mismatch("/parameters/a~1b", "This has a different number of entries than what was proposed.")


def test_hostile_nesting_is_a_mismatch() -> None:
    """A call that nests a thousand lists is refused as any other, wherever it stands."""
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    found = find_mismatch(propose("f", {"x": "y"}, digested=["x"]), "f", {"x": deep})
    assert found is not None
    assert found.pointer == "/parameters"


@pytest.mark.parametrize("document", [b"", b"[]", b'{"parameters":{}}', "{}"])
def test_what_is_no_proposal_matches_nothing(document: Any) -> None:
    """Bytes that are no proposal are the resource's own mistake, and no mismatch."""
    with pytest.raises(InputError):
        find_mismatch(document, OPERATION, {})
