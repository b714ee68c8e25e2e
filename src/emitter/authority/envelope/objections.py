"""What forbids a draft to become an envelope, told to the model without a word of what it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from emitter.authority.envelope.draft import (
    Draft,
    ProposedAction,
    ProposedClaim,
    ProposedClassification,
    ProposedDispute,
    ProposedMeasurement,
    ProposedNarrative,
    ProposedRefusal,
)
from emitter.authority.envelope.reading import disputed
from emitter.authority.envelope.refusing import told
from emitter.authority.narrative import WITHHELD, Rule, scan, scrub
from emitter.decide.blank import is_blank
from emitter.decide.canonical import Profile, conform
from emitter.errors import NotCanonical
from emitter.schema import Violation
from emitter.schema.value import same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.authority.envelope.reading import OracleReading
    from emitter.authority.envelope.terms import Terms
    from emitter.kinds.authorization import NarrativePolicy

_AT = "/proposal"
_AUTHORITY = Violation(f"{_AT}/proposes", "authority", "a kind without authority: this workflow emits no other")
_NOT_ALLOWED = Violation(f"{_AT}/action", "action", "one of the actions that are allowed")
_EMPTY = Violation(f"{_AT}/text", "empty", "text that is more than measurements")
_NO_POLICY = Violation(f"{_AT}/text", "policy", "a policy whose markers can be seen")
_DISPUTED = "an axis on which the oracles agree; where they do not, propose dispute_summary"
_AGREED = "axes on which the oracles disagree"
_UNVERIFIED = "an oracle above the tier unverified, for every axis"
_CITES = "oracles that have a reading on the axis"
_VALUE = "the value of the cited reading, as it is"
_LABEL = "the text of the cited reading, or one of its texts where it is a list, letter for letter"
_PARAMS = "JSON that every reader understands alike: integers of at most 2^53 - 1, at most 64 levels"


def objections(draft: Draft, terms: Terms) -> tuple[Violation, ...]:
    """Return what forbids the draft; pointers lead into the document that it was read from."""
    return tuple(_objections(draft, terms))


def cited(draft: ProposedClaim, terms: Terms) -> list[OracleReading]:
    """Return the readings that a draft rests on, in the order in which the host gave them."""
    axes = _axes(draft)
    return [each for each in terms.oracles if each.axis in axes and each.record.oracle_id in draft.cites]


def narrated(text: str, policy: NarrativePolicy) -> str:
    """Return a narrative's text as its policy would have it: without measurements, where it says so."""
    return scrub(text) if policy.scrub_measurements else text


def marked(text: str, policy: NarrativePolicy) -> tuple[Violation, ...]:
    """Return what a policy finds in a narrative's text, each rule once: where it is broken would tell nobody anything.

    A text of which nothing is left says nothing, and a policy with a marker that nobody can see allows nothing.
    """
    if is_blank(text.replace(WITHHELD, "")):
        return (_EMPTY,)
    if any(map(is_blank, policy.forbidden_markers)):
        return (_NO_POLICY,)
    found = (Violation(f"{_AT}/text", Rule(each.rule).value, each.expected) for each in scan(text, policy))
    return tuple(dict.fromkeys(found))


def _objections(draft: Draft, terms: Terms) -> Iterator[Violation]:
    match draft:
        case ProposedMeasurement() | ProposedClassification() | ProposedAction():
            yield from _on_authority(draft, terms)
            yield from _on_claim(draft, terms)
        case ProposedNarrative(text=text):
            yield from marked(narrated(text, terms.narrative), terms.narrative)
        case ProposedRefusal():
            yield from _on_refusal(draft, terms)
        case ProposedDispute(axes=axes):
            if not axes or not disputed(terms.oracles).issuperset(axes):
                yield Violation(f"{_AT}/axes", "agreed", _AGREED)
        case _:
            assert_never(draft)


def _axes(draft: ProposedClaim) -> tuple[str, ...]:
    return draft.axes if isinstance(draft, ProposedAction) else (draft.axis,)


def _on_authority(draft: ProposedClaim, terms: Terms) -> Iterator[Violation]:
    """Yield why the oracles that are cited do not carry the claim, whatever it says."""
    axes, rests_on = _axes(draft), cited(draft, terms)
    if not terms.workflow.authoritative:
        yield _AUTHORITY
    if disputed(terms.oracles).intersection(axes):
        place = "axes" if isinstance(draft, ProposedAction) else "axis"
        yield Violation(f"{_AT}/{place}", "disputed", _DISPUTED)
    if not {each.record.oracle_id for each in rests_on}.issuperset(draft.cites):
        yield Violation(f"{_AT}/cites", "cites", _CITES)
    if not axes or not {each.axis for each in rests_on if each.verified}.issuperset(axes):
        yield Violation(f"{_AT}/cites", "unverified", _UNVERIFIED)


def _on_claim(draft: ProposedClaim, terms: Terms) -> Iterator[Violation]:
    """Yield where the claim is not what they say."""
    match draft:
        case ProposedMeasurement(value=value):
            if not any(each.key == same(value) for each in cited(draft, terms)):
                yield Violation(f"{_AT}/value", "value", _VALUE)
        case ProposedClassification(label=label):
            if not any(label in each.labels for each in cited(draft, terms)):
                yield Violation(f"{_AT}/label", "label", _LABEL)
        case ProposedAction():
            yield from _on_action(draft, terms)
        case _:
            assert_never(draft)


def _on_action(draft: ProposedAction, terms: Terms) -> Iterator[Violation]:
    if terms.actions is not None and draft.action not in terms.actions:
        yield _NOT_ALLOWED
    try:
        conform(draft.params, Profile.WIRE)
    except NotCanonical:
        yield Violation(f"{_AT}/params", "params", _PARAMS)


def _on_refusal(draft: ProposedRefusal, terms: Terms) -> Iterator[Violation]:
    if is_blank(draft.user_message):
        yield Violation(f"{_AT}/user_message", "blank", "a sentence for the user")
    for member, text in (("user_message", draft.user_message), ("recovery_hint", draft.recovery_hint or "")):
        for rule, expected in told(text, terms.names, terms.narrative.forbidden_markers):
            yield Violation(f"{_AT}/{member}", rule, expected)
