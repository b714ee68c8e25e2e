"""Model OpenWOP's ``AIEnvelope`` and the payload of a plain document.

Source: ai-envelope.schema.json. The document kind is emitter's own: its payload holds the document's name and value,
because the caller's schema has no kind of its own.
"""

from __future__ import annotations

import hashlib
import re
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from emitter.messages import Trust
from emitter.outside_values import parse_date

if TYPE_CHECKING:
    from emitter.messages import Json

MAX_ID_LENGTH = 128
"""The most characters of an id."""


class EnvelopeSource(str, Enum):
    """The origin of an envelope."""

    AI_GENERATION = "ai-generation"
    USER = "user"
    SYSTEM = "system"


class DisplayHint(str, Enum):
    """The producer's preferred display of a payload (RFC 0055). It changes nothing else."""

    MARKDOWN = "markdown"
    CODE = "code"
    CARD = "card"
    IMAGE = "image"
    AUDIO = "audio"
    FILE = "file"


_UTC_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", re.ASCII)
BAD_TIMESTAMP = "ts must be ISO 8601 in UTC, such as 2026-01-31T12:00:00Z"


def _check_utc_timestamp(timestamp: str) -> str:
    parsed = _UTC_TIMESTAMP.fullmatch(timestamp)
    if parsed is None or parse_date(parsed[1]) is None:
        raise ValueError(BAD_TIMESTAMP)
    return timestamp


def _integral_float_to_int(value: object) -> object:
    """Convert 1.0 to 1, which is the same number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _reject_null(value: object) -> object:
    if value is None:
        raise ValueError("an absent member must be left out, not null")
    return value


class ClosedModel(BaseModel):
    """A closed, frozen object without type coercion. An absent member is left out, never null."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class _CamelModel(ClosedModel):
    """An object whose members are in camel case on the wire."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)


Integer = Annotated[int, BeforeValidator(_integral_float_to_int)]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH)]
REJECT_NULL = BeforeValidator(_reject_null)


class RenderingHint(_CamelModel):
    """The preferred display of the payload. A reader that does not know a value shows plain text."""

    display: Annotated[DisplayHint | None, Field(strict=False), REJECT_NULL] = None
    mime_type: Annotated[str | None, Field(alias="mimeType"), REJECT_NULL] = None
    lang: Annotated[str | None, REJECT_NULL] = None
    alt: Annotated[str | None, REJECT_NULL] = None
    title: Annotated[str | None, REJECT_NULL] = None


class EnvelopeMeta(_CamelModel):
    """The origin and time of an envelope. ``ts`` is ISO 8601 in UTC, ``traceparent`` is W3C trace context."""

    source: Annotated[EnvelopeSource, Field(strict=False)]
    ts: Annotated[str, AfterValidator(_check_utc_timestamp)]
    content_trust: Annotated[Trust | None, Field(alias="contentTrust", strict=False), REJECT_NULL] = None
    traceparent: Annotated[str | None, REJECT_NULL] = None
    label: Annotated[str | None, Field(max_length=256), REJECT_NULL] = None
    rendering: Annotated[RenderingHint | None, REJECT_NULL] = None


class PartialInfo(_CamelModel):
    """The position of a chunk: ``index`` starts at 0, and ``total`` is -1 if it is unknown."""

    is_partial: Annotated[bool, Field(alias="isPartial")]
    index: Annotated[Integer, Field(ge=0)]
    total: Annotated[Integer, Field(ge=-1)]


class AIEnvelope(_CamelModel):
    """One typed emission. Ids are opaque strings of 1 to 128 characters; ``payload`` is any JSON value."""

    type: Annotated[str, Field(min_length=1, max_length=256)]
    schema_version: Annotated[Integer, Field(alias="schemaVersion", ge=0)] = 0
    envelope_id: Annotated[Id, Field(alias="envelopeId")]
    correlation_id: Annotated[Id, Field(alias="correlationId")]
    node_id: Annotated[Id | None, Field(alias="nodeId"), REJECT_NULL] = None
    payload: Any
    meta: EnvelopeMeta
    partial: Annotated[PartialInfo | None, REJECT_NULL] = None

    def to_json(self) -> dict[str, Any]:
        """Return the wire form, without absent members."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def make_correlation_id(run_id: str, node_id: str, turn: int, kind: str) -> str:
    """Return the id that OpenWOP recommends: ``${runId}:${nodeId}:${turnIndex}:${kindHash}``."""
    return f"{run_id}:{node_id}:{turn}:{_short_digest(kind)}"


@lru_cache(maxsize=256)
def _short_digest(kind: str) -> str:
    return hashlib.sha256(kind.encode()).hexdigest()[:8]


def document_payload(name: str, document: Json) -> dict[str, Json]:
    """Return the payload of a plain document's envelope."""
    return {"name": name, "document": document}
