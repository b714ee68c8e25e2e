"""What a token's claims let a resource do with a call."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.authority.proposals import (
    VOCABULARY_MCP,
    AccessDecision,
    ClaimedOperations,
    decide_access,
    granted_operations,
    per_call_operations,
)
from emitter.errors import InputError

ODATA = "urn:aauth:vocabulary:odata"


def _claim(*operations: Any, vocabulary: str = VOCABULARY_MCP) -> dict[str, Any]:
    return {"vocabulary": vocabulary, "operations": list(operations)}


READ, SEND, DROP = {"tool": "read"}, {"tool": "send"}, {"tool": "drop"}


@pytest.mark.parametrize("name", ["r3_per_call", "r3_conditional"])
@pytest.mark.parametrize(
    ("operation", "access"),
    [
        (READ, AccessDecision.GRANTED),
        ("read", AccessDecision.GRANTED),
        (SEND, AccessDecision.PER_CALL),
        ("send", AccessDecision.PER_CALL),
        (DROP, AccessDecision.NO_MATCH),
        ({"tool": "Read"}, AccessDecision.NO_MATCH),
        ({"tool": "read", "x": 1}, AccessDecision.NO_MATCH),
        ({}, AccessDecision.NO_MATCH),
    ],
)
def test_the_draft_s_order(name: str, operation: Any, access: AccessDecision) -> None:
    """Granted is served, per call is challenged, and what is in neither is rejected; the older name says the same."""
    claims = {"iss": "https://as.example", "r3_granted": _claim(READ), name: _claim(SEND)}
    assert decide_access(claims, VOCABULARY_MCP, operation) is access


def test_granted_comes_first() -> None:
    """An operation in both claims is granted: the per-call token that follows an approval lists it so."""
    assert (
        decide_access({"r3_granted": _claim(SEND), "r3_per_call": _claim(SEND)}, VOCABULARY_MCP, SEND)
        is AccessDecision.GRANTED
    )


def test_another_vocabulary_matches_nothing() -> None:
    """The same object means another operation in another vocabulary."""
    claims = {"r3_granted": _claim(READ), "r3_per_call": _claim(SEND)}
    assert decide_access(claims, ODATA, READ) is AccessDecision.NO_MATCH
    assert decide_access({}, "", {"tool": "read"}) is AccessDecision.NO_MATCH


def test_an_operation_is_compared_whole() -> None:
    """Of an entity set, the methods are part of what was granted; order of members is not."""
    granted = {"operation": "Events", "methods": ["GET", "POST"]}
    claims = {"r3_granted": _claim(granted, vocabulary=ODATA)}
    assert decide_access(claims, ODATA, dict(reversed(granted.items()))) is AccessDecision.GRANTED
    assert decide_access(claims, ODATA, {"operation": "Events", "methods": ["DELETE"]}) is AccessDecision.NO_MATCH
    assert decide_access(claims, ODATA, "Events") is AccessDecision.NO_MATCH


def test_both_names_may_say_the_same() -> None:
    """A token may carry the claim under both names, if they agree as JSON."""
    both = {"r3_per_call": _claim(SEND), "r3_conditional": dict(reversed(_claim(SEND).items()))}
    assert per_call_operations(both) == ClaimedOperations(VOCABULARY_MCP, (SEND,))


def test_both_names_may_not_differ() -> None:
    """Which of the two counts is not for us to guess."""
    with pytest.raises(InputError, match="r3_conditional"):
        per_call_operations({"r3_per_call": _claim(SEND), "r3_conditional": _claim(DROP)})


def test_no_claim_lists_nothing() -> None:
    """A claim that is absent is no mistake."""
    assert per_call_operations({}) == granted_operations({}) == ClaimedOperations("", ())


@pytest.mark.parametrize("name", ["r3_granted", "r3_per_call", "r3_conditional"])
@pytest.mark.parametrize(
    "claim",
    [
        None,
        [],
        "x",
        {},
        {"operations": [READ]},
        {"vocabulary": VOCABULARY_MCP},
        {"vocabulary": 1, "operations": []},
        {"vocabulary": VOCABULARY_MCP, "operations": READ},
        _claim("read"),
        _claim(READ, {}),
        _claim(None),
    ],
)
def test_what_is_no_claim_is_refused(name: str, claim: Any) -> None:
    """A claim that cannot be read grants nothing, and lets nothing else be granted beside it."""
    claims = {"r3_granted": _claim(READ), name: claim}
    with pytest.raises(InputError):
        decide_access(claims, VOCABULARY_MCP, READ)
