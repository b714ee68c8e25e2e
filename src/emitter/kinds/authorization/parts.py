"""What the kinds of an authorization envelope are made of.

Source: RFC-0010, "Supporting Types", member for member. ``OracleVerificationRecord`` is ours: the RFC names it and does
not say what is in it. So is that texts and ids are not empty.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeAlias

from pydantic import Field

from emitter.kinds.authorization.form import ABSENT, Part, Said, Timestamp, Value


class Tier(str, Enum):
    """How far an oracle is to be believed."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    CROSS_DOMAIN = "cross_domain"
    UNVERIFIED = "unverified"


class GrammarMode(str, Enum):
    """How a narrative speaks: by naming who says it, with reserve, or as teaching."""

    ATTRIBUTIVE = "attributive"
    HEDGED = "hedged"
    EDUCATIONAL = "educational"


class Specificity(str, Enum):
    """How precise a narrative may be."""

    GENERAL = "general"
    CONTEXTUALIZED = "contextualized"


class RefusalCode(str, Enum):
    """Why authority is refused, as far as a client is told."""

    BLOCKED = "BLOCKED"
    UNRESOLVABLE = "UNRESOLVABLE"
    POLICY_VIOLATION = "POLICY_VIOLATION"
    EMERGENCY_ESCALATION = "EMERGENCY_ESCALATION"


_Tier: TypeAlias = Annotated[Tier, Field(strict=False)]


class OracleVerificationRecord(Part):
    """That an oracle was asked, and when (ours; the first three members are those that ``OracleConflict`` has).

    ``value_hash`` is the digest of what it said (``emitter.decide.digest_of``), ``method`` how it was asked, and
    ``source_version`` which edition of it answered.
    """

    oracle_id: Said
    tier: _Tier
    verified_at: Timestamp
    value_hash: Annotated[Said | None, ABSENT] = None
    method: Annotated[Said | None, ABSENT] = None
    source_version: Annotated[Said | None, ABSENT] = None


class Provenance(Part):
    """What a claim rests on: one oracle at least, the envelopes it was made of, when it was made, and its id."""

    oracle_records: Annotated[tuple[OracleVerificationRecord, ...], Field(strict=False, min_length=1)]
    derived_from: Annotated[tuple[Said, ...] | None, Field(strict=False), ABSENT] = None
    generated_at: Timestamp
    envelope_id: Said


class NarrativePolicy(Part):
    """How a narrative may be worded; ``scrub_measurements`` strips numbers with units out of it."""

    grammar_mode: Annotated[GrammarMode, Field(strict=False)]
    forbidden_markers: Annotated[tuple[Said, ...], Field(strict=False)]
    max_specificity: Annotated[Specificity, Field(strict=False)]
    scrub_measurements: bool


class RefusalReason(Part):
    """Why there is no authority: a text that may be shown, and an id to look the rest up by."""

    code: Annotated[RefusalCode, Field(strict=False)]
    user_message: Said
    recovery_hint: Annotated[Said | None, ABSENT] = None
    audit_id: Said


class OracleValue(Part):
    """What one oracle says; ``value`` is any JSON value."""

    oracle_id: Said
    tier: _Tier
    value: Value
    verified_at: Timestamp


class OracleConflict(Part):
    """Oracles that disagree on one axis."""

    axis: Said
    oracles: Annotated[tuple[OracleValue, ...], Field(strict=False, min_length=2)]
    resolution_attempted: bool
    escalation_required: bool
