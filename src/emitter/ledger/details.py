"""Requests for detail: the principal takes up the envelope's offer, and the decision stays open.

Source: draft-morrison-binding-moment-envelope-00, section 5.4 ("depth is available when the principal requests it").
A request is not a resolution: section 6.3 knows exactly three.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.errors import StoreAltered
from emitter.store import Entry

if TYPE_CHECKING:
    from emitter.ledger.words import Unkept
    from emitter.wire import Json

MOST_REQUESTS: Final = 20
"""How many requests one decision takes."""
_ASKED: Final = "emitter.decision.detail_asked"
_ANSWERED: Final = "emitter.decision.detail_answered"


@dataclass(frozen=True, slots=True)
class DetailRequest:
    """A request for detail on a decision: "tell me more about ...". It resolves nothing.

    Attributes:
        decision_id: The decision, which is open.
        number: The request's number among those of the decision, counted from 1.
        topic: What the principal wants to know more about; empty for all of it. ``Unkept`` says why this ledger
            cannot read it.
        asked_at: When it was made, in seconds since 1970.
        channel: By which way it came.
        answer: The agent's answer, a text or JSON; None while there is none.
        answered_at: When it was answered, in seconds since 1970.
    """

    decision_id: str
    number: int
    topic: str | Unkept
    asked_at: float
    channel: str = ""
    answer: Json = None
    answered_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has answered it yet."""
        return self.answered_at is None

    @property
    def text(self) -> str:
        """The answer as a text: JSON that is not a text is written with indents. Empty while there is none."""
        return "" if self.answer is None else as_text(self.answer)


def as_text(answer: Json) -> str:
    """Return an answer as a text: JSON that is not a text is written with indents."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)


def asking(decision: str, number: int) -> str:
    """Return the name under which a request is kept."""
    return f"detail:{decision}:{number}"


def answering(decision: str, number: int) -> str:
    """Return the name under which the answer to a request is kept."""
    return f"detailed:{decision}:{number}"


def requested(at: float, channel: str) -> Entry:
    """Return what is kept of a request; its topic is kept as the principal's words are."""
    return Entry(_ASKED, {"askedAt": at, "channel": channel}, {})


def answered(answer: Json, at: float) -> Entry:
    """Return what is kept of an answer."""
    return Entry(_ANSWERED, {"answeredAt": at}, {"answer": answer})


def requested_at(entry: Entry) -> float:
    """Return when a request was made."""
    return _time(entry, _ASKED, "askedAt")


def answer_in(entry: Entry) -> Json:
    """Return the answer that an entry holds."""
    _time(entry, _ANSWERED, "answeredAt")
    return entry.envelope.get("answer")


def request(decision_id: str, number: int, topic: str | Unkept, asked: Entry, answer: Entry | None) -> DetailRequest:
    """Return a request as it stands; raises ``StoreAltered`` where the store does not hold what was written."""
    at, channel = requested_at(asked), str(asked.outcome.get("channel", ""))
    if answer is None:
        return DetailRequest(decision_id, number, topic, at, channel)
    answered_at = _time(answer, _ANSWERED, "answeredAt")
    return DetailRequest(decision_id, number, topic, at, channel, answer_in(answer), answered_at)


def _time(entry: Entry, kind: str, name: str) -> float:
    found: Json = entry.outcome.get(name)
    if entry.type != kind or isinstance(found, bool) or not isinstance(found, int | float):
        raise StoreAltered("What the store keeps of a request for detail is not what was written.")
    return float(found)
