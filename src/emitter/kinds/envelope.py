"""The AIEnvelope: OpenWOP's closed document around every payload (ai-envelope.schema.json)."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

LONGEST_ID = 128
"""Characters of an id."""


class Source(str, Enum):
    """Who made the envelope."""

    AI_GENERATION = "ai-generation"
    USER = "user"
    SYSTEM = "system"


class Trust(str, Enum):
    """Whether everything that went in was trusted; one untrusted input taints."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Display(str, Enum):
    """How the producer would have a payload shown (RFC 0055): a hint, which changes nothing else."""

    MARKDOWN = "markdown"
    CODE = "code"
    CARD = "card"
    IMAGE = "image"
    AUDIO = "audio"
    FILE = "file"


_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", re.ASCII)
NO_MOMENT = "ts must be ISO 8601 in UTC, such as 2026-01-31T12:00:00Z"


def _in_utc(ts: str) -> str:
    found = _MOMENT.fullmatch(ts)
    if found is None:
        raise ValueError(NO_MOMENT)
    try:
        datetime.fromisoformat(found[1])
    except ValueError as error:
        raise ValueError(NO_MOMENT) from error
    return ts


def _whole(given: object) -> object:
    """Return 1.0 as 1, which is the same number in JSON."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _no_null(given: object) -> object:
    if given is None:
        raise ValueError("an absent member must be left out, not null")
    return given


class _Closed(BaseModel):
    """A closed, frozen object whose members have a name here and a camel-case one on the wire."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, validate_by_name=True, validate_by_alias=True)


Integer = Annotated[int, BeforeValidator(_whole)]
Id = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
_ABSENT = BeforeValidator(_no_null)


class RenderingHint(_Closed):
    """How the producer would have the payload shown; who does not know a value falls back to plain text."""

    display: Annotated[Display | None, Field(strict=False), _ABSENT] = None
    mime_type: Annotated[str | None, Field(alias="mimeType"), _ABSENT] = None
    lang: Annotated[str | None, _ABSENT] = None
    alt: Annotated[str | None, _ABSENT] = None
    title: Annotated[str | None, _ABSENT] = None


class EnvelopeMeta(_Closed):
    """Where and when the envelope was made; ``ts`` is ISO 8601 in UTC, ``traceparent`` W3C trace context."""

    source: Annotated[Source, Field(strict=False)]
    ts: Annotated[str, AfterValidator(_in_utc)]
    content_trust: Annotated[Trust | None, Field(alias="contentTrust", strict=False), _ABSENT] = None
    traceparent: Annotated[str | None, _ABSENT] = None
    label: Annotated[str | None, Field(max_length=256), _ABSENT] = None
    rendering: Annotated[RenderingHint | None, _ABSENT] = None


class PartialInfo(_Closed):
    """Which chunk of an emission in several this is: ``index`` counts from 0, ``total`` is -1 where unknown."""

    is_partial: Annotated[bool, Field(alias="isPartial")]
    index: Annotated[Integer, Field(ge=0)]
    total: Annotated[Integer, Field(ge=-1)]


class AIEnvelope(_Closed):
    """One typed emission. Ids are opaque strings of 1 to 128 characters; ``payload`` is any JSON value."""

    type: Annotated[str, Field(min_length=1, max_length=256)]
    schema_version: Annotated[Integer, Field(alias="schemaVersion", ge=0)] = 0
    envelope_id: Annotated[Id, Field(alias="envelopeId")]
    correlation_id: Annotated[Id, Field(alias="correlationId")]
    node_id: Annotated[Id | None, Field(alias="nodeId"), _ABSENT] = None
    payload: Any
    meta: EnvelopeMeta
    partial: Annotated[PartialInfo | None, _ABSENT] = None

    def to_json(self) -> dict[str, Any]:
        """Return the wire form; what is absent is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def correlation_id(run_id: str, node_id: str, turn: int, kind: str) -> str:
    """Return the id that OpenWOP recommends: ``${runId}:${nodeId}:${turnIndex}:${kindHash}``."""
    return f"{run_id}:{node_id}:{turn}:{_digest(kind)}"


@lru_cache(maxsize=256)
def _digest(kind: str) -> str:
    return hashlib.sha256(kind.encode()).hexdigest()[:8]
