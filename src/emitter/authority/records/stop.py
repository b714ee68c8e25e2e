"""STOP / TAKEOVER: a deterministic intervention, of a step or of a whole chain; and RESUME, which lifts a pause.

Source: delegation-invariants, "STOP / TAKEOVER". ``delegate_to`` and ``RESUME`` are ours: the seed names the modes and
does not say who the other agent is, nor how a pause ends.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from emitter.authority.records.form import ABSENT, Name, Record, Text, Timestamp

if TYPE_CHECKING:
    from typing import Self


class StopScope(str, Enum):
    """How much is stopped."""

    STEP = "step"
    CHAIN = "chain"


class TakeoverMode(str, Enum):
    """Who has the control after a stop; without a mode nobody: the stop is final.

    A pause, and what a person took over, can be resumed. In what is delegated only the other agent acts.
    """

    HUMAN = "human"
    PAUSE = "pause"
    DELEGATE = "delegate_to_other_agent"


class Stop(Record):
    """Nothing of the workflow, or of the step, starts after this record."""

    type: Literal["STOP"] = "STOP"
    request_id: Name
    timestamp: Timestamp
    workflow_id: Name
    stop_scope: Annotated[StopScope, Field(strict=False)]
    step_id: Annotated[Name | None, ABSENT] = None
    takeover_mode: Annotated[TakeoverMode | None, Field(strict=False), ABSENT] = None
    delegate_to: Annotated[Name | None, ABSENT] = None
    reason: Annotated[Text | None, ABSENT] = None

    @model_validator(mode="after")
    def _conditional(self) -> Self:
        if (self.step_id is not None) != (self.stop_scope is StopScope.STEP):
            raise ValueError("step_id goes with stop_scope step, and with no other")
        if (self.delegate_to is not None) != (self.takeover_mode is TakeoverMode.DELEGATE):
            raise ValueError("delegate_to goes with takeover_mode delegate_to_other_agent, and with no other")
        return self


class Resume(Record):
    """A stop was lifted: new confirms can be granted; the earlier ones stay dead (ours)."""

    type: Literal["RESUME"] = "RESUME"
    resume_id: Name
    timestamp: Timestamp
    workflow_id: Name
    request_id: Name
    """The stop that is lifted."""
