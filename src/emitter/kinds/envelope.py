"""The AIEnvelope: OpenWOP's closed document around every payload (ai-envelope.schema.json)."""

from __future__ import annotations

import re
from datetime import datetime
from enum import Enum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Source(str, Enum):
    """Who made the envelope."""

    AI_GENERATION = "ai-generation"
    USER = "user"
    SYSTEM = "system"


class Trust(str, Enum):
    """Whether everything that went in was trusted; one untrusted input taints."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)")


def _in_utc(ts: str) -> str:
    if not _MOMENT.fullmatch(ts) or not ts.isascii():
        raise ValueError("ts must be ISO 8601 in UTC, such as 2026-01-31T12:00:00Z")
    datetime.fromisoformat(ts)
    return ts


class _Closed(BaseModel):
    """A closed, frozen object whose members have a name here and a camel-case one on the wire."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True)


class EnvelopeMeta(_Closed):
    """Where and when the envelope was made; ``ts`` is ISO 8601 in UTC."""

    source: Source
    ts: Annotated[str, AfterValidator(_in_utc)]
    content_trust: Annotated[Trust, Field(alias="contentTrust")]


class AIEnvelope(_Closed):
    """One typed emission. Ids are opaque strings of 1 to 128 characters."""

    type: Annotated[str, Field(min_length=1, max_length=256)]
    schema_version: Annotated[int, Field(alias="schemaVersion", ge=0)] = 1
    envelope_id: Annotated[str, Field(alias="envelopeId", min_length=1, max_length=128)]
    correlation_id: Annotated[str, Field(alias="correlationId", min_length=1, max_length=128)]
    node_id: Annotated[str, Field(alias="nodeId", min_length=1, max_length=128)]
    payload: dict[str, Any]
    meta: EnvelopeMeta

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        return self.model_dump(mode="json", by_alias=True)
