"""Draw a decision as the form of an MCP elicitation, and read its result. This needs no SDK.

The result names no envelope, so it belongs to the request that it answers; pass ``digest`` beside it to have it
checked. ``decline`` and ``cancel`` leave the decision unresolved.

Sources: draft-morrison-binding-moment-envelope-00, sections 6.3 and 8; the Model Context Protocol's
``elicitation/create`` in form mode (2025-06-18, 2025-11-25 and 2026-07-28).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.decisions import Unresolved, UnresolvedReason, digest
from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import BadResolution
from emitter.messages import as_mapping
from emitter.render.layout import build_layout, option_title
from emitter.render.replies import (
    CHOICE,
    MAX_ANSWER_LENGTH,
    check_digest,
    encode_choice,
    parse_form_reply,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.layout import Hatch, Layout, OptionLayout

DIGEST_KEY = "binding_moment_digest"
"""The name in ``_meta`` that holds the envelope's digest."""
FIRST_TITLED_REVISION = "2025-11-25"
"""The first revision in which each entry of a list carries its title."""
_UNANSWERED_ACTIONS = {"decline": UnresolvedReason.DECLINED, "cancel": UnresolvedReason.CANCELLED}


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The elicitation renderer, for a client of a ``revision`` of the protocol."""

    revision: str = FIRST_TITLED_REVISION
    name: str = "elicitation"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the parameters of ``elicitation/create``. Their ``_meta`` names the envelope."""
        return {
            "mode": "form",
            "message": build_message(moment),
            "requestedSchema": build_form_schema(moment, self.revision),
            "_meta": {DIGEST_KEY: digest(moment)},
        }

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return the outcome of an ``ElicitResult``. See ``parse_elicit_result``."""
        return parse_elicit_result(moment, reply)


def build_message(moment: BindingMoment) -> str:
    """Return the briefing, the question and the options with their reasoning, as plain text."""
    return "\n".join(_message_lines(build_layout(moment)))


def build_form_schema(moment: BindingMoment, revision: str = FIRST_TITLED_REVISION) -> dict[str, Json]:
    """Return the form's schema: a choice without a default, and a text field for each veto."""
    layout = build_layout(moment)
    entries = [
        {"const": encode_choice(ResolutionOutcome.SELECTED, choice.index), "title": _entry_title(choice)}
        for choice in layout.choices
    ]
    entries += [{"const": encode_choice(hatch.outcome), "title": hatch.label} for hatch in layout.hatches]
    decision = {"type": "string", "title": "Your decision", **_choice_schema(entries, revision)}
    fields = {hatch.field: _veto_field(hatch) for hatch in layout.hatches}
    return {"type": "object", "properties": {CHOICE: decision, **fields}, "required": [CHOICE]}


def parse_elicit_result(moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
    """Return the outcome of an ``ElicitResult``, or raise ``ResolutionError``. A ``digest`` in it is checked."""
    result = as_mapping(reply)
    if "digest" in result:
        check_digest(moment, result["digest"])
    action: object = result.get("action")
    if action == "accept":
        return parse_form_reply(moment, result.get("content"))
    if isinstance(action, str) and action in _UNANSWERED_ACTIONS:
        return Unresolved(digest(moment), _UNANSWERED_ACTIONS[action])
    raise BadResolution("The reply's action must be accept, decline or cancel.")


def _message_lines(layout: Layout) -> Iterator[str]:
    if layout.note is not None:
        yield from (f"(A note first: {layout.note})", "")
    yield layout.synopsis
    for section in layout.sections:
        yield from ("", section.heading, *(f"  - {item}" for item in section.items))
    yield from ("", layout.offer, "", layout.stem)
    for choice in layout.choices:
        yield f"  {option_title(choice)}"
        yield from (f"    {text}" for text in (choice.reasoning, *choice.warnings))


def _choice_schema(entries: list[dict[str, str]], revision: str) -> dict[str, Json]:
    if revision >= FIRST_TITLED_REVISION:
        return {"oneOf": entries}
    return {"enum": [entry["const"] for entry in entries], "enumNames": [entry["title"] for entry in entries]}


def _entry_title(choice: OptionLayout) -> str:
    return " ".join([f"{option_title(choice)}: {choice.reasoning}", *choice.warnings])


def _veto_field(hatch: Hatch) -> Json:
    description = f"Only where you chose: {hatch.label}."
    return {"type": "string", "title": hatch.prompt, "description": description, "maxLength": MAX_ANSWER_LENGTH}


RENDERER = Elicitation()
