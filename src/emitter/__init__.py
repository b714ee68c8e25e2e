"""Language models that hand over decisions a program can rely on.

Names are loaded when first used: importing this package loads no vendor SDK.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str

    from emitter.accept import Acceptor as Acceptor
    from emitter.accept import Rules as Rules
    from emitter.authority import Authority as Authority
    from emitter.authority import ConfirmRequest as ConfirmRequest
    from emitter.authority import Scope as Scope
    from emitter.authority.envelope import aemit_authorization as aemit_authorization
    from emitter.authority.envelope import emit_authorization as emit_authorization
    from emitter.batch import Batch as Batch
    from emitter.cassette import Record as Record
    from emitter.cassette import Replay as Replay
    from emitter.clock import Clock as Clock
    from emitter.decide import Act as Act
    from emitter.decide import Continuation as Continuation
    from emitter.decide import Dialogue as Dialogue
    from emitter.decide import FreeText as FreeText
    from emitter.decide import Hold as Hold
    from emitter.decide import Incorporate as Incorporate
    from emitter.decide import Reopen as Reopen
    from emitter.decide import Resolution as Resolution
    from emitter.decide import Selected as Selected
    from emitter.decide import Unanswered as Unanswered
    from emitter.decide import Unresolved as Unresolved
    from emitter.decide import continue_after as continue_after
    from emitter.decide import dialogue as dialogue
    from emitter.decide import digest as digest
    from emitter.decide import free_text as free_text
    from emitter.decide import selected as selected
    from emitter.decide.lint import Discipline as Discipline
    from emitter.document import aemit as aemit
    from emitter.document import astream as astream
    from emitter.document import emit as emit
    from emitter.document import stream as stream
    from emitter.door.running import AsyncStream as AsyncStream
    from emitter.door.running import Stream as Stream
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
    from emitter.kinds import AIEnvelope as AIEnvelope
    from emitter.kinds import BindingMoment as BindingMoment
    from emitter.kinds import ClarificationRequest as ClarificationRequest
    from emitter.kinds import Deliberation as Deliberation
    from emitter.kinds import ErrorReport as ErrorReport
    from emitter.kinds import Hatches as Hatches
    from emitter.kinds import Trust as Trust
    from emitter.ledger import Ledger as Ledger
    from emitter.ledger import Pending as Pending
    from emitter.ledger import Resolved as Resolved
    from emitter.many import AsyncRun as AsyncRun
    from emitter.many import Item as Item
    from emitter.many import Job as Job
    from emitter.many import Run as Run
    from emitter.many import RunProgress as RunProgress
    from emitter.many import aemit_binding_moments as aemit_binding_moments
    from emitter.many import aemit_many as aemit_many
    from emitter.many import emit_binding_moments as emit_binding_moments
    from emitter.many import emit_many as emit_many
    from emitter.moment import Emission as Emission
    from emitter.moment import Trace as Trace
    from emitter.moment import Withheld as Withheld
    from emitter.moment import aemit_binding_moment as aemit_binding_moment
    from emitter.moment import astream_binding_moment as astream_binding_moment
    from emitter.moment import emit_binding_moment as emit_binding_moment
    from emitter.moment import stream_binding_moment as stream_binding_moment
    from emitter.policy import Policy as Policy
    from emitter.policy import Prices as Prices
    from emitter.progress import Restart as Restart
    from emitter.progress import Slot as Slot
    from emitter.progress import TextDelta as TextDelta
    from emitter.prompt import Material as Material
    from emitter.redact import Secrets as Secrets
    from emitter.schema import Violation as Violation
    from emitter.sinks import to_all as to_all
    from emitter.sinks import to_jsonl as to_jsonl
    from emitter.sinks import to_logging as to_logging
    from emitter.wire import Usage as Usage

_HOME = {
    "accept": ("Acceptor", "Rules"),
    "authority": ("Authority", "ConfirmRequest", "Scope"),
    "authority.envelope": ("aemit_authorization", "emit_authorization"),
    "batch": ("Batch",),
    "cassette": ("Record", "Replay"),
    "decide": (
        "Act",
        "Continuation",
        "Dialogue",
        "FreeText",
        "Hold",
        "Incorporate",
        "Reopen",
        "Resolution",
        "Selected",
        "Unanswered",
        "Unresolved",
        "continue_after",
        "dialogue",
        "digest",
        "free_text",
        "selected",
    ),
    "decide.lint": ("Discipline",),
    "document": ("aemit", "astream", "emit", "stream"),
    "door.running": ("AsyncStream", "Stream"),
    "clock": ("Clock",),
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
    "kinds": (
        "AIEnvelope",
        "BindingMoment",
        "ClarificationRequest",
        "Deliberation",
        "ErrorReport",
        "Hatches",
        "Trust",
    ),
    "ledger": ("Ledger", "Pending", "Resolved"),
    "many": (
        "AsyncRun",
        "Item",
        "Job",
        "Run",
        "RunProgress",
        "aemit_binding_moments",
        "aemit_many",
        "emit_binding_moments",
        "emit_many",
    ),
    "moment": (
        "Emission",
        "Trace",
        "Withheld",
        "aemit_binding_moment",
        "astream_binding_moment",
        "emit_binding_moment",
        "stream_binding_moment",
    ),
    "progress": ("Restart", "Slot", "TextDelta"),
    "prompt": ("Material",),
    "policy": ("Policy", "Prices"),
    "redact": ("Secrets",),
    "schema": ("Violation",),
    "sinks": ("to_all", "to_jsonl", "to_logging"),
    "wire": ("Usage",),
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
