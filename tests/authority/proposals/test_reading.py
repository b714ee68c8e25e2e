"""A proposal that is read again is the one that was hashed, or none."""

from __future__ import annotations

import json
import pickle
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority.proposals import (
    PROPOSAL_SCHEMA,
    Display,
    Proposal,
    find_mismatch,
    make_digest_object,
    propose,
    r3_s256,
    read_proposal,
)
from emitter.errors import InputError, NotCanonical, Tampered
from emitter.schema import Validator
from tests.authority.proposals.values import NAMES, VALUES
from tests.work import examples

LAW = settings(max_examples=examples(200))
EMAIL = propose("send_email", {"to": "mom@example.com"}, account="42", display=Display("Email mom", detail="To mom"))
PLAIN: dict[str, Any] = {"vocabulary": "urn:aauth:vocabulary:mcp", "operations": [{"tool": "f"}], "parameters": {}}
ORACLE = jsonschema.Draft202012Validator(PROPOSAL_SCHEMA)


def _read(content: Any) -> Proposal:
    document = json.dumps(content).encode()
    return read_proposal(document, r3_s256(document))


@pytest.mark.parametrize(
    ("was", "became"),
    [
        (b"mom@example.com", b"ceo@example.com"),
        (b'"42"', b'"43"'),
        (b"Email mom", b"Email Mom"),
        (b"To mom", b"To mum"),
        (b"send_email", b"send_emails"),
        (b'{"vocabulary"', b'{ "vocabulary"'),
        (b"mcp", b"mcq"),
    ],
    ids=["argument", "account", "summary", "detail", "operation", "a blank", "vocabulary"],
)
def test_an_edited_byte_is_found(was: bytes, became: bytes) -> None:
    """Whatever byte is another, the hash is: that nothing in it changed as JSON is no excuse."""
    assert was in EMAIL.document
    with pytest.raises(Tampered):
        read_proposal(EMAIL.document.replace(was, became), EMAIL.s256)


@LAW
@given(st.integers(0, len(EMAIL.document) - 1), st.integers(0, 255))
def test_no_byte_can_be_another(at: int, byte: int) -> None:
    """One byte at any place: the proposal reads as itself only where that byte is the one there was."""
    document = EMAIL.document[:at] + bytes([byte]) + EMAIL.document[at + 1 :]
    if document == EMAIL.document:
        assert read_proposal(document, EMAIL.s256) == EMAIL
        return
    with pytest.raises(Tampered):
        read_proposal(document, EMAIL.s256)


@pytest.mark.parametrize(
    "s256", ["", "x", EMAIL.s256[:-1], f"{EMAIL.s256}=", EMAIL.s256.swapcase(), "é" * 43, "\ud800"]
)
def test_another_hash_is_tampering(s256: str) -> None:
    """The hash is its 43 characters, and no others that decode to the same."""
    with pytest.raises(Tampered):
        read_proposal(EMAIL.document, s256)


def test_the_last_character_of_a_hash_is_the_canonical_one() -> None:
    """Base64 without padding has spare bits, which must be zero: another spelling of the same hash is none."""
    digest = make_digest_object("x")
    spare = {**digest, "s256": f"{digest['s256'][:-1]}{chr(ord(digest['s256'][-1]) + 1)}"}
    with pytest.raises(InputError):
        _read({**PLAIN, "parameters": {"x": spare}})


@pytest.mark.parametrize(
    ("document", "s256"),
    [("text", EMAIL.s256), (bytearray(EMAIL.document), EMAIL.s256), (EMAIL.document, None), (EMAIL.document, b"x")],
)
def test_bytes_are_bytes(document: Any, s256: Any) -> None:
    """A text could be encoded in two ways, and an array of bytes changes behind the hash."""
    with pytest.raises(InputError):
        read_proposal(document, s256)


def test_a_proposal_cannot_be_made_of_what_does_not_hold() -> None:
    """The constructor looks as closely as the reader does."""
    with pytest.raises(Tampered):
        Proposal(EMAIL.document, propose("f", {}).s256)
    with pytest.raises(InputError):
        Proposal(b"{}", r3_s256(b"{}"))


def test_a_proposal_crosses_processes() -> None:
    """It can be pickled, and is looked at again by whoever uses it."""
    assert pickle.loads(pickle.dumps(EMAIL)) == EMAIL


SHAPES: list[tuple[str, Any, bool]] = [
    ("the least", PLAIN, True),
    ("no vocabulary", {"operations": [{"tool": "f"}], "parameters": {}}, False),
    ("no operations", {"vocabulary": "urn:x:y", "parameters": {}}, False),
    ("no parameters", {"vocabulary": "urn:x:y", "operations": [{"tool": "f"}]}, False),
    ("no operation", {**PLAIN, "operations": []}, False),
    ("two operations", {**PLAIN, "operations": [{"tool": "f"}, {"tool": "g"}]}, False),
    ("an empty operation", {**PLAIN, "operations": [{}]}, False),
    ("an operation of another vocabulary", {**PLAIN, "operations": [{"operationId": "f"}]}, False),
    ("a vocabulary of another", {**PLAIN, "vocabulary": "urn:x:y", "operations": [{"f": 1}]}, True),
    ("a vocabulary that is no URI", {**PLAIN, "vocabulary": "mcp"}, False),
    ("parameters that are none", {**PLAIN, "parameters": []}, False),
    ("an account", {**PLAIN, "account": "42"}, True),
    ("an account that is a number", {**PLAIN, "account": 42}, False),
    ("an account that is null", {**PLAIN, "account": None}, False),
    ("a display", {**PLAIN, "display": {"summary": "x", "irreversible": "y", "detail": "z"}}, True),
    ("a display of another", {**PLAIN, "display": {"summary": "", "colour": 1}}, True),
    ("a display without a summary", {**PLAIN, "display": {"detail": "z"}}, False),
    ("an empty display", {**PLAIN, "display": {}}, False),
    ("a display that is null", {**PLAIN, "display": None}, False),
    ("a summary that is none", {**PLAIN, "display": {"summary": None}}, False),
    ("a detail that is none", {**PLAIN, "display": {"summary": "x", "detail": ["y"]}}, False),
    ("a member that is not known", {**PLAIN, "version": "1", "x": {"s256": 1}}, True),
    ("a digest", {**PLAIN, "parameters": {"x": make_digest_object("y", excerpt=True)}}, True),
    ("a digest with more", {**PLAIN, "parameters": {"x": {**make_digest_object("y"), "size": 1}}}, True),
    ("a digest within", {**PLAIN, "parameters": {"x": [{"y": make_digest_object("y")}]}}, True),
    ("a digest that is none", {**PLAIN, "parameters": {"x": {"s256": "aBcD…"}}}, False),
    ("a digest of no text", {**PLAIN, "parameters": {"x": [{"y": {"s256": None}}]}}, False),
    (
        "a digest with a number for an excerpt",
        {**PLAIN, "parameters": {"x": {**make_digest_object(""), "excerpt": 1}}},
        False,
    ),
    (
        "a digest with null for a type",
        {**PLAIN, "parameters": {"x": {**make_digest_object(""), "media_type": None}}},
        False,
    ),
    ("a parameter called s256", {**PLAIN, "parameters": {"s256": 1, "media_type": None}}, True),
    ("a list", [PLAIN], False),
]


@pytest.mark.parametrize(("content", "holds"), [each[1:] for each in SHAPES], ids=[each[0] for each in SHAPES])
def test_the_schema_says_what_is_read(content: Any, *, holds: bool) -> None:
    """The reader, the schema in our hands and the schema in another's agree on every shape."""
    assert ORACLE.is_valid(content) == holds
    assert (not Validator(PROPOSAL_SCHEMA)(content)) == holds
    if holds:
        assert json.loads(_read(content).document) == content
        return
    with pytest.raises(InputError):
        _read(content)


@LAW
@given(
    st.dictionaries(
        st.sampled_from(["vocabulary", "operations", "parameters", "display", "account"]) | NAMES,
        VALUES.filter(lambda each: each != b"") | st.sampled_from([*PLAIN.values(), {"summary": "x"}]),
    ),
    st.booleans(),
)
def test_what_is_read_satisfies_the_schema(given_members: dict[str, Any], based: bool) -> None:
    """Whatever the reader takes, another's validator takes by the published schema."""
    content = {**PLAIN, **given_members} if based else given_members
    try:
        document = json.dumps(content).encode()
    except TypeError:  # bytes are in it
        return
    try:
        read_proposal(document, r3_s256(document))
    except InputError:
        return
    ORACLE.validate(json.loads(document))


@pytest.mark.parametrize(
    "text",
    [
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{"to":"mom","to":"ceo"}}',
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{"to":"mom","t\\u006f":"ceo"}}',
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{"x":9007199254740993}}',
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{"x":1e999}}',
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{"x":NaN}}',
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{"x":"\\ud800"}}',
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{}} {}',
        b'\xef\xbb\xbf{"vocabulary":"urn:x:y","operations":[{"tool":"f"}],"parameters":{}}',
        b'{"vocabulary":"urn:x:y","operations":[{"tool":"\xff"}],"parameters":{}}',
        b"[" * 100_000,
    ],
    ids=["twice", "twice, escaped", "large", "infinite", "nan", "half", "two", "mark", "no UTF-8", "deep"],
)
def test_what_two_readers_read_differently_is_refused(text: bytes) -> None:
    """The bytes hash as they should, and still are no proposal: the person server may have read the other value."""
    with pytest.raises(NotCanonical):
        read_proposal(text, r3_s256(text))


def test_a_refusal_tells_no_value() -> None:
    """What is wrong is reported by its place, in names that are ours."""
    with pytest.raises(InputError) as refused:
        _read({**PLAIN, "parameters": {"hunter2": {"s256": "hunter3"}}})
    assert "hunter" not in str(refused.value)
    assert "/parameters/*/s256" in str(refused.value)


def test_a_document_of_another_s_making_can_be_matched() -> None:
    """Blanks, escapes and the order of members are the maker's own; what it says is what counts."""
    document = (
        b'{ "parameters": {"n": 1.0e0, "to": "\\u006dom"},\n "version": "1",'
        b' "operations": [{"tool": "f"}], "vocabulary": "urn:aauth:vocabulary:mcp" }'
    )
    proposal = read_proposal(document, r3_s256(document), uri="https://api.example/r3/1")
    assert proposal.document == document
    assert proposal.display is None
    assert find_mismatch(proposal, "f", {"to": "mom", "n": 1}) is None
    assert find_mismatch(document, "f", {"to": "ceo", "n": 1}) is not None
