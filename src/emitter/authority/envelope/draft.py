"""What a model proposes. It is no envelope, has none of its members beside the claim, and cannot be shown as one.

Source: RFC-0010, "Separate proposal generation from authority granting", and "Clients MUST NOT render or serialize
proposal content as if it were an envelope". Only ``authorize`` makes an envelope of a draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from emitter.kinds.authorization import RefusalCode
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

_NO_TEXT = "A draft is a proposal and has no text of its own: authorize(...) makes an envelope of it."


class _Proposed:
    """A proposal; it has no text, and its ``repr`` shows nothing of what is proposed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"

    def __str__(self) -> NoReturn:
        raise TypeError(_NO_TEXT)

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError(_NO_TEXT)


@dataclass(frozen=True, slots=True, repr=False)
class ProposedMeasurement(_Proposed):
    """A number on an ``axis``; ``cites`` are the ids of the oracles that it is taken from."""

    axis: str
    value: float
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ProposedClassification(_Proposed):
    """A label on an ``axis``; ``cites`` are the ids of the oracles that it is taken from."""

    axis: str
    label: str
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ProposedAction(_Proposed):
    """An action, and the axes and oracles that speak for it."""

    action: str
    axes: tuple[str, ...]
    cites: tuple[str, ...]
    params: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ProposedNarrative(_Proposed):
    """Words without authority."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class ProposedRefusal(_Proposed):
    """No answer, and what the user is told of it."""

    code: RefusalCode
    user_message: str
    recovery_hint: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ProposedDispute(_Proposed):
    """The axes on which the oracles disagree."""

    axes: tuple[str, ...]


ProposedClaim: TypeAlias = ProposedMeasurement | ProposedClassification | ProposedAction
"""What would have authority."""

Draft: TypeAlias = ProposedClaim | ProposedNarrative | ProposedRefusal | ProposedDispute
"""What a model may propose, one type for each kind of envelope."""


def read(document: Json) -> Draft:
    """Return the draft in a document that is valid against ``form.schema``."""
    proposal = mapping(document["proposal"])
    said: dict[str, Any] = {name: tuple(sequence(each)) or each for name, each in proposal.items()}
    kind: str = said.pop("proposes")
    if kind == "refusal":
        return ProposedRefusal(RefusalCode(said.pop("code")), **said)
    return _FORMS[kind](**said)


_FORMS: dict[str, type[Draft]] = {
    "measurement": ProposedMeasurement,
    "classification": ProposedClassification,
    "action": ProposedAction,
    "narrative": ProposedNarrative,
    "dispute_summary": ProposedDispute,
}
