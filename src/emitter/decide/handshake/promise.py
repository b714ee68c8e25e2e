"""What an envelope must keep to after a veto on the question: it is another question, and the objection is in it.

Source: draft-morrison-binding-moment-envelope-00, section 6.2: after a question-space veto the agent "SHALL NOT
respond by re-emitting the same question, and it SHALL NOT respond by emitting a further forced-choice envelope
without first incorporating the principal's objection".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from emitter.decide.handshake.objection import brought_up
from emitter.decide.handshake.question import SAME, asked, likeness
from emitter.decide.handshake.said import held

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decide.continuation import Reopen
    from emitter.kinds import BindingMoment


class Promise(str, Enum):
    """What the handshake promises, by id."""

    REPEATED = "question-repeated"
    IGNORED = "objection-ignored"
    WITHDRAWN = "veto-withdrawn"


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken promise: where, which, the draft's section, and what it expects there.

    ``slot`` is a JSON pointer into the envelope, empty for all of it; ``expected`` is a sentence of ours without a
    word of the envelope or of the objection.
    """

    slot: str
    rule: Promise
    section: str
    expected: str


REPEATED: Final = Broken(
    "/question",
    Promise.REPEATED,
    "6.2",
    "another question than the one the principal refused, in more than its wording, its options or their order",
)
IGNORED: Final = Broken(
    "", Promise.IGNORED, "6.2", "a decision that takes up, by name, what the principal objected to the question"
)
WITHDRAWN: Final = Broken(
    "/question/hatches/dialogue", Promise.WITHDRAWN, "6.2", "true, since the principal has used this veto"
)


def violations_after(reopened: Sequence[Reopen], moment: BindingMoment) -> tuple[Broken, ...]:
    """Return what an envelope breaks that follows on vetoes of the question, each thing once.

    ``reopened`` are the vetoes that stand, and each of them is looked at: ``question-repeated`` where the same
    question is asked again (``same_question``), ``veto-withdrawn`` where the veto is no longer offered, and
    ``objection-ignored`` where the objection brought up something and nothing of it is in the envelope. What it
    brought up are the stems of its words that stood nowhere in the vetoed envelope and do not merely speak of the
    question as such ("wrong question"): two of them at least, or a name or a number, in the envelope's language. Else
    this last rule asks for nothing. It looks for them in the synopsis, the findings, the recommendations and the
    question with its options; the offer and ``meta`` take nothing up.
    """
    if not reopened:
        return ()
    now, text = asked(moment), held("\n".join(_deciding(moment)))
    broken: list[Broken] = []
    if any(likeness(asked(each.moment), now) >= SAME for each in reopened):
        broken.append(REPEATED)
    if any(_ignores(each, text) for each in reopened):
        broken.append(IGNORED)
    if not moment.question.hatches.dialogue:
        broken.append(WITHDRAWN)
    return tuple(broken)


def _ignores(reopen: Reopen, text: frozenset[str]) -> bool:
    new = brought_up(reopen.objection, _texts(reopen.moment))
    return bool(new) and new.isdisjoint(text)


def _deciding(moment: BindingMoment) -> Iterator[str]:
    """Yield what the principal decides by: the briefing and the question."""
    question = moment.question
    yield from (moment.synopsis, *moment.findings, *moment.recommendations, question.stem)
    for each in question.options:
        yield from (each.label, each.reasoning)


def _texts(moment: BindingMoment) -> str:
    """Return all that an envelope says, each text on a line of its own."""
    meta = moment.meta
    notes = () if meta is None else (meta.decision_class or "", meta.calibration_note or "")
    return "\n".join((*_deciding(moment), moment.offer, *notes))
