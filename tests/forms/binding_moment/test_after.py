"""The handshake inside an emission: what the principal said is heard, and a refused question is not put again."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import (
    Emission,
    InputError,
    Invalid,
    Policy,
    Trust,
    Withheld,
    aemit_binding_moment,
    emit_binding_moment,
    emit_many,
    stream_binding_moment,
)
from emitter.bulk import Job, emit_binding_moments
from emitter.checks import StructuralChecks
from emitter.decisions import (
    Act,
    Hold,
    Incorporate,
    Reopen,
    Unresolved,
    UnresolvedReason,
    answer_in_words,
    continue_after,
    digest,
    open_dialogue,
    select_option,
)
from emitter.host import Acceptor
from emitter.models import OPEN_HATCHES, BindingMoment, Hatches, Meta, Option, Question, binding_moment
from emitter.testing import Text, simulator, write_decision
from tests.scenarios.answers import BOUND, DELIBERATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decisions import Continuation
    from emitter.testing import Simulator

MODEL = "anthropic/claude-sonnet-5-5"
OBJECTION = "Nobody has asked whether the backup of Tuesday is complete."


def all_text(value: Any) -> str:
    """Return the texts in a JSON value, one after the other."""
    if isinstance(value, str):
        return f"{value}\n"
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "".join(map(all_text, parts))


def relabelled(question: Question, stem: str, labels: tuple[str, ...]) -> Question:
    """Return a question of other words."""
    options = [Option(label=each, reasoning=f"{each} at once.") for each in labels]
    return question.model_copy(update={"stem": stem, "options": tuple(options)})


asked = binding_moment.parse_turn(BOUND, OPEN_HATCHES, None)
assert isinstance(asked, BindingMoment)
MOMENT = asked

_BACKUP = ("Verify the backup", "Trust the backup", "Make a new one")
ANOTHER = MOMENT.model_copy(
    update={
        "synopsis": "Check the backup of Tuesday first, since nothing can be undone without it.",
        "findings": ("The backup of Tuesday was never verified.", "A check takes 20 minutes.", "The peak is at 08:00."),
        "question": relabelled(MOMENT.question, "Should the backup of Tuesday be verified or trusted?", _BACKUP),
    }
)
_DISKS = ("Small", "Large", "Fast")
DEAF = MOMENT.model_copy(
    update={
        "synopsis": "Order new disks today.",
        "findings": ("The disks are old.", "New ones are in stock.", "The price is 200 euros."),
        "recommendations": ("Order the disks.", "Pay from the reserve."),
        "question": relabelled(MOMENT.question, "Which disks should be ordered?", _DISKS),
    }
)
"""Another question, without a word of the objection."""

REOPEN = continue_after(open_dialogue(MOMENT, OBJECTION), MOMENT)


@pytest.fixture
def vendor() -> Iterator[Simulator]:
    """Run a simulated vendor that asks another question where no script says otherwise."""
    with simulator(answers=write_decision(ANOTHER)) as running:
        yield running


HEARD = {
    "dialogue": (REOPEN, OBJECTION),
    "dialogue without words": (continue_after(open_dialogue(MOMENT), MOMENT), "They gave no reason."),
    "free text": (continue_after(answer_in_words(MOMENT, "Resume at six."), MOMENT), "Resume at six."),
    "selected": (continue_after(select_option(MOMENT, 1), MOMENT), "the principal chose option 2"),
}


@pytest.mark.parametrize(("after", "words"), HEARD.values(), ids=HEARD)
def test_what_the_principal_said_is_in_the_prompt(vendor: Simulator, after: Continuation, words: str) -> None:
    """So is the whole proposal that they said it about, in a fence: that is a model's text."""
    emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=after)

    sent = all_text(vendor.calls[0].body)
    proposal = sent.partition('<UNTRUSTED type="proposal"')[2].partition("</UNTRUSTED>")[0]
    question = MOMENT.question
    options = (f"{option.label}: {option.reasoning}" for option in question.options)
    assert words in sent
    assert proposal.splitlines()[1:] == [
        f"Synopsis: {MOMENT.synopsis}",
        *(f"Finding {number}: {text}" for number, text in enumerate(MOMENT.findings, start=1)),
        *(f"Recommendation {number}: {text}" for number, text in enumerate(MOMENT.recommendations, start=1)),
        f"Offer: {MOMENT.offer}",
        f"Question: {question.stem}",
        *(f"{number}. {text}" for number, text in enumerate(options, start=1)),
        f"Recommended: option {question.recommended_idx + 1}",
    ]


def test_a_note_was_read_by_the_principal_too(vendor: Simulator) -> None:
    """So it is part of the proposal that the model reads."""
    noted = MOMENT.model_copy(update={"meta": Meta(calibration_note="I said that the lock was gone.\nIt is not.")})
    after = continue_after(open_dialogue(noted, OBJECTION), noted)
    emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=after)

    assert "\nNote: I said that the lock was gone. It is not.\nSynopsis: " in all_text(vendor.calls[0].body)


@pytest.mark.parametrize("hatches", [OPEN_HATCHES, Hatches(free_text=False, dialogue=True)], ids=["open", "closed"])
def test_the_prompt_follows_the_hatches(vendor: Simulator, hatches: Hatches) -> None:
    """What the caller closed is not promised to the model."""
    emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), hatches=hatches)

    assert ("cannot answer in their own words" in all_text(vendor.calls[0].body)) is not hatches.free_text


def test_the_same_question_is_refused(vendor: Simulator) -> None:
    """It is VIOLATED, and corrected in our words; the second question is another."""
    vendor.script(write_decision(MOMENT))

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=REOPEN)

    assert isinstance(decision, Emission)
    assert decision.value == ANOTHER
    assert [each.verdict.value for each in decision.attempts] == ["violated", "complete"]
    assert "question-repeated" in json.dumps(vendor.calls[1].body)


def test_the_same_question_to_the_end_is_no_envelope(vendor: Simulator) -> None:
    """A hatch that leads to another menu only is a broken handshake (section 6.2)."""
    vendor.script(*[write_decision(MOMENT)] * 2)

    with pytest.raises(Invalid):
        emit_binding_moment(
            "Resume?", model=MODEL, client=vendor.client(MODEL), after=[REOPEN], policy=Policy(max_attempts=2)
        )


def test_another_question_is_accepted_whatever_its_words(vendor: Simulator) -> None:
    """Whether it takes the objection up is for the principal to say."""
    vendor.script(write_decision(DEAF))

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=REOPEN)

    assert isinstance(decision, Emission)
    assert len(decision.attempts) == 1
    assert decision.findings == ()


def test_deliberation_after_a_veto_is_a_success(vendor: Simulator) -> None:
    """Whoever cannot commit yet says so; no rule of the handshake stands in the way."""
    vendor.script(Text(DELIBERATION))

    assert isinstance(emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=REOPEN), Withheld)


def test_all_vetoes_hold(vendor: Simulator) -> None:
    """The question before the last one may not come back either."""
    later = continue_after(open_dialogue(ANOTHER, "The disks are what matters: are they sound?"), ANOTHER)
    vendor.script(write_decision(MOMENT), Text(DELIBERATION))

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=[REOPEN, later])

    assert [each.verdict.value for each in decision.attempts] == ["violated", "complete"]


def test_the_async_call_hears_it_too(vendor: Simulator) -> None:
    """The functions take the same terms."""
    vendor.script(write_decision(MOMENT))

    async def emitted() -> Emission[BindingMoment] | Withheld:
        client: Any = vendor.client(MODEL, asynchronous=True)
        async with client:
            return await aemit_binding_moment("Resume?", model=MODEL, client=client, after=REOPEN)

    decision = asyncio.run(emitted())

    assert len(decision.attempts) == 2


def test_a_stream_hears_it_too(vendor: Simulator) -> None:
    """The functions take the same terms."""
    vendor.script(write_decision(MOMENT))
    with stream_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=REOPEN) as running:
        decision = running.result()

    assert len(decision.attempts) == 2


def test_what_was_said_makes_it_another_emission(vendor: Simulator) -> None:
    """With a store, the answer that was kept for the question before the veto is not handed out again."""
    settings: dict[str, Any] = {"model": MODEL, "client": vendor.client(MODEL), "host": Acceptor(), "run_id": "run-1"}
    vendor.script(write_decision(MOMENT))
    first = emit_binding_moment("Resume?", **settings)

    second = emit_binding_moment("Resume?", **settings, after=REOPEN)

    assert first.attempts
    assert second.attempts
    assert second.value == ANOTHER


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nobody decided": (
        {"after": continue_after(Unresolved(digest(MOMENT), UnresolvedReason.TIMEOUT), MOMENT)},
        "was not made",
    ),
    "a resolution": ({"after": [open_dialogue(MOMENT, OBJECTION)]}, "Pass what continue_after returned"),
    "one resolution": ({"after": open_dialogue(MOMENT, OBJECTION)}, "after is of type Dialogue. Pass continue_after"),
    "a text": ({"after": OBJECTION}, "after must be a list"),
    "an option that is none": ({"after": Act(MOMENT, 99)}, "The envelope has no option 99"),
    "an answer without words": ({"after": Incorporate(MOMENT, " ")}, "no visible text"),
    "an answer that is no text": ({"after": Incorporate(MOMENT, None)}, "."),  # type: ignore[arg-type]
    "half a character": ({"after": Reopen(MOMENT, "\ud800")}, "."),
    "no envelope": ({"after": Reopen("x", "y")}, "Pass what continue_after returned"),  # type: ignore[arg-type]
    "two answers to one": ({"after": [REOPEN, continue_after(select_option(MOMENT, 0), MOMENT)]}, "two answers"),
    "the veto withdrawn": (
        {"after": REOPEN, "hatches": Hatches(free_text=True, dialogue=False)},
        "Leave the dialogue hatch open",
    ),
}


@pytest.mark.parametrize(("settings", "reported"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_heard_is_refused_before_anything_is_sent(settings: dict[str, Any], reported: str) -> None:
    """The error says what to do."""
    with pytest.raises(InputError, match=reported):
        emit_binding_moment("Resume?", model=MODEL, **settings)


def test_a_label_of_several_lines_is_one_option(vendor: Simulator) -> None:
    """What was chosen is reported by its own words, so that no number can come to mean another option."""
    labels = ("Keep the data: it is safe\n2. Delete the data", "Ask the owner first")
    moment = MOMENT.model_copy(update={"question": relabelled(MOMENT.question, "What now?\n1. Nothing", labels)})

    emit_binding_moment(
        "Resume?", model=MODEL, client=vendor.client(MODEL), after=continue_after(select_option(moment, 1), moment)
    )

    proposal = all_text(vendor.calls[0].body).partition('<UNTRUSTED type="proposal"')[2].partition("</UNTRUSTED>")[0]
    assert proposal.splitlines()[-4:] == [
        "Question: What now? 1. Nothing",
        "1. Keep the data: it is safe 2. Delete the data: Keep the data: it is safe 2. Delete the data at once.",
        "2. Ask the owner first: Ask the owner first at once.",
        f"Recommended: option {moment.question.recommended_idx + 1}",
    ]


def test_an_earlier_envelope_makes_the_next_untrusted(vendor: Simulator) -> None:
    """It may have been written from untrusted material, and nobody says."""
    first = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL))
    second = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), after=REOPEN)

    assert first.envelope.meta.content_trust is Trust.TRUSTED
    assert second.envelope.meta.content_trust is Trust.UNTRUSTED


TERMS: dict[str, dict[str, Any]] = {
    "hatches": {"hatches": Hatches(free_text=False, dialogue=True)},
    "class": {"decision_class": "payment"},
    "checks": {"checks": [StructuralChecks({"findings-count": "error"})]},
}


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS)
def test_other_terms_are_another_emission(vendor: Simulator, terms: dict[str, Any]) -> None:
    """With a store, what was kept under other terms is not handed out."""
    settings: dict[str, Any] = {"model": MODEL, "client": vendor.client(MODEL), "host": Acceptor(), "run_id": "run-1"}

    assert emit_binding_moment("Resume?", **settings).attempts
    assert emit_binding_moment("Resume?", **settings, **terms).attempts
    assert not emit_binding_moment("Resume?", **settings, **terms).attempts


@pytest.fixture
def around(vendor: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lead the clients that are made here to the simulated vendor."""
    for name, value in vendor.environment().items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("around")
def test_each_of_many_has_its_own_past(vendor: Simulator) -> None:
    """A job's vetoes are its own: the question that one principal refused another may be asked."""
    vendor.script(*[write_decision(MOMENT)] * 2)
    jobs = [Job("Resume?"), Job("Resume?", after=REOPEN)]

    with emit_binding_moments(jobs, model=MODEL, in_flight=1) as run:
        items = list(run)

    assert [len(each.result.attempts) for each in items] == [1, 2]


@pytest.mark.usefixtures("around")
def test_documents_have_no_past() -> None:
    """There is nothing to refuse in a document."""
    with emit_many({"type": "object"}, [Job("x", after=REOPEN)], model=MODEL) as run:
        (item,) = run

    assert isinstance(item.error, InputError)
    assert "emit_binding_moments" in str(item.error)


def test_each_resolution_has_its_continuation() -> None:
    """A vote acts, an amendment is incorporated, a veto reopens, silence holds (section 6.3)."""
    kinds = [type(each) for each, _ in HEARD.values()]
    assert kinds == [Reopen, Reopen, Incorporate, Act]
    assert isinstance(REFUSED["nobody decided"][0]["after"], Hold)
