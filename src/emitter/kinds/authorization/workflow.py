"""The workflow's declaration: whether it may emit authority, and when its oracles are asked.

Source: RFC-0010, "Workflow-Level Authoritative Intent". When INLINE and ASYNC ask is ours: the Authority Latency Policy
of RFC-0002 could not be read.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import ConfigDict, Field, model_validator

from emitter.kinds.authorization.form import Part, Said

if TYPE_CHECKING:
    from typing import Self

    from pydantic.config import JsonDict


class AuthoritativeIntent(str, Enum):
    """Whether a workflow may emit authority at all."""

    AUTHORITATIVE = "authoritative"
    NON_AUTHORITATIVE = "non_authoritative"


class EnforcementMode(str, Enum):
    """When the oracles are asked: before an envelope is handed out, after it, or never, for none has authority."""

    INLINE = "INLINE"
    ASYNC = "ASYNC"
    NON_AUTHORITATIVE_ONLY = "NON_AUTHORITATIVE_ONLY"


_CONTRADICTION: Final[JsonDict] = {
    "properties": {
        "authoritative_intent": {"const": AuthoritativeIntent.AUTHORITATIVE.value},
        "enforcement_mode": {"const": EnforcementMode.NON_AUTHORITATIVE_ONLY.value},
    }
}


class WorkflowDeclaration(Part):
    """Whether a workflow may emit authority, and how it is enforced; "other workflow config" is not looked at."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"not": _CONTRADICTION})

    workflow_id: Said
    authoritative_intent: Annotated[AuthoritativeIntent, Field(strict=False)]
    enforcement_mode: Annotated[EnforcementMode, Field(strict=False)]

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        never = self.enforcement_mode is EnforcementMode.NON_AUTHORITATIVE_ONLY
        if never and self.authoritative_intent is AuthoritativeIntent.AUTHORITATIVE:
            raise ValueError("a workflow that is NON_AUTHORITATIVE_ONLY cannot be authoritative")
        return self

    @property
    def authoritative(self) -> bool:
        """Whether it may emit measurements, classifications and actions."""
        return self.authoritative_intent is AuthoritativeIntent.AUTHORITATIVE
