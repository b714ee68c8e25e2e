"""A question that its principal refused is not put again (section 6.2 of the draft)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.decide import dialogue, digest, free_text, selected
from emitter.errors import AlreadyResolved
from emitter.events import Level
from tests.ledger.asking import Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.ledger import Ledger

ASKED = moment(meta={"decision_class": "consent"})
NAMED = digest(ASKED)


def test_a_refused_question_is_not_opened_again(again: Callable[..., Ledger], told: Told) -> None:
    """By any process, after a restart, under any id; each time that it is tried is told, with what refused it."""
    first = again().open(ASKED, agent="ada", decision_id="1")
    again().resolve("1", dialogue(ASKED, "Wrong question."))
    for name in ("2", "3"):
        with pytest.raises(AlreadyResolved, match=r"refused this very question\. Deliberate"):
            again().open(ASKED, agent="ada", decision_id=name)
    with pytest.raises(AlreadyResolved):
        again().open(ASKED, agent="ada")
    assert again().pending() == ()
    assert again().rates().opened == 1
    about = {"agent": "ada", "decisionClass": "consent", "digest": NAMED, "reference": first.reference}
    assert told.lines("decision.reasked") == [about] * 3
    tries = [each for each in told.events if each.event.message == "decision.reasked"]  # type: ignore[union-attr]
    assert {each.event.level for each in tries} == {Level.WARN}  # type: ignore[union-attr]
    assert len({each.causation_id for each in tries} - {first.reference}) == 3


def test_the_refused_decision_itself_is_found_again(again: Callable[..., Ledger], told: Told) -> None:
    """A call that is repeated under its own id asks nothing anew."""
    first = again().open(ASKED, decision_id="1")
    again().resolve("1", dialogue(ASKED))
    assert again().open(ASKED, decision_id="1") == first
    assert told.messages() == ["decision.opened", "decision.resolved"]


def test_another_agent_or_question_may_ask(ledger: Ledger) -> None:
    """What one was refused, another one was not, and a question that differs by a word is another one."""
    ledger.open(ASKED, agent="ada", decision_id="1")
    ledger.resolve("1", dialogue(ASKED))
    ledger.open(ASKED, agent="bob")
    ledger.open(moment("Should that be done?"), agent="ada")
    assert len(ledger.pending()) == 2


@pytest.mark.parametrize("answer", [selected(ASKED, 0), free_text(ASKED, "Later.")], ids=repr)
def test_a_question_that_was_answered_may_be_put_again(ledger: Ledger, told: Told, answer: object) -> None:
    """It was not refused."""
    ledger.open(ASKED, decision_id="1")
    ledger.resolve("1", answer)  # type: ignore[arg-type]
    ledger.open(ASKED, decision_id="2")
    assert ledger.vetoed("agent") == frozenset()
    assert "decision.reasked" not in told.messages()


def test_the_refused_are_known(again: Callable[..., Ledger]) -> None:
    """By agent, as their digests, in every process."""
    asked = [moment(f"Number {number}?") for number in range(3)]
    for agent, each in zip(("ada", "ada", "bob"), asked, strict=True):
        again().resolve(again().open(each, agent=agent).decision_id, dialogue(each))
    assert again().vetoed("ada") == {digest(each) for each in asked[:2]}
    assert again().vetoed("bob") == {digest(asked[2])}
    assert again().vetoed("eve") == frozenset()
    assert isinstance(again().vetoed("ada"), frozenset)
