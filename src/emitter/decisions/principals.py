"""The people who answer decisions, what they may do, and the answers that are recorded in their name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from emitter.decisions.ledger_arguments import check_principal
from emitter.decisions.ledger_entries import PendingDecision
from emitter.decisions.resolution import Selected

if TYPE_CHECKING:
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import ResolvedDecision
    from emitter.decisions.resolution import Resolution


@dataclass(frozen=True, slots=True)
class Principal:
    """A person who may read and answer decisions, as the service that authenticated them knows them.

    Attributes:
        id: The name that is recorded with each answer, such as an e-mail address or the subject of an ID token.
        name: The name that pages show. Defaults to the id.
        groups: The groups of the person, for your policy.
        sign: Signs the person's answers with their own key: see ``emitter.authority.signing.make_signer``. Without it,
            the ledger's own ``sign`` counts.

    Raises:
        InputError: The id is blank, too long or not printable, or has invisible characters.
    """

    id: str
    name: str = ""
    groups: frozenset[str] = frozenset()
    sign: Callable[[str], str] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_principal("A principal's id", self.id)


DecisionAction: TypeAlias = Literal["see", "answer"]
"""An action of a principal on a decision."""
MayFunction: TypeAlias = Callable[[Principal, PendingDecision, DecisionAction], bool]
"""Returns True if a principal may see or answer a decision. Anything but True means no."""


def is_allowed(may: MayFunction | None, principal: Principal, pending: PendingDecision, action: DecisionAction) -> bool:
    """Return what a policy says. Without one, everything is allowed."""
    return may is None or may(principal, pending, action) is True


def is_same_principal(one: str, other: str) -> bool:
    """Return whether two names are one person's: whatever their case, outer spaces and compatible characters (NFKC)."""
    return _fold_name(one) == _fold_name(other)


def _fold_name(name: str) -> str:
    # Case folding can undo the normalization, so the name is normalized again.
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded).strip()


def record_answer(
    ledger: Ledger, principal: Principal | None, pending: PendingDecision, answer: Resolution, channel: str
) -> PendingDecision | ResolvedDecision:
    """Record an answer, in a principal's name if it is known.

    It may be the first of two approvals, which resolves nothing.
    """
    if principal is None:
        return ledger.resolve(pending.decision_id, answer, channel=channel)
    named: dict[str, Any] = {"principal": principal.id, "sign": principal.sign, "channel": channel}
    if isinstance(answer, Selected) and pending.needs_two(answer):
        return ledger.approve(pending.decision_id, answer, **named)
    return ledger.resolve(pending.decision_id, answer, **named)
