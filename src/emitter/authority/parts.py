"""What every act of an authority needs at hand, and how its hooks are called."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from emitter.authority import telling
from emitter.authority.listing import INDEX
from emitter.authority.rules.allow import Now
from emitter.authority.steps import Theirs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.authority.hooks import Hook
    from emitter.authority.journal import Journal
    from emitter.authority.records import Receipt
    from emitter.authority.running import Running
    from emitter.authority.steps import Step, Steps
    from emitter.decide.digest import AnswerCheck
    from emitter.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Parts:
    """``limits`` are names of the host's own; ``max_skew`` is by how many seconds clocks may differ.

    ``answers`` looks at the signature of an answer, None where nobody does.
    """

    journal: Journal
    ledger: Ledger
    actor: str
    hooks: tuple[Hook, ...]
    limits: frozenset[str]
    max_skew: float
    running: Running
    answers: AnswerCheck | None = None

    def now(self, at: float) -> Now:
        """Return who acts, at a time in seconds since 1970."""
        return Now(self.actor, at, self.max_skew)


def before(parts: Parts, name: str, about: object) -> Steps[None]:
    """Call a hook before something happens; what one raises keeps it from happening."""
    yield from _calls(parts, name, about)


def after(parts: Parts, name: str, about: object) -> Steps[None]:
    """Call a hook after something happened; what one raises is told, and the others are called."""
    for step in _calls(parts, name, about):
        try:
            yield step
        except Exception as error:  # noqa: BLE001  what happened, happened, and so did its record
            tell_failed(parts, name, error)


def tell_failed(parts: Parts, name: str, error: Exception) -> None:
    """Tell of somebody else's code that raised after an act; its own words may be anybody's, and are left out."""
    parts.journal.tell(telling.stamped(telling.hook_failed(name, error), INDEX, parts.journal.now(), name))
    told = f"{name} raised {type(error).__name__}; what was recorded stands."
    warnings.warn(told, RuntimeWarning, stacklevel=2)


def tell_settled(parts: Parts, receipt: Receipt) -> None:
    """Tell of an act that ended otherwise than somebody had said of it meanwhile."""
    told = telling.settled_otherwise(receipt.receipt_id)
    parts.journal.tell(telling.stamped(told, INDEX, parts.journal.now(), receipt.workflow_id))
    warnings.warn("An act ended otherwise than it was settled as; the receipt stands.", RuntimeWarning, stacklevel=2)


def _calls(parts: Parts, name: str, about: object) -> Iterator[Step]:
    for hook in parts.hooks:
        call = getattr(hook, name, None)
        if call is not None:
            yield Theirs(partial(call, about))
