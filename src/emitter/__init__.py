"""Typed output and decisions from language models.

Public names load on first use, so importing this package loads no vendor SDK.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.api import AsyncEmitter as AsyncEmitter
    from emitter.api import Emitter as Emitter
    from emitter.authority import Authority as Authority
    from emitter.authority import ConfirmRequest as ConfirmRequest
    from emitter.authority import Scope as Scope
    from emitter.authority.envelopes import aemit_authorization as aemit_authorization
    from emitter.authority.envelopes import emit_authorization as emit_authorization
    from emitter.bulk import AsyncRun as AsyncRun
    from emitter.bulk import Job as Job
    from emitter.bulk import JobResult as JobResult
    from emitter.bulk import Run as Run
    from emitter.bulk import RunProgress as RunProgress
    from emitter.bulk import aemit_binding_moments as aemit_binding_moments
    from emitter.bulk import aemit_many as aemit_many
    from emitter.bulk import emit_binding_moments as emit_binding_moments
    from emitter.bulk import emit_many as emit_many
    from emitter.bulk.batches import Batch as Batch
    from emitter.checks import LintConfig as LintConfig
    from emitter.client.binding_moments import Withheld as Withheld
    from emitter.client.binding_moments import aemit_binding_moment as aemit_binding_moment
    from emitter.client.binding_moments import astream_binding_moment as astream_binding_moment
    from emitter.client.binding_moments import emit_binding_moment as emit_binding_moment
    from emitter.client.binding_moments import stream_binding_moment as stream_binding_moment
    from emitter.client.documents import aemit as aemit
    from emitter.client.documents import astream as astream
    from emitter.client.documents import emit as emit
    from emitter.client.documents import stream as stream
    from emitter.client.result import Emission as Emission
    from emitter.client.result import Trace as Trace
    from emitter.client.streams import AsyncStream as AsyncStream
    from emitter.client.streams import Stream as Stream
    from emitter.clock import Clock as Clock
    from emitter.decisions import Act as Act
    from emitter.decisions import Continuation as Continuation
    from emitter.decisions import Dialogue as Dialogue
    from emitter.decisions import FreeText as FreeText
    from emitter.decisions import Hold as Hold
    from emitter.decisions import Incorporate as Incorporate
    from emitter.decisions import Reopen as Reopen
    from emitter.decisions import Resolution as Resolution
    from emitter.decisions import Selected as Selected
    from emitter.decisions import Unresolved as Unresolved
    from emitter.decisions import UnresolvedReason as UnresolvedReason
    from emitter.decisions import answer_in_words as answer_in_words
    from emitter.decisions import continue_after as continue_after
    from emitter.decisions import digest as digest
    from emitter.decisions import open_dialogue as open_dialogue
    from emitter.decisions import select_option as select_option
    from emitter.decisions.ledger import Ledger as Ledger
    from emitter.decisions.ledger_entries import PendingDecision as PendingDecision
    from emitter.decisions.ledger_entries import ResolvedDecision as ResolvedDecision
    from emitter.errors import AuthenticationError as AuthenticationError
    from emitter.errors import AuthorityError as AuthorityError
    from emitter.errors import BadCassette as BadCassette
    from emitter.errors import BadJournal as BadJournal
    from emitter.errors import BadProfile as BadProfile
    from emitter.errors import BadPrompt as BadPrompt
    from emitter.errors import BadRequest as BadRequest
    from emitter.errors import BadTraffic as BadTraffic
    from emitter.errors import CapabilityNotProvided as CapabilityNotProvided
    from emitter.errors import CheckFailed as CheckFailed
    from emitter.errors import CostLimitReached as CostLimitReached
    from emitter.errors import DeadlineReached as DeadlineReached
    from emitter.errors import EmissionError as EmissionError
    from emitter.errors import EmitterError as EmitterError
    from emitter.errors import InputError as InputError
    from emitter.errors import Invalid as Invalid
    from emitter.errors import JournalFailed as JournalFailed
    from emitter.errors import LimitReached as LimitReached
    from emitter.errors import MissingExtra as MissingExtra
    from emitter.errors import MissingKey as MissingKey
    from emitter.errors import NotFound as NotFound
    from emitter.errors import PromptTooLong as PromptTooLong
    from emitter.errors import QuotaExhausted as QuotaExhausted
    from emitter.errors import RateLimited as RateLimited
    from emitter.errors import Refused as Refused
    from emitter.errors import ResolutionError as ResolutionError
    from emitter.errors import StoreFailed as StoreFailed
    from emitter.errors import Tampered as Tampered
    from emitter.errors import TokenLimitReached as TokenLimitReached
    from emitter.errors import TooLong as TooLong
    from emitter.errors import Truncated as Truncated
    from emitter.errors import Uncompilable as Uncompilable
    from emitter.errors import UnexpectedRequest as UnexpectedRequest
    from emitter.errors import UnknownModel as UnknownModel
    from emitter.errors import UnknownModelWarning as UnknownModelWarning
    from emitter.errors import Unreachable as Unreachable
    from emitter.events import RunEvent as RunEvent
    from emitter.host import Acceptor as Acceptor
    from emitter.host import HostConfig as HostConfig
    from emitter.messages import Usage as Usage
    from emitter.models import AIEnvelope as AIEnvelope
    from emitter.models import BindingMoment as BindingMoment
    from emitter.models import ClarificationRequest as ClarificationRequest
    from emitter.models import Deliberation as Deliberation
    from emitter.models import ErrorReport as ErrorReport
    from emitter.models import Hatches as Hatches
    from emitter.models import Trust as Trust
    from emitter.policy import Policy as Policy
    from emitter.policy import Prices as Prices
    from emitter.prompts import Material as Material
    from emitter.redaction import Secrets as Secrets
    from emitter.schema import Violation as Violation
    from emitter.streaming import FieldComplete as FieldComplete
    from emitter.streaming import Restart as Restart
    from emitter.streaming import TextDelta as TextDelta
    from emitter.telemetry.sinks import to_all as to_all
    from emitter.telemetry.sinks import to_jsonl as to_jsonl
    from emitter.telemetry.sinks import to_logging as to_logging
    from emitter.testing.cassettes import RecordingTransport as RecordingTransport
    from emitter.testing.cassettes import ReplayTransport as ReplayTransport

    __version__: str

_HOME = {
    "api": (
        "AsyncEmitter",
        "Emitter",
    ),
    "authority": (
        "Authority",
        "ConfirmRequest",
        "Scope",
    ),
    "authority.envelopes": (
        "aemit_authorization",
        "emit_authorization",
    ),
    "bulk": (
        "AsyncRun",
        "Job",
        "JobResult",
        "Run",
        "RunProgress",
        "aemit_binding_moments",
        "aemit_many",
        "emit_binding_moments",
        "emit_many",
    ),
    "bulk.batches": ("Batch",),
    "checks": ("LintConfig",),
    "client.binding_moments": (
        "Withheld",
        "aemit_binding_moment",
        "astream_binding_moment",
        "emit_binding_moment",
        "stream_binding_moment",
    ),
    "client.documents": (
        "aemit",
        "astream",
        "emit",
        "stream",
    ),
    "client.result": (
        "Emission",
        "Trace",
    ),
    "client.streams": (
        "AsyncStream",
        "Stream",
    ),
    "clock": ("Clock",),
    "decisions": (
        "Act",
        "Continuation",
        "Dialogue",
        "FreeText",
        "Hold",
        "Incorporate",
        "Reopen",
        "Resolution",
        "Selected",
        "Unresolved",
        "UnresolvedReason",
        "answer_in_words",
        "continue_after",
        "digest",
        "open_dialogue",
        "select_option",
    ),
    "decisions.ledger": ("Ledger",),
    "decisions.ledger_entries": (
        "PendingDecision",
        "ResolvedDecision",
    ),
    "errors": (
        "AuthenticationError",
        "AuthorityError",
        "BadCassette",
        "BadJournal",
        "BadProfile",
        "BadPrompt",
        "BadRequest",
        "BadTraffic",
        "CapabilityNotProvided",
        "CheckFailed",
        "CostLimitReached",
        "DeadlineReached",
        "EmissionError",
        "EmitterError",
        "InputError",
        "Invalid",
        "JournalFailed",
        "LimitReached",
        "MissingExtra",
        "MissingKey",
        "NotFound",
        "PromptTooLong",
        "QuotaExhausted",
        "RateLimited",
        "Refused",
        "ResolutionError",
        "StoreFailed",
        "Tampered",
        "TokenLimitReached",
        "TooLong",
        "Truncated",
        "Uncompilable",
        "UnexpectedRequest",
        "UnknownModel",
        "UnknownModelWarning",
        "Unreachable",
    ),
    "events": ("RunEvent",),
    "host": (
        "Acceptor",
        "HostConfig",
    ),
    "messages": ("Usage",),
    "models": (
        "AIEnvelope",
        "BindingMoment",
        "ClarificationRequest",
        "Deliberation",
        "ErrorReport",
        "Hatches",
        "Trust",
    ),
    "policy": (
        "Policy",
        "Prices",
    ),
    "prompts": ("Material",),
    "redaction": ("Secrets",),
    "schema": ("Violation",),
    "streaming": (
        "FieldComplete",
        "Restart",
        "TextDelta",
    ),
    "telemetry.sinks": (
        "to_all",
        "to_jsonl",
        "to_logging",
    ),
    "testing.cassettes": (
        "RecordingTransport",
        "ReplayTransport",
    ),
}
_MODULES = {name: module for module, names in _HOME.items() for name in names}
if not TYPE_CHECKING:  # a type checker that saw these would take every misspelt name for a public one
    __all__ = [*_MODULES, "__version__"]  # noqa: PLE0604  the keys of _MODULES are strings

    def __getattr__(name: str) -> object:
        """Load a public name from the module that has it."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415  few ask for it, and it takes a while to load

            value = version("emitter")
        elif name in _MODULES:
            value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
