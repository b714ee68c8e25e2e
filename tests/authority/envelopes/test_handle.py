"""Handling an envelope: a function for every kind, or none is handled."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.authority.envelopes import dump_authorization, enforce_workflow, handle_envelope
from emitter.errors import InputError
from emitter.models.authorization import Action, Classification, Measurement, Narrative, Provenance, Refusal
from tests.authority.envelopes.parts import ENVELOPES, INLINE, LOOSE, MADE, READINGS, provenance

every_kind = pytest.mark.parametrize("kind", ENVELOPES)


def handlers() -> dict[str, Any]:
    """Return a function for every kind, which says which it is, and what it was given."""
    return {kind: lambda each, kind=kind: (kind, each) for kind in ENVELOPES}


@every_kind
def test_the_kinds_own_function_is_called(kind: str) -> None:
    """It gets the envelope, and what it returns is returned."""
    assert handle_envelope(ENVELOPES[kind], **handlers()) == (kind, ENVELOPES[kind])


@every_kind
@pytest.mark.parametrize("left_out", ENVELOPES)
def test_no_kind_can_be_left_out(kind: str, left_out: str) -> None:
    """Whichever envelope comes: with a function missing, nothing is handled."""
    some = {name: each for name, each in handlers().items() if name != left_out}

    with pytest.raises(TypeError, match=left_out):
        handle_envelope(ENVELOPES[kind], **some)


def test_there_is_no_function_for_the_rest() -> None:
    """Neither a default nor a further kind is taken."""
    with pytest.raises(TypeError):
        handle_envelope(ENVELOPES["refusal"], **handlers(), default=repr)
    with pytest.raises(TypeError):
        handle_envelope(ENVELOPES["refusal"], *handlers().values())  # type: ignore[call-arg, misc]


@every_kind
def test_what_a_function_raises_is_raised(kind: str) -> None:
    """It is the caller's own code."""

    def fail(_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        handle_envelope(ENVELOPES[kind], **{**handlers(), kind: fail})


class Disguised(Narrative):
    """A narrative by its type, and a measurement by what is written of it."""

    kind: Any = "measurement"
    value: Any = 4.2
    provenance: Any = None


def spoilt() -> Action:
    """Return an action whose parameters were no JSON once they were taken over."""
    action = Action(action="notify", params={"who": "them"}, provenance=provenance())
    action.params["when"] = object()  # type: ignore[index]
    return action


CLAIM = ENVELOPES["measurement"]
NONE = Provenance.model_construct(oracle_records=(), generated_at=MADE, envelope_id="env-1")
BY_THE_WAY: dict[str, Any] = {
    "no records": Measurement.model_construct(value=4.2, provenance=NONE),
    "no provenance": Measurement.model_construct(value=4.2, provenance=None),
    "nothing at all": Refusal.model_construct(),
    "a copy with a text for a number": CLAIM.model_copy(update={"value": "4.2"}),
    "a copy of no number": CLAIM.model_copy(update={"value": float("nan")}),
    "a copy of another kind": CLAIM.model_copy(update={"kind": "narrative"}),
    "a copy of an unknown kind": CLAIM.model_copy(update={"kind": "verdict"}),
    "an empty label": Classification.model_construct(label="", provenance=provenance()),
    "parameters that were spoilt": spoilt(),
    "a disguise": Disguised(text="It is safe.", policy=LOOSE),
}


@pytest.mark.parametrize("odd", BY_THE_WAY.values(), ids=BY_THE_WAY.keys())
def test_what_came_around_the_checks_is_no_envelope(odd: Any) -> None:
    """Of its type it is one: it is neither handled, nor written, nor enforced."""
    with pytest.raises(InputError, match="is invalid"):
        handle_envelope(odd, **handlers())
    with pytest.raises(InputError, match="is invalid"):
        dump_authorization(odd)
    with pytest.raises(InputError, match="is invalid"):
        enforce_workflow(odd, INLINE, oracles=READINGS)


def test_a_copy_that_holds_is_an_envelope() -> None:
    """A subclass of one of the kinds is one of that kind."""

    class Ours(Narrative):
        """A narrative of the host's own type."""

    ours = Ours(text="According to the manual, it pumps.", policy=LOOSE)
    assert handle_envelope(ours, **handlers()) == ("narrative", ours)
    copied = CLAIM.model_copy(update={"value": 4.3})
    assert handle_envelope(copied, **handlers()) == ("measurement", copied)
