"""Handling an envelope: a function for every kind, or none is handled."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.authority.envelope import handle
from tests.authority.envelope.parts import ENVELOPES

every_kind = pytest.mark.parametrize("kind", ENVELOPES)


def handlers() -> dict[str, Any]:
    """Return a function for every kind, which says which it is, and what it was given."""
    return {kind: lambda each, kind=kind: (kind, each) for kind in ENVELOPES}


@every_kind
def test_the_kinds_own_function_is_called(kind: str) -> None:
    """It gets the envelope, and what it returns is returned."""
    assert handle(ENVELOPES[kind], **handlers()) == (kind, ENVELOPES[kind])


@every_kind
@pytest.mark.parametrize("left_out", ENVELOPES)
def test_no_kind_can_be_left_out(kind: str, left_out: str) -> None:
    """Whichever envelope comes: with a function missing, nothing is handled."""
    some = {name: each for name, each in handlers().items() if name != left_out}

    with pytest.raises(TypeError, match=left_out):
        handle(ENVELOPES[kind], **some)


def test_there_is_no_function_for_the_rest() -> None:
    """Neither a default nor a further kind is taken."""
    with pytest.raises(TypeError):
        handle(ENVELOPES["refusal"], **handlers(), default=repr)
    with pytest.raises(TypeError):
        handle(ENVELOPES["refusal"], *handlers().values())  # type: ignore[call-arg, misc]


@every_kind
def test_what_a_function_raises_is_raised(kind: str) -> None:
    """It is the caller's own code."""

    def fail(_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        handle(ENVELOPES[kind], **{**handlers(), kind: fail})
