"""An authorization envelope, as something to ask for."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from emitter import prompt
from emitter.authority.envelope import draft, form
from emitter.authority.envelope.authorize import authorize
from emitter.authority.envelope.enforce import hand_out
from emitter.authority.envelope.given import recorded
from emitter.authority.envelope.objections import objections
from emitter.authority.envelope.verifying import Unverified
from emitter.authority.envelope.wire import to_json
from emitter.door.form import Enclosing, Wanted
from emitter.kinds import AUTHORIZATION, Trust
from emitter.kinds.authorization import Refusal
from emitter.kinds.turn import with_reasoning
from emitter.prompt import Material
from emitter.schema.findings import Reading
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.authority.envelope.reading import OracleReading
    from emitter.authority.envelope.terms import Stamp, Terms
    from emitter.authority.envelope.verifying import Verify
    from emitter.judge import Contract
    from emitter.kinds import AIEnvelope, AuthorizationEnvelope
    from emitter.wire import Json


def wanted(terms: Terms, stamp: Callable[[], Stamp], verify: Verify | None) -> Wanted:
    """Return what to ask for; ``stamp`` gives each envelope its ids and its time."""

    def read(document: Json) -> Reading[AuthorizationEnvelope | Unverified]:
        proposed = draft.read(document)
        found = objections(proposed, terms)
        return Reading(violations=found) if found else Reading(authorize(proposed, terms, stamp(), verify))

    return Wanted(
        kind=AUTHORIZATION,
        node="emit_authorization",
        name=form.NAME,
        schema=form.schema(terms),
        words=partial(prompt.authorization, kinds=form.offered(terms), policy=terms.narrative),
        read=read,
        enclosing=_enclosing(terms, verify),
        tidy=with_reasoning,
        terms=terms.told,
    )


def shown(terms: Terms) -> tuple[Material, ...]:
    """Return the readings as the model is shown them; nobody vouches for those of tier ``unverified``."""
    by_trust = {
        Trust.TRUSTED: [each for each in terms.oracles if each.verified],
        Trust.UNTRUSTED: [each for each in terms.oracles if not each.verified],
    }
    return tuple(Material(_lines(readings), _SOURCE, trust) for trust, readings in by_trust.items() if readings)


_SOURCE = "readings of the oracles, one a line"


def _lines(readings: Iterable[OracleReading]) -> str:
    return "\n".join(json.dumps(_line(each), ensure_ascii=False) for each in readings)


def _line(reading: OracleReading) -> dict[str, Json]:
    record = reading.record
    named = {} if reading.name is None else {"name": reading.name}
    asked = {"tier": record.tier.value, "verified_at": record.verified_at}
    return {"axis": reading.axis, "value": reading.value, "oracle_id": record.oracle_id, **named, **asked}


def _enclosing(terms: Terms, verify: Verify | None) -> Enclosing:
    """Put an envelope into its payload; what is taken out again is held to the terms, and verified, anew.

    A refusal goes without the reasoning, which would tell all that the refusal must not.
    """

    def enclose(made: AuthorizationEnvelope | Unverified, document: Json) -> tuple[str, Json]:
        envelope = made.for_the_record() if isinstance(made, Unverified) else made
        reasoning = "" if isinstance(envelope, Refusal) else mapping(document)["reasoning"]
        thought = {"reasoning": reasoning} if reasoning else {}
        return AUTHORIZATION, {**thought, "authorization": to_json(envelope)}

    def disclose(_: Contract, envelope: AIEnvelope) -> tuple[AuthorizationEnvelope | Unverified, Json] | None:
        found = recorded(mapping(envelope.payload).get("authorization")) if envelope.type == AUTHORIZATION else None
        return None if found is None else (hand_out(found, terms, verify), envelope.payload)

    return Enclosing(enclose, disclose)
