"""The host side of OpenWOP's AI envelope: what an engine does with an envelope that a model emitted.

``Acceptor(rules).accept(envelope, context)`` takes an envelope through the normative steps and returns what
became of it: accepted, gated, invalid or breached. It never raises for what an envelope may be.

Source: OpenWOP ai-envelope.md (v1.1.1) and the RFCs it names.
"""

from emitter.accept.acceptance import Acceptance as Acceptance
from emitter.accept.acceptor import Acceptor as Acceptor
from emitter.accept.bundle import debug_bundle as debug_bundle
from emitter.accept.case import Handler as Handler
from emitter.accept.case import Rules as Rules
from emitter.accept.catalogue import STANDARD as STANDARD
from emitter.accept.catalogue import Catalogue as Catalogue
from emitter.accept.catalogue import Kind as Kind
from emitter.accept.catalogue import register_kind as register_kind
from emitter.accept.context import DEFAULT_LIMITS as DEFAULT_LIMITS
from emitter.accept.context import Context as Context
from emitter.accept.context import Counters as Counters
from emitter.accept.context import EnvelopeContract as EnvelopeContract
from emitter.accept.context import Limits as Limits
from emitter.accept.context import Strictness as Strictness
from emitter.accept.extract import Extracted as Extracted
from emitter.accept.extract import extract as extract
from emitter.accept.follow_up import follow_up as follow_up
from emitter.accept.follow_up import for_model as for_model
from emitter.accept.outcome import Accepted as Accepted
from emitter.accept.outcome import Breached as Breached
from emitter.accept.outcome import CapKind as CapKind
from emitter.accept.outcome import Code as Code
from emitter.accept.outcome import Gated as Gated
from emitter.accept.outcome import HttpError as HttpError
from emitter.accept.outcome import Invalid as Invalid
from emitter.accept.outcome import Outcome as Outcome
from emitter.accept.outcome import RefusalMode as RefusalMode
from emitter.accept.partial import Bounds as Bounds
from emitter.accept.reassembly import Reassembly as Reassembly
from emitter.accept.replay import diverged as diverged
from emitter.accept.turn import Turn as Turn
from emitter.kinds.envelope import AIEnvelope as AIEnvelope
from emitter.kinds.envelope import Trust as Trust
from emitter.redact import NO_SECRETS as NO_SECRETS
from emitter.redact import Secrets as Secrets
