"""Drafts of authorization envelopes: the proposals a model may make, their JSON Schema, and their validation.

A draft is not an envelope: it has no provenance, its tag is `proposes` rather than `kind`, and converting it to text
raises. Violations are reported to the model without any of its own text.

Source: RFC-0010, "Separate proposal generation from authority granting".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, assert_never, cast

from emitter.arguments import check_type
from emitter.authority.envelopes.oracles import (
    OracleReading,
    find_disputed_axes,
    find_refusal_violations,
    select_undisputed,
)
from emitter.authority.narrative.scanner import NarrativeRule, names_unknown_source, scan_narrative
from emitter.authority.narrative.text import MEASUREMENT_PLACEHOLDER, scrub_measurements
from emitter.checks.lexicon import LANGUAGE_UNCHECKED
from emitter.checks.text import is_english, split_tokens
from emitter.decisions.canonical_json import CanonicalProfile, normalize_json
from emitter.errors import InputError, NotCanonical
from emitter.findings import Finding, Severity
from emitter.messages import as_list, as_mapping
from emitter.models.authorization import GrammarMode, NarrativePolicy, RefusalCode, Specificity, WorkflowDeclaration
from emitter.schema import Violation
from emitter.schema.json_data import canonical_key
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from emitter.messages import Json

_NO_TEXT_MESSAGE = "A draft has no text form. Turn it into an envelope with authorize_draft(...)."


class _ProposalBase:
    """A proposal without a text form; its ``repr`` shows no content."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"

    def __str__(self) -> NoReturn:
        raise TypeError(_NO_TEXT_MESSAGE)

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError(_NO_TEXT_MESSAGE)


@dataclass(frozen=True, slots=True, repr=False)
class ProposedMeasurement(_ProposalBase):
    """A number on an ``axis``; ``cites`` are the ids of the oracles that support it."""

    axis: str
    value: float
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ProposedClassification(_ProposalBase):
    """A label on an ``axis``; ``cites`` are the ids of the oracles that support it."""

    axis: str
    label: str
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ProposedAction(_ProposalBase):
    """An action, with the axes and oracles that support it."""

    action: str
    axes: tuple[str, ...]
    cites: tuple[str, ...]
    params: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ProposedNarrative(_ProposalBase):
    """Text without authority."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class ProposedRefusal(_ProposalBase):
    """A refusal, with the message shown to the user."""

    code: RefusalCode
    user_message: str
    recovery_hint: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ProposedDispute(_ProposalBase):
    """The axes on which oracles disagree."""

    axes: tuple[str, ...]


ProposedClaim: TypeAlias = ProposedMeasurement | ProposedClassification | ProposedAction
"""The proposals that would have authority."""
AuthorizationDraft: TypeAlias = ProposedClaim | ProposedNarrative | ProposedRefusal | ProposedDispute
"""Any proposal of a model, one type for each kind of envelope."""


def parse_draft(document: Json) -> AuthorizationDraft:
    """Return the draft in a document that is valid against ``build_draft_schema``."""
    proposal = as_mapping(document["proposal"])
    members: dict[str, Any] = {name: tuple(as_list(value)) or value for name, value in proposal.items()}
    kind: str = members.pop("proposes")
    if kind == "refusal":
        return ProposedRefusal(RefusalCode(members.pop("code")), **members)
    return _DRAFT_TYPES[kind](**members)


_DRAFT_TYPES: dict[str, type[AuthorizationDraft]] = {
    "measurement": ProposedMeasurement,
    "classification": ProposedClassification,
    "action": ProposedAction,
    "narrative": ProposedNarrative,
    "dispute_summary": ProposedDispute,
}
DEFAULT_NARRATIVE: Final = NarrativePolicy(
    grammar_mode=GrammarMode.ATTRIBUTIVE,
    forbidden_markers=(),
    max_specificity=Specificity.GENERAL,
    scrub_measurements=False,
)
"""Attributive and general. Measurements are corrected by the model, not cut out of its sentences."""


@dataclass(frozen=True, slots=True)
class EnvelopeStamp:
    """The values the host adds to an envelope: its id, its refusal's audit id, and the time (RFC 3339)."""

    envelope_id: str
    audit_id: str
    generated_at: str


@dataclass(frozen=True, slots=True)
class AuthorizationConstraints:
    """The rules that every envelope of a call must satisfy.

    ``oracles`` are the readings that may be cited, ``narrative`` the policy for text without authority, ``actions``
    the actions that may be proposed (None for any), and ``materials`` the sources of the materials that a narrative may
    attribute a verdict to.

    Raises:
        InputError: An argument is invalid.
    """

    workflow: WorkflowDeclaration
    oracles: tuple[OracleReading, ...] = ()
    narrative: NarrativePolicy = DEFAULT_NARRATIVE
    actions: tuple[str, ...] | None = None
    materials: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_type("workflow", self.workflow, WorkflowDeclaration)
        check_type("narrative", self.narrative, NarrativePolicy)
        _check_not_blank("narrative.forbidden_markers", self.narrative.forbidden_markers)
        for index, reading in enumerate(self.oracles):
            check_type(f"oracles[{index}]", reading, OracleReading)
        for name in ("actions", "materials"):
            for index, text in enumerate(getattr(self, name) or ()):
                check_type(f"{name}[{index}]", text, str)
        _check_not_blank("actions", self.actions or ())

    @classmethod
    def from_arguments(
        cls,
        workflow: WorkflowDeclaration,
        oracles: object = (),
        narrative: NarrativePolicy = DEFAULT_NARRATIVE,
        actions: object = None,
        materials: object = (),
    ) -> Self:
        """Build the constraints from any iterables, or raise ``InputError``."""
        allowed = None if actions is None else _as_tuple("actions", actions)
        return cls(workflow, _as_tuple("oracles", oracles), narrative, allowed, _as_tuple("materials", materials))

    @property
    def cache_key(self) -> tuple[str, ...]:
        """A key that is equal only for equal constraints."""
        readings = [
            [reading.record.model_dump(mode="json"), reading.axis, reading.value, reading.name]
            for reading in self.oracles
        ]
        policies = (self.workflow.model_dump(mode="json"), self.narrative.model_dump(mode="json"))
        parts = (*policies, self.actions, readings, self.materials)
        return tuple(json.dumps(reading) for reading in parts)

    @property
    def oracle_names(self) -> tuple[str, ...]:
        """The ids and names of the oracles, which no user may see."""
        names = [name for reading in self.oracles for name in (reading.record.oracle_id, reading.name)]
        return tuple(dict.fromkeys(name for name in names if name and not is_blank(name)))

    @property
    def sources(self) -> tuple[str, ...]:
        """The names under which a narrative may refer to the materials and readings."""
        return (*self.materials, *self.oracle_names, *(f"{reading.axis} reading" for reading in self.oracles))


def _check_not_blank(name: str, texts: tuple[str, ...]) -> None:
    if any(map(is_blank, texts)):
        raise InputError(f"{name} contains a blank string.", hint="Leave it out.")


def _as_tuple(name: str, values: object) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list.", hint="Wrap the value in a list.")
    return tuple(cast("Iterable[Any]", values))


PROPOSAL_SCHEMA_NAME: Final = "authorization_proposal"
_TEXT_SCHEMA: Final = {"type": "string", "minLength": 1}


def build_draft_schema(constraints: AuthorizationConstraints) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the document that the model writes."""
    return _object_schema(
        reasoning={"type": "string", "description": "Think here first, before the proposal."},
        proposal={"anyOf": [_with_tag(kind, schema) for kind, schema in _iter_kind_schemas(constraints)]},
    )


def list_offered_kinds(constraints: AuthorizationConstraints) -> tuple[str, ...]:
    """Return the kinds a model may propose, which depend on the workflow's authority and the readings."""
    return tuple(kind for kind, _ in _iter_kind_schemas(constraints))


def _iter_kind_schemas(constraints: AuthorizationConstraints) -> Iterator[tuple[str, dict[str, Any]]]:
    if constraints.workflow.authoritative:
        yield from _iter_claim_schemas(constraints)
    yield "narrative", _object_schema(text=_TEXT_SCHEMA)
    code = _enum_schema(code_value.value for code_value in RefusalCode)
    yield "refusal", _object_schema("recovery_hint", code=code, user_message=_TEXT_SCHEMA, recovery_hint=_TEXT_SCHEMA)
    disputed = find_disputed_axes(constraints.oracles)
    if disputed:
        yield "dispute_summary", _object_schema(axes=_array_schema(sorted(disputed)))


def _iter_claim_schemas(constraints: AuthorizationConstraints) -> Iterator[tuple[str, dict[str, Any]]]:
    undisputed = select_undisputed(constraints.oracles)
    verified_axes = {reading.axis for reading in undisputed if reading.is_verified}
    usable = tuple(reading for reading in undisputed if reading.axis in verified_axes)
    if numbers := [reading for reading in usable if reading.number is not None]:
        yield (
            "measurement",
            _object_schema(
                axis=_enum_schema(_reading_axes(numbers)), value={"type": "number"}, cites=_cites_schema(numbers)
            ),
        )
    if labelled := [reading for reading in usable if reading.labels]:
        yield (
            "classification",
            _object_schema(
                axis=_enum_schema(_reading_axes(labelled)), label=_TEXT_SCHEMA, cites=_cites_schema(labelled)
            ),
        )
    if usable and constraints.actions != ():
        action = _TEXT_SCHEMA if constraints.actions is None else _enum_schema(constraints.actions)
        params = {"type": "object", "additionalProperties": True}
        yield (
            "action",
            _object_schema(
                "params",
                action=action,
                axes=_array_schema(_reading_axes(usable)),
                cites=_cites_schema(usable),
                params=params,
            ),
        )


def _reading_axes(readings: Iterable[OracleReading]) -> list[str]:
    return [reading.axis for reading in readings]


def _cites_schema(readings: Iterable[OracleReading]) -> dict[str, Any]:
    return _array_schema(reading.record.oracle_id for reading in readings)


def _enum_schema(values: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(dict.fromkeys(values))}


def _array_schema(values: Iterable[str]) -> dict[str, Any]:
    items = _enum_schema(values)
    return {"type": "array", "items": items, "minItems": 1, "maxItems": len(items["enum"])}


def _object_schema(*optional: str, **properties: Any) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _with_tag(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Add the tag as the first member of a schema."""
    properties = {"proposes": {"type": "string", "enum": [kind]}, **schema["properties"]}
    return {**schema, "properties": properties, "required": ["proposes", *schema["required"]]}


_PROPOSAL_POINTER = "/proposal"
_NO_AUTHORITY = Violation(
    f"{_PROPOSAL_POINTER}/proposes", "authority", "a kind without authority: this workflow emits no other"
)
_ACTION_NOT_ALLOWED = Violation(f"{_PROPOSAL_POINTER}/action", "action", "one of the actions that are allowed")
_EMPTY_TEXT = Violation(f"{_PROPOSAL_POINTER}/text", "empty", "text that is more than measurements")
_BLANK_MARKER = Violation(f"{_PROPOSAL_POINTER}/text", "policy", "a policy whose markers can be seen")
_DISPUTED_AXIS = "an axis on which the oracles agree; where they do not, propose dispute_summary"
_AGREED_AXES = "axes on which the oracles disagree"
_UNVERIFIED_ORACLES = "an oracle above the tier unverified, for every axis"
_FOREIGN_CITES = "oracles that have a reading on the axis"
_OTHER_VALUE = "the value of the cited reading, as it is"
_OTHER_LABEL = "the text of the cited reading, or one of its texts where it is a list, letter for letter"
_PARAMS_EXPECTED = "JSON that every reader understands alike: integers of at most 2^53 - 1, at most 64 levels"


def find_violations(draft: AuthorizationDraft, constraints: AuthorizationConstraints) -> tuple[Violation, ...]:
    """Return the violations of a draft; pointers refer to the document it was parsed from."""
    return tuple(_iter_violations(draft, constraints))


def find_cited_readings(draft: ProposedClaim, constraints: AuthorizationConstraints) -> list[OracleReading]:
    """Return the readings a draft cites, in the order of the constraints."""
    axes = _claim_axes(draft)
    return [
        reading for reading in constraints.oracles if reading.axis in axes and reading.record.oracle_id in draft.cites
    ]


def scrub_narrative(text: str, policy: NarrativePolicy) -> str:
    """Return a narrative's text, without measurements if the policy requires it."""
    return scrub_measurements(text) if policy.scrub_measurements else text


def find_narrative_violations(text: str, policy: NarrativePolicy, sources: tuple[str, ...]) -> tuple[Violation, ...]:
    """Return the rules of a policy that a text breaks, each once; blank text and blank markers are violations.

    ``sources`` name the materials and readings to which the text may attribute a verdict or an instruction.
    """
    if is_blank(text.replace(MEASUREMENT_PLACEHOLDER, "")):
        return (_EMPTY_TEXT,)
    if any(map(is_blank, policy.forbidden_markers)):
        return (_BLANK_MARKER,)
    violations = (
        Violation(f"{_PROPOSAL_POINTER}/text", NarrativeRule(finding.rule).value, finding.expected)
        for finding in scan_narrative(text, policy, sources=sources)
    )
    return tuple(dict.fromkeys(violations))


def _iter_violations(draft: AuthorizationDraft, constraints: AuthorizationConstraints) -> Iterator[Violation]:
    match draft:
        case ProposedMeasurement() | ProposedClassification() | ProposedAction():
            yield from _authority_violations(draft, constraints)
            yield from _claim_violations(draft, constraints)
        case ProposedNarrative(text=text):
            policy = constraints.narrative
            yield from find_narrative_violations(scrub_narrative(text, policy), policy, constraints.sources)
        case ProposedRefusal():
            yield from _refusal_violations(draft, constraints)
        case ProposedDispute(axes=axes):
            if not axes or not find_disputed_axes(constraints.oracles).issuperset(axes):
                yield Violation(f"{_PROPOSAL_POINTER}/axes", "agreed", _AGREED_AXES)
        case _:
            assert_never(draft)


_UNKNOWN_SOURCE: Final = "Each source is a material or a reading that was given, named as it is there."
_LANGUAGE_UNREAD: Final = "Not checked: language. No rule for the wording reads the language of this text."


def find_doubts(draft: AuthorizationDraft, constraints: AuthorizationConstraints) -> tuple[Finding, ...]:
    """Return what may be wrong with a valid draft: a source that the call does not have, a language nobody reads."""
    return tuple(_iter_doubts(draft, constraints))


def _iter_doubts(draft: AuthorizationDraft, constraints: AuthorizationConstraints) -> Iterator[Finding]:
    if isinstance(draft, ProposedNarrative):
        pointer, text = f"{_PROPOSAL_POINTER}/text", draft.text
        is_attributive = constraints.narrative.grammar_mode is GrammarMode.ATTRIBUTIVE
        if is_attributive and names_unknown_source(text, constraints.sources):
            yield Finding(pointer, "unknown-source", Severity.WARNING, _UNKNOWN_SOURCE)
    elif isinstance(draft, ProposedRefusal):
        pointer, text = f"{_PROPOSAL_POINTER}/user_message", f"{draft.user_message} {draft.recovery_hint or ''}"
    else:
        return
    if not is_english(split_tokens(text)):
        yield Finding(pointer, LANGUAGE_UNCHECKED, Severity.WARNING, _LANGUAGE_UNREAD)


def _claim_axes(draft: ProposedClaim) -> tuple[str, ...]:
    return draft.axes if isinstance(draft, ProposedAction) else (draft.axis,)


def _authority_violations(draft: ProposedClaim, constraints: AuthorizationConstraints) -> Iterator[Violation]:
    """Yield the reasons why the cited oracles cannot support the claim, whatever its content."""
    axes, cited = _claim_axes(draft), find_cited_readings(draft, constraints)
    if not constraints.workflow.authoritative:
        yield _NO_AUTHORITY
    if find_disputed_axes(constraints.oracles).intersection(axes):
        place = "axes" if isinstance(draft, ProposedAction) else "axis"
        yield Violation(f"{_PROPOSAL_POINTER}/{place}", "disputed", _DISPUTED_AXIS)
    if not {reading.record.oracle_id for reading in cited}.issuperset(draft.cites):
        yield Violation(f"{_PROPOSAL_POINTER}/cites", "cites", _FOREIGN_CITES)
    if not axes or not {reading.axis for reading in cited if reading.is_verified}.issuperset(axes):
        yield Violation(f"{_PROPOSAL_POINTER}/cites", "unverified", _UNVERIFIED_ORACLES)


def _claim_violations(draft: ProposedClaim, constraints: AuthorizationConstraints) -> Iterator[Violation]:
    """Yield the differences between the claim and the cited readings."""
    match draft:
        case ProposedMeasurement(value=value):
            if not any(
                reading.value_key == canonical_key(value) for reading in find_cited_readings(draft, constraints)
            ):
                yield Violation(f"{_PROPOSAL_POINTER}/value", "value", _OTHER_VALUE)
        case ProposedClassification(label=label):
            if not any(label in reading.labels for reading in find_cited_readings(draft, constraints)):
                yield Violation(f"{_PROPOSAL_POINTER}/label", "label", _OTHER_LABEL)
        case ProposedAction():
            yield from _action_violations(draft, constraints)
        case _:
            assert_never(draft)


def _action_violations(draft: ProposedAction, constraints: AuthorizationConstraints) -> Iterator[Violation]:
    if constraints.actions is not None and draft.action not in constraints.actions:
        yield _ACTION_NOT_ALLOWED
    try:
        normalize_json(draft.params, CanonicalProfile.WIRE)
    except NotCanonical:
        yield Violation(f"{_PROPOSAL_POINTER}/params", "params", _PARAMS_EXPECTED)


def _refusal_violations(draft: ProposedRefusal, constraints: AuthorizationConstraints) -> Iterator[Violation]:
    if is_blank(draft.user_message):
        yield Violation(f"{_PROPOSAL_POINTER}/user_message", "blank", "a sentence for the user")
    for member, text in (("user_message", draft.user_message), ("recovery_hint", draft.recovery_hint or "")):
        for rule, expected in find_refusal_violations(
            text, constraints.oracle_names, constraints.narrative.forbidden_markers
        ):
            yield Violation(f"{_PROPOSAL_POINTER}/{member}", rule, expected)
