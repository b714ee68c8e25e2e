"""What the simulated model says: the behaviours of the tables that need to know which form was asked for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from emitter.messages import as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing import Behaviour, EndReason, PlannedError, PlannedResponse, Transmission, TransmissionOutcome
from tests.scenarios.answers import BOUND, DELIBERATION

if TYPE_CHECKING:
    from emitter.testing import ReceivedRequest

MARK = "quxillious"
"""A word that stands in everything the model says, and may stand in nothing that is sent or reported."""
CATEGORY = "general_harms"
CHUNK = 80
"""The characters in one delta of a stream: fewer make the matrix slower, and nothing else."""


class Invoice(BaseModel):
    """The form that is asked for where no decision is."""

    vendor: str
    total: float
    note: str


@dataclass(frozen=True)
class Denied:
    """The vendor answers with this error."""

    failure: PlannedError

    def plan(self, asked: ReceivedRequest) -> PlannedError:  # noqa: ARG002  the same for everybody
        """Return the error."""
        return self.failure


SYNOPSIS = BOUND["turn"]["synopsis"]
DECISION: dict[str, Any] = {**BOUND, "reasoning": f"A {MARK} case. {BOUND['reasoning']}"}
WITHHELD: dict[str, Any] = {**DELIBERATION, "reasoning": f"A {MARK} case."}
INVOICE: dict[str, Any] = {"vendor": f"{MARK} & Sons", "total": 12.5, "note": "Half of it is due. " * 20}


def _turn(**more: Any) -> dict[str, Any]:
    return {**DECISION, "turn": {**DECISION["turn"], **more}}


_QUESTION: dict[str, Any] = BOUND["turn"]["question"]
_UNASKABLE = {**_QUESTION, "stem": f"{MARK}?", "options": _QUESTION["options"][:1], "recommended_idx": 3}
_DOCUMENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "whole": (DECISION, INVOICE),
    "withheld": (WITHHELD, INVOICE),
    "other": (_turn(synopsis=f"Roll back, {MARK}."), {**INVOICE, "total": 13}),
    "violating": (_turn(question=_UNASKABLE), {"vendor": MARK, "total": 12.5}),
    "drifted": (_turn(kind=f"vendor.{MARK}.thing"), INVOICE),
    "mistyped": ({**DECISION, "reasoning": 7}, {**INVOICE, "note": 7}),
}
"""Each document: as a decision, and as an invoice."""


def document(name: str, asked: ReceivedRequest) -> str:
    """Return a document in the form that was asked for."""
    decision, invoice = _DOCUMENTS[name]
    return json.dumps(decision if _decides(asked) else invoice, ensure_ascii=False)


def _decides(asked: ReceivedRequest) -> bool:
    return "turn" in as_mapping(as_mapping(asked.schema).get("properties"))


@dataclass(frozen=True, slots=True)
class Says:
    """A document, or several, with words around them, and the vendor's word for the end."""

    form: str
    ending: EndReason = EndReason.COMPLETE
    output: int | None = None

    def plan(self, asked: ReceivedRequest) -> PlannedResponse:
        """Return the answer; ``{whole}`` in the form is the document of that name."""
        text = re.sub(r"\{(\w+)\}", lambda found: document(found[1], asked), self.form)
        return PlannedResponse(text, self.ending, output_tokens=self.output, category=CATEGORY, chunk_size=CHUNK)


WHOLE = Says("{whole}")


_HALFWAY = {
    WireFormat.OPENAI_RESPONSES: (16_000, 4_000),
    WireFormat.OPENAI_CHAT: (3_500, 1_500),
    WireFormat.ANTHROPIC: (2_200, 1_200),
    WireFormat.GOOGLE: (2_500, 1_000),
    WireFormat.BEDROCK_CONVERSE: (3_500, 1_500),
    WireFormat.GEMINI_INTERACTIONS: (3_500, 1_500),
}
"""So many bytes of a stream are its beginning and a part of the answer's text: of a decision, of an invoice."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A whole answer that goes astray: before the headers, after the first bytes, or (a stream) amid its text."""

    trip: TransmissionOutcome
    after: int | None = None
    midway: bool = False
    of: Behaviour = field(default=WHOLE)

    def plan(self, asked: ReceivedRequest) -> PlannedResponse:
        """Return the answer, and how far it gets."""
        planned = self.of.plan(asked)
        assert isinstance(planned, PlannedResponse)
        after = _HALFWAY[asked.wire][not _decides(asked)] if self.midway and asked.streamed else self.after
        return replace(planned, transmission=Transmission(self.trip, after))
