"""What becomes of an answer that holds: it goes through the host's steps, like any other envelope.

Secrets are struck out of the document first, and the value is read anew from what is left, so that neither holds
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.accept import Accepted, Acceptor, Code, Context, Gated, Invalid, RefusalMode, Rules, record
from emitter.accept.case import Case
from emitter.accept.context import UNLIMITED
from emitter.accept.gates.permission import limits
from emitter.accept.gates.shape import shape
from emitter.accept.turn import count, counting
from emitter.errors import EmitterError
from emitter.judge import Verdict
from emitter.kinds import AIEnvelope, Source
from emitter.steps import Failure, Taken

if TYPE_CHECKING:
    from emitter.accept import Acceptance, Outcome
    from emitter.door.form import Enclosing
    from emitter.judge import Contract
    from emitter.wire import Json

DEFAULT_HOST = Acceptor(Rules(limits=UNLIMITED), store=None)
"""Takes every kind of this library's, knows no secret, advertises no limit and remembers nothing."""


@dataclass(frozen=True, slots=True)
class Taking:
    """The host's side of one emission: ``enclosing`` puts an answer into its envelope, and takes it out again.

    ``turn`` is the node's turn, within which the host counts envelopes; ``kind`` is what is asked for.
    """

    host: Acceptor
    contract: Contract
    context: Context
    correlation_id: str
    enclosing: Enclosing
    turn: int
    kind: str

    def known(self) -> Taken | None:
        """Return what was accepted for this emission before, by whichever process; None where nothing was."""
        store = self.host.store
        entry = None if store is None else store.find(self.context.run_id, self.correlation_id)
        recorded = None if entry is None else record.envelope(entry, self.host.rules.secrets)
        allowed = recorded is not None and self.context.contract.allows(recorded.type)
        return self._again(recorded) if recorded is not None and allowed else None

    def full(self) -> Taken | None:
        """Return the host's refusal where it could take no envelope of this turn; None where there is room for one."""
        if self.host is DEFAULT_HOST:
            return None
        with counting(self.host, self.context, self.turn, self.kind, self.correlation_id) as context:
            counted = context.counters.envelopes
        if counted < self.host.rules.limits.envelopes_per_turn:
            return None
        case = shape(self.host.receive(self._envelope(self.kind, None), context))
        outcome = limits(case) if isinstance(case, Case) else case
        if isinstance(outcome, Case) or not isinstance(case, Case):
            return None
        return Taken(None, None, events=self.host.refuse(outcome, case).events, failure=_refused(outcome))

    def __call__(self, value: Any, document: Json) -> Taken:
        """Return what the host makes of the answer."""
        clean = self.host.rules.secrets.json(document)
        if clean.count:
            reading = self.contract.accept(clean.value)
            if reading.violations or reading.raised is not None:
                return Taken(value, document, failure=_STRUCK)
            value, document = reading.value, clean.value
        kind, payload = self.enclosing.enclose(value, document)
        try:
            acceptance = self._accepted(kind, payload)
        except EmitterError:
            raise
        except Exception as error:  # noqa: BLE001  code of the host's own: what was spent must not be lost with it
            return Taken(value, document, failure=_raised(error))
        outcome = acceptance.outcome
        known = self.known() if isinstance(outcome, Invalid) and outcome.code is Code.CONFLICT else None
        if known is not None:
            return known
        if acceptance.envelope is None:
            discarded = isinstance(outcome, Gated) and outcome.refusal_mode is RefusalMode.DISCARD_AND_WARN
            return Taken(value, document, events=acceptance.events, failure=_refused(outcome), discarded=discarded)
        if acceptance.cached:
            return self._again(acceptance.envelope) or Taken(value, document, failure=_OTHERWISE)
        return Taken(value, document, acceptance.envelope, acceptance.events)

    def _accepted(self, kind: str, payload: Json) -> Acceptance:
        envelope = self._envelope(kind, payload)
        if self.host is DEFAULT_HOST:
            return self.host.accept(envelope, self.context)
        with counting(self.host, self.context, self.turn, kind, self.correlation_id) as context:
            found = self.host.accept(envelope, context)
            count(self.host, self.turn, found)
        return found

    def _again(self, recorded: AIEnvelope) -> Taken | None:
        """Return what a recorded envelope holds, if the form that is asked for today still takes it."""
        answer = self.enclosing.disclose(self.contract, recorded)
        return None if answer is None else Taken(*answer, recorded)

    def _envelope(self, kind: str, payload: Json) -> Json:
        context, host = self.context, self.host
        version = host.rules.catalogue.versions.get(kind, 1)
        return {
            "type": kind,
            "schemaVersion": version,
            "envelopeId": host.mint(),
            "correlationId": self.correlation_id,
            "nodeId": context.node_id,
            "payload": payload,
            "meta": {
                "source": Source.AI_GENERATION.value,
                "ts": host.stamp(),
                "contentTrust": context.inputs.value,
            },
        }


def _raised(error: Exception) -> Failure:
    return Failure(Verdict.UNCHECKED, Code.PAYLOAD.value, f"The host raised {type(error).__name__}.", error)


def _refused(outcome: Outcome) -> Failure:
    code = Code.PAYLOAD if isinstance(outcome, Accepted) else outcome.code
    reason = "" if isinstance(outcome, Accepted) else f": {outcome.reason}"
    return Failure(Verdict.VIOLATED, code.value, f"The host did not take the envelope{reason}.")


_OTHERWISE = Failure(
    Verdict.VIOLATED,
    "envelope_correlation_conflict",
    "What was accepted under this run, node and turn before is not what is asked for now.",
)
_STRUCK = Failure(
    Verdict.VIOLATED, "envelope_invalid", "Without the secrets in it the answer does not satisfy the required form."
)
