"""Limits: which there are, and how much of each is left. Money is in its currency's main unit, and exact.

Source: delegation-invariants, ``limits`` (``budget_usd``, ``max_side_effects``). The seed leaves them open; that an
unknown one authorizes nothing, and that an act says what it takes of each, is ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.authority.records.form import BUDGET, plus
from emitter.errors import LimitExceeded, LimitUnknown, LimitUnstated

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from emitter.authority.records.form import Amount

SIDE_EFFECTS: Final = "max_side_effects"
"""How many acts that change something."""


def is_known(name: str, more: Collection[str] = ()) -> bool:
    """Tell whether a limit can be enforced: side effects, ``budget_`` and an ISO 4217 code, or one in ``more``."""
    return name == SIDE_EFFECTS or name in more or re.fullmatch(BUDGET, name) is not None


def check_known(limits: Mapping[str, Amount], more: Collection[str] = ()) -> None:
    """Raise ``LimitUnknown`` where a limit is none that can be enforced."""
    unknown = [name for name in limits if not is_known(name, more)]
    if unknown:
        raise LimitUnknown(
            f"Nobody here can enforce {unknown[0]}, so an authority with that limit authorizes nothing.",
            hint="Use max_side_effects, budget_usd (in dollars) or another currency, or name your own with "
            "Authority(limits=).",
        )


def taken(spends: Mapping[str, Amount], *, is_pure: bool) -> dict[str, Amount]:
    """Return what an act takes of each limit; one that changes something is one side effect at least."""
    return dict(spends) if is_pure else {**spends, SIDE_EFFECTS: max(1, spends.get(SIDE_EFFECTS, 1))}


def check_left(limits: Mapping[str, Amount], spent: Mapping[str, Amount], takes: Mapping[str, Amount]) -> None:
    """Raise ``LimitUnstated`` or ``LimitExceeded`` where an act takes more than is left, or does not say how much."""
    unstated = [name for name in limits if name != SIDE_EFFECTS and name not in takes]
    if unstated:
        raise LimitUnstated(
            f"The act does not say how much it takes of {unstated[0]}.", hint="Say it with spends=, 0 for nothing."
        )
    beyond = [name for name, amount in takes.items() if amount and name not in limits and name != SIDE_EFFECTS]
    if beyond:
        raise LimitUnstated(f"The act takes of {beyond[0]}, which was not granted.", hint="Ask for it as a limit.")
    for name, limit in limits.items():
        left = plus(limit, -spent.get(name, 0))
        if takes.get(name, 0) > left:
            raise LimitExceeded(
                f"The act would take more of {name} than is left: {left:,}.", hint="Ask the principal for more."
            )
