"""What a proposal is made of: one operation, the parameters, and bytes that are written once."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings

from emitter.authority.proposals import (
    VOCABULARIES,
    VOCABULARY_MCP,
    DigestedParameter,
    Display,
    find_mismatch,
    make_digest_object,
    propose,
    r3_s256,
    read_proposal,
)
from emitter.errors import InputError, NotCanonical
from tests.authority.proposals.values import PARAMETERS, SMALL
from tests.work import examples

LAW = settings(max_examples=examples(150))


def _base64url(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def test_the_draft_s_own_example() -> None:
    """The example of section 10.1 comes out as it stands there, but for what the draft leaves open."""
    proposal = propose(
        {"tool": "send_email"},
        {"to": "mom@example.com", "subject": "Dinner Sunday?", "body": "Hi Mom, are you free…"},
        digested=[DigestedParameter("body", media_type="text/plain", excerpt=True)],
        display=Display("Send an email as you", detail="## Action\nSend an email\n\n## To\nmom@example.com"),
    )
    digest = {
        "s256": _base64url("Hi Mom, are you free…"),
        "excerpt": "Hi Mom, are you free…",
        "media_type": "text/plain",
    }
    assert json.loads(proposal.document) == {
        "vocabulary": "urn:aauth:vocabulary:mcp",
        "operations": [{"tool": "send_email"}],
        "parameters": {"to": "mom@example.com", "subject": "Dinner Sunday?", "body": digest},
        "display": {
            "summary": "Send an email as you",
            "detail": "## Action\nSend an email\n\n## To\nmom@example.com",
        },
    }


def test_the_hash_is_of_the_bytes() -> None:
    """The r3_s256 is of the document as it is, compact and in the order that was given."""
    proposal = propose("f", {"b": "é", "a": 1.0}, display=Display("Do f", detail=""), uri="urn:uuid:1")
    assert (
        proposal.document
        == (
            '{"vocabulary":"urn:aauth:vocabulary:mcp","operations":[{"tool":"f"}],"parameters":{"b":"é","a":1},'
            '"display":{"summary":"Do f"}}'
        ).encode()
    )
    assert proposal.s256 == r3_s256(proposal.document) == _base64url(proposal.document.decode())
    assert len(proposal.s256) == 43
    assert (proposal.uri, proposal.account) == ("urn:uuid:1", None)


def test_the_hash_of_nothing_is_known() -> None:
    """The encoding is base64url without padding: that of no bytes is everybody's."""
    assert r3_s256(b"") == "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"


@LAW
@given(PARAMETERS, SMALL)
def test_what_is_built_can_be_read(parameters: dict[str, Any], longest: int) -> None:
    """Any parameters, bytes among them, make a proposal that can be read again, with the same views."""
    proposal = propose("f", parameters, longest=longest, account="acct")
    again = read_proposal(proposal.document, proposal.s256)
    assert again == proposal
    assert again.parameters.keys() == parameters.keys()
    assert (again.vocabulary, again.operation, again.account) == (VOCABULARY_MCP, {"tool": "f"}, "acct")


def test_views_change_nothing() -> None:
    """What a caller does to a view is not done to the proposal."""
    proposal = propose("f", {"to": ["mom"]})
    view = proposal.parameters
    view["to"].append("ceo")
    assert proposal.parameters == {"to": ["mom"]}


def test_a_proposal_s_repr_does_not_tell_the_document() -> None:
    """What stands in logs by accident has no parameter in it."""
    assert "mom@example.com" not in repr(propose("f", {"to": "mom@example.com"}))


@pytest.mark.parametrize(
    ("vocabulary", "operation", "spelled"),
    [
        ("mcp", "f", {"tool": "f"}),
        ("openapi", "f", {"operationId": "f"}),
        ("grpc", "pkg.Service/F", {"method": "pkg.Service/F"}),
        ("asyncapi", "f", {"operationId": "f"}),
        ("asyncapi", {"operationId": "f", "action": "send"}, {"operationId": "f", "action": "send"}),
        ("wsdl", "f", {"operation": "f"}),
        ("odata", "f", {"operation": "f"}),
        ("odata", {"operation": "f", "methods": ["GET"]}, {"operation": "f", "methods": ["GET"]}),
        ("graphql", {"operation": "f", "type": "query"}, {"operation": "f", "type": "query"}),
        ("mcp", {"tool": "f", "server": "x"}, {"tool": "f", "server": "x"}),
    ],
)
def test_each_vocabulary_spells_operations(vocabulary: str, operation: Any, spelled: Any) -> None:
    """A text is short for the member that names an operation; an object stands as it is."""
    assert propose(operation, {}, vocabulary=f"urn:aauth:vocabulary:{vocabulary}").operation == spelled


def test_a_vocabulary_of_a_third_party() -> None:
    """What another's vocabulary says of an operation is not looked into."""
    proposal = propose({"do": ["x", 1]}, {}, vocabulary="https://other.example/v")
    assert proposal.operation == {"do": ["x", 1]}
    assert proposal.display is not None
    assert proposal.display.summary == 'Call {"do":["x",1]}'


@pytest.mark.parametrize(
    ("vocabulary", "operation"),
    [
        (VOCABULARY_MCP, ""),
        (VOCABULARY_MCP, {}),
        (VOCABULARY_MCP, {"tool": 1}),
        (VOCABULARY_MCP, {"operationId": "f"}),
        (VOCABULARY_MCP, ["f"]),
        (VOCABULARY_MCP, None),
        ("urn:aauth:vocabulary:graphql", "f"),
        ("urn:aauth:vocabulary:graphql", {"operation": "f", "type": "mutate"}),
        ("urn:aauth:vocabulary:asyncapi", {"operationId": "f", "action": "publish"}),
        ("urn:aauth:vocabulary:wsdl", {"operation": "f", "service": 1}),
        ("urn:aauth:vocabulary:odata", {"operation": "f", "methods": "GET"}),
        ("https://other.example/v", "f"),
        ("https://other.example/v", {}),
        ("no uri", {"tool": "f"}),
        ("", {"tool": "f"}),
    ],
)
def test_what_is_no_operation_is_refused(vocabulary: str, operation: Any) -> None:
    """An operation that its vocabulary would not spell so is in no proposal."""
    with pytest.raises(InputError):
        propose(operation, {}, vocabulary=vocabulary)


def test_a_name_that_is_no_operation_is_told_what_is() -> None:
    """Where a vocabulary needs more than a name, the refusal says what to give."""
    with pytest.raises(InputError, match="A name is enough if"):
        propose("F", {}, vocabulary="urn:aauth:vocabulary:graphql")


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "parameters",
    [
        {"x": 2**53},
        {"x": -(2**53)},
        {"x": float("nan")},
        {"x": float("inf")},
        {"x": "\ud800"},
        {"\udfff": 1},
        {1: 2},
        {"x": {None: 1}},
        {"x": (1, 2)},
        {"x": {1, 2}},
        {"x": object()},
        {"x": _nested(64)},
        {"x": _nested(100_000)},
        [],
        "x",
        None,
    ],
)
@pytest.mark.parametrize("digested", [[], ["x"]], ids=["inline", "digested"])
def test_what_is_no_json_is_refused(parameters: Any, digested: list[str]) -> None:
    """What two readers could read differently, or not at all, is in no proposal, not even as a digest."""
    with pytest.raises(InputError):
        propose("f", parameters, digested=digested)


def test_a_number_too_large_is_told_how_to_be_sent() -> None:
    """The refusal says what to do, and no value."""
    with pytest.raises(InputError, match="as text") as refused:
        propose("f", {"amount": 9_007_199_254_740_993})
    assert "9007199254740993" not in str(refused.value)


@pytest.mark.parametrize("given", [{"account": 5}, {"account": "\ud800"}, {"uri": "no uri"}, {"uri": "urn:a b"}])
def test_what_is_no_account_or_uri_is_refused(given: Any) -> None:
    """An account is a text, and a URI an absolute one."""
    with pytest.raises(InputError):
        propose("f", {}, **given)


@pytest.mark.parametrize("longest", [0, -1, True, 1.5, "9"])
def test_what_is_no_length_is_refused(longest: Any) -> None:
    """The length up to which texts stand whole is a number of characters."""
    with pytest.raises(InputError):
        propose("f", {}, longest=longest)


def test_long_texts_stand_as_digests_with_an_excerpt() -> None:
    """A text of more than so many characters is not in the document; its beginning is."""
    text = "word " * 300
    found = propose("f", {"at": "é" * 1024, "over": text}, longest=1_024).parameters
    assert found["at"] == "é" * 1024
    assert found["over"]["s256"] == _base64url(text)
    assert found["over"]["media_type"] == "text/plain; charset=utf-8"
    assert len(found["over"]["excerpt"]) == 120
    assert found["over"]["excerpt"].startswith("word word")
    assert found["over"]["excerpt"].endswith("…")


ROWS = [{"id": index, "name": f"Row {index}"} for index in range(5_000)]
LARGE: dict[str, Any] = {
    "a list": ROWS,
    "an object": {f"{index}": "x" * 50 for index in range(1_000)},
    "a list of texts": ["x" * 900] * 100,
    "deep in an object": {"sheet": {"title": "Rows", "rows": ROWS}},
    "what looks like a digest": {"s256": ROWS},
}


@pytest.mark.parametrize("large", LARGE.values(), ids=LARGE.keys())
def test_large_values_stand_as_digests_whatever_they_are(large: Any) -> None:
    """A list or an object of many small values is as large as a long text, and the document is small all the same."""
    proposal = propose("import", {"data": large}, longest=1_024)
    assert len(proposal.document) < 5_000
    assert "excerpt" in proposal.document.decode()
    assert find_mismatch(proposal, "import", {"data": large}) is None
    other = json.loads(json.dumps(large).replace('"Row 7"', '"Row 8"').replace("x", "y"))
    assert find_mismatch(proposal, "import", {"data": other}) is not None


def test_a_proposal_is_whole_without_a_length() -> None:
    """Whoever approves it can read it all."""
    call = {"body": "word " * 20_000 + "end", "rows": ROWS}
    proposal = propose("import", call)
    assert proposal.parameters == call
    assert proposal.display is not None
    assert f"- **body:** {call['body']}" in str(proposal.display.detail)


def test_what_is_large_is_so_by_what_stands_of_it() -> None:
    """A long text in an object stands as its own digest, so that the rest of the object is reported."""
    call = {"mail": {"to": "mom@example.com", "body": "x" * 100_000}}
    reported = propose("send_email", call, longest=1_024).parameters["mail"]
    assert reported["to"] == "mom@example.com"
    assert reported["body"] == make_digest_object(call["mail"]["body"], excerpt=True)
    assert propose("f", {"x": [0] * 4_000}, longest=1_024).parameters["x"] == [0] * 4_000
    assert propose("f", {"x": [0] * 4_000}, longest=500).parameters["x"] == make_digest_object(
        [0] * 4_000, excerpt=True
    )


def test_an_excerpt_of_what_is_large_shows_nothing_that_is_kept_back() -> None:
    """Then it has none."""
    large = {"a pin": "PLUGH", **{f"row {index}": index for index in range(5_000)}}
    proposal = propose("f", {"x": large}, digested=["/x/a pin"], longest=1_024)
    assert b"PLUGH" not in proposal.document
    assert "excerpt" not in proposal.parameters["x"]
    assert find_mismatch(proposal, "f", {"x": large}) is None


def test_sensitive_values_are_nowhere_in_the_document() -> None:
    """What is named stands as a digest without an excerpt, at any depth, and in no part of the display."""
    parameters = {
        "pin": "hunter2",
        "card": {"number": "4111-1111", "owner": "Ada"},
        "list": [["hunter3"]],
        "~/": "hunter4",
        "~1": "hunter5",
    }
    proposal = propose(
        "f", parameters, digested=["pin", "/card/number", "/list/0/0", "/~0~1", "/~01", "absent", "/pin/deeper"]
    )
    assert not any(each in proposal.document for each in (b"hunter", b"4111"))
    assert proposal.parameters["card"] == {"number": make_digest_object("4111-1111"), "owner": "Ada"}
    assert proposal.parameters["list"] == [[make_digest_object("hunter3")]]


def test_what_is_kept_back_within_what_looks_like_a_digest() -> None:
    """An object that is escaped shows its members to the person, and still not the one that is kept back."""
    proposal = propose("f", {"x": {"s256": "seen", "pin": "hunter2"}}, digested=["/x/pin"])
    assert b"hunter2" not in proposal.document
    assert proposal.display is not None
    assert "seen" in str(proposal.display.detail)


@pytest.mark.parametrize(
    "digested", ["token", b"token", DigestedParameter("token"), [b"token"], [None], [5], None], ids=repr
)
def test_what_is_no_list_of_places_keeps_nothing_back_unseen(digested: Any) -> None:
    """The letters of a name are names of other parameters, and it would stand in the document."""
    with pytest.raises(InputError):
        propose("f", {"token": "hunter2"}, digested=digested)


@pytest.mark.parametrize("place", ["/a~2", "/~", "/a/~"])
def test_what_is_no_pointer_is_refused(place: str) -> None:
    """A pointer with a broken escape would name nothing, and what it was to keep back would be reported."""
    with pytest.raises(InputError):
        propose("f", {"a": 1}, digested=[place])


@pytest.mark.parametrize(
    ("value", "media_type", "holds"),
    [
        ("x", "text/markdown; charset=utf-8", True),
        ("x", "TEXT/html", True),
        ("x", "application/xml", False),
        ("x", "application/json", False),
        (b"x", "application/pdf", True),
        (b"x", "image/png", True),
        (b"x", "text/csv", False),
        (b"bytes", "application/json", False),
        (b"x", "application/vnd.emitter.parameters+json", False),
        ({"a": 1}, "application/json", True),
        ({"a": 1}, "application/xml", False),
        ({"a": b"x"}, "application/json", False),
        ("x", "text", False),
        ("x", "text/plain\n", False),
        ("x", "text/plain; <b>", False),
    ],
)
def test_a_media_type_never_says_another_kind(value: Any, media_type: str, *, holds: bool) -> None:
    """What a caller names says of which kind the value is, or is refused."""
    if holds:
        assert make_digest_object(value, media_type=media_type)["media_type"] == media_type
        return
    with pytest.raises(InputError):
        make_digest_object(value, media_type=media_type)


def test_an_excerpt_is_fit_for_a_line() -> None:
    """Controls, ANSI sequences, bidi overrides and line breaks do not reach it; bytes have none."""
    text = "a\n## To\n\x1b[31mceo\u202emoc\u200b\x00 " * 50
    excerpt = make_digest_object(text, excerpt=True)["excerpt"]
    assert len(excerpt) == 120
    assert excerpt.startswith("a ## To \ufffd[31mceo\ufffdmoc\ufffd\ufffd a")
    assert "excerpt" not in make_digest_object(b"x", excerpt=True)
    assert make_digest_object({"b": 1}, excerpt=True)["excerpt"] == '{"b":1}'
    assert make_digest_object(" " * 5000 + "x", excerpt=True)["excerpt"] == "…"


@pytest.mark.parametrize(
    "value", [[float("nan")], "\ud800", object(), _nested(100_000)], ids=["nan", "half", "an object", "deep"]
)
def test_a_digest_of_what_is_no_json_is_refused(value: Any) -> None:
    """A digest object is of a value that everybody reads alike."""
    with pytest.raises(NotCanonical):
        make_digest_object(value)


def test_the_vocabularies_are_the_seven_of_the_draft() -> None:
    """Section 4.3 names seven."""
    names = {"mcp", "openapi", "grpc", "graphql", "asyncapi", "wsdl", "odata"}
    assert set(VOCABULARIES) == {f"urn:aauth:vocabulary:{each}" for each in names}
