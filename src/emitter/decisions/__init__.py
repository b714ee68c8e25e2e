"""Binding moments, their digests, the principal's answers, and what each answer allows the agent to do next.

The ledger, which records decisions, is in ``emitter.decisions.ledger``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.decisions.canonical_json import digest as digest
    from emitter.decisions.canonical_json import digest_of as digest_of
    from emitter.decisions.envelope_parsing import DRAFT as DRAFT
    from emitter.decisions.envelope_parsing import MOMENT_FIELD as MOMENT_FIELD
    from emitter.decisions.envelope_parsing import MalformedEnvelope as MalformedEnvelope
    from emitter.decisions.envelope_parsing import parse_moment as parse_moment
    from emitter.decisions.envelope_parsing import parse_moment_text as parse_moment_text
    from emitter.decisions.resolution import MAX_ANSWER_LENGTH as MAX_ANSWER_LENGTH
    from emitter.decisions.resolution import RESOLUTION_SCHEMA as RESOLUTION_SCHEMA
    from emitter.decisions.resolution import Act as Act
    from emitter.decisions.resolution import Continuation as Continuation
    from emitter.decisions.resolution import Dialogue as Dialogue
    from emitter.decisions.resolution import FreeText as FreeText
    from emitter.decisions.resolution import Hold as Hold
    from emitter.decisions.resolution import Incorporate as Incorporate
    from emitter.decisions.resolution import Reopen as Reopen
    from emitter.decisions.resolution import Resolution as Resolution
    from emitter.decisions.resolution import Selected as Selected
    from emitter.decisions.resolution import Unresolved as Unresolved
    from emitter.decisions.resolution import UnresolvedReason as UnresolvedReason
    from emitter.decisions.resolution import answer_in_words as answer_in_words
    from emitter.decisions.resolution import continue_after as continue_after
    from emitter.decisions.resolution import open_dialogue as open_dialogue
    from emitter.decisions.resolution import resolution_from_json as resolution_from_json
    from emitter.decisions.resolution import resolution_to_json as resolution_to_json
    from emitter.decisions.resolution import select_option as select_option
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "canonical_json": "digest digest_of",
            "envelope_parsing": "DRAFT MOMENT_FIELD MalformedEnvelope parse_moment parse_moment_text",
            "resolution": (
                "MAX_ANSWER_LENGTH RESOLUTION_SCHEMA Act Continuation Dialogue FreeText Hold Incorporate Reopen "
                "Resolution Selected Unresolved UnresolvedReason answer_in_words continue_after open_dialogue "
                "resolution_from_json resolution_to_json select_option"
            ),
        },
    )
