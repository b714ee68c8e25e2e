"""Handling an envelope: what becomes of each kind, all of them said.

Source: RFC-0010, "Client Requirement": clients must handle each variant explicitly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, assert_never

from emitter.authority.envelope.given import checked
from emitter.kinds.authorization import (
    Action,
    AuthorizationEnvelope,
    Classification,
    DisputeSummary,
    Measurement,
    Narrative,
    Refusal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def handle(  # noqa: PLR0913  there are six kinds, and none may be forgotten
    envelope: AuthorizationEnvelope,
    *,
    measurement: Callable[[Measurement], T],
    classification: Callable[[Classification], T],
    action: Callable[[Action], T],
    narrative: Callable[[Narrative], T],
    refusal: Callable[[Refusal], T],
    dispute_summary: Callable[[DisputeSummary], T],
) -> T:
    """Return what the function for the envelope's kind makes of it; every kind needs one.

    Raises ``InputError`` for what is no authorization envelope, such as a draft or the envelope of a decision.
    """
    found = checked(envelope)
    match found:
        case Measurement():
            return measurement(found)
        case Classification():
            return classification(found)
        case Action():
            return action(found)
        case Narrative():
            return narrative(found)
        case Refusal():
            return refusal(found)
        case DisputeSummary():
            return dispute_summary(found)
        case _:
            assert_never(found)
