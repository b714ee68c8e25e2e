"""What the model reads in its next turn, of what became of its envelope.

Source: ai-envelope.md, "schema.request payload", "Validation outcomes" (the details go back to the model) and
"Trust boundary" (untrusted content that goes back to a model is marked).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from emitter import prompt
from emitter.accept.outcome import Code, Gated, Invalid
from emitter.accept.telling import REPAIRABLE, counts_as_round
from emitter.kinds.envelope import Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.accept.acceptance import Acceptance
    from emitter.kinds.envelope import AIEnvelope
    from emitter.prompt import Prompts

SOURCE = "run-event"
"""Where an envelope comes from that goes back to a model (OpenWOP's word)."""


def follow_up(acceptance: Acceptance, prompts: Prompts | None = None) -> str | None:
    """Return the words for the model's next turn: the schema it asked for, or what it is to mend; None if neither.

    Not a word of the envelope is repeated. A node that failed has no next turn.
    """
    if acceptance.failed:
        return None
    words, outcome = prompts or prompt.load(), acceptance.outcome
    if acceptance.requested is not None:
        return _schema(words, acceptance.requested, acceptance)
    if isinstance(outcome, Gated) and (counts_as_round(outcome) or outcome.code is Code.CONTRACT):
        return prompt.corrective(words, [f"/type: enum: one of {', '.join(outcome.allowed_kinds)}"])
    if isinstance(outcome, Invalid) and outcome.code in REPAIRABLE:
        return prompt.corrective(words, outcome.violations)
    return None


def _schema(words: Prompts, requested: str, acceptance: Acceptance) -> str:
    catalogue = acceptance.rules.catalogue
    kind = catalogue.get(requested)
    if kind is None:
        return prompt.schema_unknown(words, catalogue.ids)
    return prompt.schema_reply(words, kind.id, kind.version or 0, kind.schema)


def for_model(envelope: AIEnvelope, *, source: str = SOURCE, attributes: Mapping[str, str] | None = None) -> str:
    """Return the envelope's payload as a model may read it: fenced, unless it is trusted.

    The fence names the envelope's kind and ``source``, such as ``"mcp-tool"``, and has ``attributes`` that say more of
    where the content comes from, such as ``{"tool": "search"}``. Nothing in any of them can close the fence. Raises
    ``InputError`` for an attribute whose name is no identifier, or is ``type`` or ``source``.
    """
    text = json.dumps(envelope.payload, ensure_ascii=False)
    if envelope.meta.content_trust is Trust.TRUSTED:
        return text
    return prompt.fenced(text, envelope.type, source, attributes or {})
