"""The terms under which a draft may become an envelope: what the host decides before the model is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from emitter.authority.envelope.reading import OracleReading
from emitter.decide.blank import is_blank
from emitter.errors import InputError
from emitter.kinds.authorization import GrammarMode, NarrativePolicy, Specificity, WorkflowDeclaration

if TYPE_CHECKING:
    from typing import Self

DEFAULT_NARRATIVE: Final = NarrativePolicy(
    grammar_mode=GrammarMode.ATTRIBUTIVE,
    forbidden_markers=(),
    max_specificity=Specificity.GENERAL,
    scrub_measurements=False,
)
"""Attributive and general; a measurement is sent back to the model, rather than cut out of a sentence."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the host adds to an envelope: its id, the id its refusal is looked up by, and the time, in RFC 3339."""

    envelope_id: str
    audit_id: str
    generated_at: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What every envelope of a call is held to; raises ``InputError`` for what is none.

    ``oracles`` are the readings that may be cited, ``narrative`` is the policy of text without authority, ``actions``
    are those that may be proposed, None for any.
    """

    workflow: WorkflowDeclaration
    oracles: tuple[OracleReading, ...] = ()
    narrative: NarrativePolicy = DEFAULT_NARRATIVE
    actions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _check("workflow", self.workflow, WorkflowDeclaration)
        _check("narrative", self.narrative, NarrativePolicy)
        _check_seen("narrative.forbidden_markers", self.narrative.forbidden_markers)
        for index, reading in enumerate(self.oracles):
            _check(f"oracles[{index}]", reading, OracleReading)
        for index, action in enumerate(self.actions or ()):
            _check(f"actions[{index}]", action, str)
        _check_seen("actions", self.actions or ())

    @classmethod
    def of(
        cls,
        workflow: WorkflowDeclaration,
        oracles: object = (),
        narrative: NarrativePolicy = DEFAULT_NARRATIVE,
        actions: object = None,
    ) -> Self:
        """Return the terms as a caller gave them, lists of any kind; raises ``InputError`` for what is none."""
        allowed = None if actions is None else _listed("actions", actions)
        return cls(workflow, _listed("oracles", oracles), narrative, allowed)

    @property
    def told(self) -> tuple[str, ...]:
        """What tells these terms from others."""
        readings = [[each.record.model_dump(mode="json"), each.axis, each.value, each.name] for each in self.oracles]
        parts = (self.workflow.model_dump(mode="json"), self.narrative.model_dump(mode="json"), self.actions, readings)
        return tuple(json.dumps(each) for each in parts)

    @property
    def names(self) -> tuple[str, ...]:
        """What no user is told: the ids and names of the oracles."""
        found = [name for each in self.oracles for name in (each.record.oracle_id, each.name)]
        return tuple(dict.fromkeys(each for each in found if each and not is_blank(each)))


def _check(name: str, given: object, kind: type) -> None:
    if not isinstance(given, kind):
        raise InputError(f"{name} is of type {type(given).__name__}; it must be of type {kind.__name__}.")


def _check_seen(name: str, texts: tuple[str, ...]) -> None:
    if any(map(is_blank, texts)):
        raise InputError(f"{name} holds a text in which nothing can be seen.", hint="Leave it out.")


def _listed(name: str, given: object) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a list.", hint="Put what belongs there into one.")
    return tuple(cast("Iterable[Any]", given))
