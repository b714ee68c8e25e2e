"""Accept the AI envelopes that a model emits, as an OpenWOP host does.

``Acceptor(config).accept(envelope, context)`` runs an envelope through the normative steps and returns an
``Acceptance``: accepted, gated, invalid or breached. It never raises because of what an envelope contains.

Source: OpenWOP ai-envelope.md (v1.1.1) and the RFCs it names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.host.acceptor import Acceptor as Acceptor
    from emitter.host.acceptor import Turn as Turn
    from emitter.host.config import DEFAULT_LIMITS as DEFAULT_LIMITS
    from emitter.host.config import Counters as Counters
    from emitter.host.config import EnvelopeContext as EnvelopeContext
    from emitter.host.config import EnvelopeContract as EnvelopeContract
    from emitter.host.config import Handler as Handler
    from emitter.host.config import HostConfig as HostConfig
    from emitter.host.config import HostLimits as HostLimits
    from emitter.host.config import Strictness as Strictness
    from emitter.host.kinds import STANDARD as STANDARD
    from emitter.host.kinds import EnvelopeKind as EnvelopeKind
    from emitter.host.kinds import KindRegistry as KindRegistry
    from emitter.host.model_text import ExtractedDocument as ExtractedDocument
    from emitter.host.model_text import build_follow_up as build_follow_up
    from emitter.host.model_text import extract_documents as extract_documents
    from emitter.host.model_text import render_for_model as render_for_model
    from emitter.host.observability import build_debug_bundle as build_debug_bundle
    from emitter.host.outcomes import Accepted as Accepted
    from emitter.host.outcomes import Breached as Breached
    from emitter.host.outcomes import CapKind as CapKind
    from emitter.host.outcomes import EnvelopeOutcome as EnvelopeOutcome
    from emitter.host.outcomes import Gated as Gated
    from emitter.host.outcomes import HttpError as HttpError
    from emitter.host.outcomes import InvalidEnvelope as InvalidEnvelope
    from emitter.host.outcomes import OutcomeCode as OutcomeCode
    from emitter.host.outcomes import RefusalMode as RefusalMode
    from emitter.host.partial import ChunkLimits as ChunkLimits
    from emitter.host.pipeline import Acceptance as Acceptance
    from emitter.host.reassembler import EnvelopeReassembler as EnvelopeReassembler
    from emitter.host.registry import register_kind as register_kind
    from emitter.host.replay import find_divergence_events as find_divergence_events
    from emitter.messages import Trust as Trust
    from emitter.models.envelope import AIEnvelope as AIEnvelope
    from emitter.redaction import NO_SECRETS as NO_SECRETS
    from emitter.redaction import Secrets as Secrets
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "acceptor": "Acceptor Turn",
            "config": (
                "DEFAULT_LIMITS Counters EnvelopeContext EnvelopeContract Handler HostConfig HostLimits Strictness"
            ),
            "kinds": "STANDARD EnvelopeKind KindRegistry",
            "model_text": "ExtractedDocument build_follow_up extract_documents render_for_model",
            "observability": "build_debug_bundle",
            "outcomes": (
                "Accepted Breached CapKind EnvelopeOutcome Gated HttpError InvalidEnvelope OutcomeCode RefusalMode"
            ),
            "partial": "ChunkLimits",
            "reassembler": "EnvelopeReassembler",
            "pipeline": "Acceptance",
            "registry": "register_kind",
            "replay": "find_divergence_events",
            ".messages": "Trust",
            ".models.envelope": "AIEnvelope",
            ".redaction": "NO_SECRETS Secrets",
        },
    )
