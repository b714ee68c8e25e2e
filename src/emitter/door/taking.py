"""What becomes of an answer that holds: it goes through the host's steps, like any other envelope.

Secrets are struck out of the document first, and the value is read anew from what is left, so that neither holds
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.accept import Accepted, Acceptor, Code, Context, Invalid, record
from emitter.errors import EmitterError
from emitter.judge import Verdict
from emitter.kinds import AIEnvelope, Source
from emitter.steps import Failure, Taken

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.accept import Outcome
    from emitter.judge import Contract
    from emitter.wire import Json

DEFAULT_HOST = Acceptor(store=None)
"""Takes every kind of this library's, knows no secret and remembers nothing."""


@dataclass(frozen=True, slots=True)
class Enclosing:
    """From an answer to its kind and payload, and from an envelope back to the answer: its value and document.

    ``disclose`` returns None for an envelope that the contract of today does not take.
    """

    enclose: Callable[[Any, Json], tuple[str, Json]]
    disclose: Callable[[Contract, AIEnvelope], tuple[Any, Json] | None]


@dataclass(frozen=True, slots=True)
class Taking:
    """The host's side of one emission: ``enclosing`` puts an answer into its envelope, and takes it out again."""

    host: Acceptor
    contract: Contract
    context: Context
    correlation_id: str
    enclosing: Enclosing

    def known(self) -> Taken | None:
        """Return what was accepted for this emission before, by whichever process; None where nothing was."""
        store = self.host.store
        entry = None if store is None else store.find(self.context.run_id, self.correlation_id)
        recorded = None if entry is None else record.envelope(entry, self.host.rules.secrets)
        return None if recorded is None else self._again(recorded)

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
            acceptance = self.host.accept(self._envelope(kind, payload), self.context)
        except EmitterError:
            raise
        except Exception as error:  # noqa: BLE001  code of the host's own: what was spent must not be lost with it
            return Taken(value, document, failure=_raised(error))
        outcome = acceptance.outcome
        known = self.known() if isinstance(outcome, Invalid) and outcome.code is Code.CONFLICT else None
        if known is not None:
            return known
        if acceptance.envelope is None:
            return Taken(value, document, events=acceptance.events, failure=_refused(outcome))
        if acceptance.cached:
            return self._again(acceptance.envelope) or Taken(value, document, failure=_OTHERWISE)
        return Taken(value, document, acceptance.envelope, acceptance.events)

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
