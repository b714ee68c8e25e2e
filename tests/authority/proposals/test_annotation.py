"""What a tool's ``_meta`` says of the credential that it needs."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.authority.proposals import AccessMode, access_annotations
from emitter.errors import InputError

MODE, BUDGET = "aauth.dev/access-mode", "aauth.dev/budget"


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        (("agent-token",), {MODE: "agent-token"}),
        (("person-token", False), {MODE: "person-token", BUDGET: False}),
        (("auth-token", True), {MODE: "auth-token", BUDGET: True}),
        ((AccessMode.PER_CALL, True), {MODE: "per-call", BUDGET: True}),
        ((None, True), {BUDGET: True}),
        ((None,), {}),
    ],
)
def test_a_mode_and_a_budget_are_reported(given: tuple[Any, ...], reported: dict[str, Any]) -> None:
    """Both are the plain values of section 5.4; what is None is left out."""
    assert access_annotations(*given) == reported
    assert type(access_annotations(*given).get(MODE)) in {str, type(None)}


@pytest.mark.parametrize(
    "given",
    [
        ("session-token",),
        ("",),
        ("Per-Call",),
        (5,),
        ("agent-token", True),
        ("person-token", True),
        ("auth-token", 1),
        ("auth-token", "true"),
    ],
)
def test_what_no_annotation_may_say_is_refused(given: tuple[Any, ...]) -> None:
    """A session is never an operation's, and a budget needs a token that carries it."""
    with pytest.raises(InputError):
        access_annotations(*given)
