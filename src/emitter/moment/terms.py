"""The terms of a decision: what the caller decides about it before the model is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.arguments import check_kind
from emitter.decide.lint import DEFAULT_DISCIPLINE, Discipline
from emitter.errors import InputError
from emitter.kinds import OPEN_HATCHES, Hatches
from emitter.moment.acting import check_hatches, labelled, told
from emitter.moment.after import continuations, vetoes

if TYPE_CHECKING:
    from emitter.decide import Continuation
    from emitter.moment.acting import Actions
    from emitter.moment.after import After


@dataclass(frozen=True, slots=True)
class Terms:
    """What every envelope of the call has to hold; raises ``InputError`` for what none may.

    ``after`` are the answers to earlier envelopes, the earliest first. ``actions`` are the options that do something.
    """

    hatches: Hatches = OPEN_HATCHES
    decision_class: str | None = None
    discipline: Discipline = DEFAULT_DISCIPLINE
    after: tuple[Continuation, ...] = ()
    actions: Actions = field(default_factory=dict[str, "str | None"])

    def __post_init__(self) -> None:
        named: Any = self.decision_class
        if named is not None and (not isinstance(named, str) or not named.strip()):
            raise InputError(f"decision_class is {named!r}; it must be a text such as 'consent', or None.")
        check_kind("hatches", self.hatches, Hatches)
        check_kind("discipline", self.discipline, Discipline)
        check_hatches(self.actions, self.discipline)
        if vetoes(self.after) and not self.hatches.dialogue:
            raise InputError(
                "The principal refused a question, and hatches= would not let them refuse the next.",
                hint="Leave the dialogue hatch open.",
            )

    @property
    def told(self) -> tuple[str, ...]:
        """What tells these terms from others, but for ``after``, which stands in the prompt."""
        changed = (f"{rule.value}={severity.value}" for rule, severity in self.discipline.changed.items())
        return (self.hatches.model_dump_json(), self.decision_class or "", *sorted(changed), *told(self.actions))

    @classmethod
    def of(
        cls,
        hatches: Hatches,
        decision_class: str | None,
        discipline: Discipline | None,
        after: After,
        actions: Actions,
    ) -> Terms:
        """Return the terms as a caller gave them."""
        chosen = DEFAULT_DISCIPLINE if discipline is None else discipline
        return cls(hatches, decision_class, chosen, continuations(after), labelled(actions))
