"""What an agent says instead of a binding moment: the agent's veto, a question, a failure.

``deliberation`` is ours (draft-morrison-binding-moment-envelope-00, section 6.1, gives it no form);
``clarification.request`` and ``error`` are two of OpenWOP's four universal kinds.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from emitter.kinds.binding_moment import Slot

DELIBERATION = "vendor.emitter.deliberation"
CLARIFICATION_REQUEST = "clarification.request"
ERROR = "error"


class Deliberation(Slot):
    """The agent cannot commit yet: where it stands, what is missing, what it asks leave to do."""

    state: str
    missing: Annotated[tuple[str, ...], Field(strict=False)]
    permission: str


class Clarification(Slot):
    """One question to the principal."""

    id: str
    question: str


class ClarificationRequest(Slot):
    """The agent needs answers before it can even deliberate."""

    questions: Annotated[tuple[Clarification, ...], Field(strict=False, min_length=1)]


class ErrorReport(Slot):
    """The agent cannot do what was asked."""

    code: str
    message: str
