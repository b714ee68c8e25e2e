"""The six kinds of an authorization envelope.

Source: RFC-0010, "Envelope (Discriminated Union)" and "Client Requirement": clients handle each kind explicitly, and
there is no ``.toString()``. That a dispute has a source is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn, TypeAlias

from pydantic import Field

from emitter.kinds.authorization.form import ABSENT, Number, Params, Part, Said
from emitter.kinds.authorization.parts import NarrativePolicy, OracleConflict, Provenance, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Iterator

AUTHORIZATION: Final = "vendor.emitter.authorization"
"""The kind's id; its payload is ``{reasoning?, authorization}``."""

_NO_TEXT: Final = "An authorization envelope has no text of its own: say with handle(...) what becomes of each kind."


class _Variant(Part):
    """One kind of envelope. It is never turned into text by accident: ``str``, f-strings and ``%s`` raise.

    Its ``repr`` shows the kind and the ids, and no claim.
    """

    def __str__(self) -> NoReturn:
        raise TypeError(_NO_TEXT)

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError(_NO_TEXT)

    def __iter__(self) -> NoReturn:
        raise TypeError(_NO_TEXT)

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Yield what ``repr`` shows, and what libraries that print values show."""
        found = vars(self)
        yield "kind", found.get("kind")
        if isinstance(provenance := found.get("provenance"), Provenance):
            yield "envelope_id", provenance.envelope_id
        if isinstance(reason := found.get("reason"), RefusalReason):
            yield "audit_id", reason.audit_id


class Measurement(_Variant):
    """A number that oracles vouch for; finite, and an integer of at most 2^53 - 1."""

    kind: Literal["measurement"] = "measurement"
    value: Number
    provenance: Provenance


class Classification(_Variant):
    """A label that oracles vouch for."""

    kind: Literal["classification"] = "classification"
    label: Said
    provenance: Provenance


class Action(_Variant):
    """An action that rests on what oracles say. ``params`` are the model's, as far as nobody bound them."""

    kind: Literal["action"] = "action"
    action: Said
    params: Annotated[Params | None, ABSENT] = None
    provenance: Provenance


class Narrative(_Variant):
    """Text without authority, under the policy that it keeps."""

    kind: Literal["narrative"] = "narrative"
    text: Said
    policy: NarrativePolicy


class Refusal(_Variant):
    """No authority, and why."""

    kind: Literal["refusal"] = "refusal"
    reason: RefusalReason


class DisputeSummary(_Variant):
    """Oracles disagree, and nobody is said to be right."""

    kind: Literal["dispute_summary"] = "dispute_summary"
    sources: Annotated[tuple[OracleConflict, ...], Field(strict=False, min_length=1)]


AuthorizationEnvelope: TypeAlias = Measurement | Classification | Action | Narrative | Refusal | DisputeSummary
"""What a client must handle, each kind for itself."""
