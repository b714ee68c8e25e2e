"""MCP's elicitation form: the briefing as the message, the question as a flat object of texts.

Source: draft-morrison-binding-moment-envelope-00, sections 6.3 and 8; the Model Context Protocol's
``elicitation/create`` in form mode (2025-06-18, 2025-11-25 and 2026-07-28). Nothing here needs an SDK.

The protocol sends no digest back: a result is bound to its envelope by the request that it answers. A caller that
knows the digest of that request puts it beside the result, as ``digest``, and it is checked. ``decline`` and ``cancel``
are the protocol's own; they are no veto and no option, but nobody's decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.decide import Unanswered, Unresolved, digest
from emitter.errors import BadResolution
from emitter.render.layout import layout
from emitter.render.reply import CHOICE, FIELDS, LONGEST_ANSWER, Outcome, chosen, for_this, named
from emitter.render.wording import careful, titled
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Choice, Hatch, Layout
    from emitter.wire import Json

DIGEST = "binding_moment_digest"
"""The name in ``_meta`` under which a form says of which envelope it is."""

TITLED = "2025-11-25"
"""The revision from which on each entry of a list has its title beside it; before, a list of its own held them."""

_UNRESOLVED = {"decline": Unanswered.DECLINED, "cancel": Unanswered.CANCELLED}


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The renderer, for a client of a ``revision`` of the protocol."""

    revision: str = TITLED
    name: str = "elicitation"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the parameters of ``elicitation/create``; ``_meta`` names the envelope."""
        asked = {"message": message(moment), "requestedSchema": schema(moment, self.revision)}
        return {"mode": "form", **asked, "_meta": {DIGEST: digest(moment)}}

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return what the result says; raises as ``elicitation.read``."""
        return read(moment, reply)


RENDERER = Elicitation()


def message(moment: BindingMoment) -> str:
    """Return the briefing, the question, and each option with its reasoning, as plain text."""
    return "\n".join(_lines(layout(moment)))


def schema(moment: BindingMoment, revision: str = TITLED) -> dict[str, Json]:
    """Return the form's schema: which of the three, and a text for each veto. Nothing is chosen beforehand."""
    shown = layout(moment)
    entries = [{"const": named(Outcome.SELECTED, each.index), "title": _title(each)} for each in shown.choices]
    vetoes = [{"const": named(Outcome(each.kind.value)), "title": each.label} for each in shown.hatches]
    choice = {"type": "string", "title": "Your decision", **_listed([*entries, *vetoes], revision)}
    fields = {FIELDS[Outcome(each.kind.value)]: _field(each) for each in shown.hatches}
    return {"type": "object", "properties": {CHOICE: choice, **fields}, "required": [CHOICE]}


def read(moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
    """Return what an ``ElicitResult`` (``action``, and ``content`` where it was accepted) says.

    ``decline`` and ``cancel`` are unresolved. Raises ``BadResolution``, ``NoSuchOption`` or ``HatchClosed``, and
    ``WrongDigest`` where a ``digest`` beside the result names another envelope.
    """
    given = mapping(reply)
    if "digest" in given:
        for_this(moment, given["digest"])
    action: object = given.get("action")
    if action == "accept":
        return chosen(moment, given.get("content"))
    if isinstance(action, str) and action in _UNRESOLVED:
        return Unresolved(digest(moment), _UNRESOLVED[action])
    raise BadResolution("A form is accepted, declined or cancelled; the reply says none of these.")


def _lines(shown: Layout) -> Iterator[str]:
    if shown.note is not None:
        yield from (f"(A note first: {shown.note})", "")
    yield from (shown.synopsis, "", "What it rests on")
    yield from (f"  - {each}" for each in shown.findings)
    yield from ("", "What to do")
    yield from (f"  - {each}" for each in shown.recommendations)
    yield from ("", shown.offer, "", shown.stem)
    for each in shown.choices:
        yield from (f"  {titled(each)}", *(f"    {said}" for said in (each.reasoning, *careful(each))))


def _listed(entries: list[dict[str, str]], revision: str) -> dict[str, Json]:
    if revision >= TITLED:
        return {"oneOf": entries}
    return {"enum": [each["const"] for each in entries], "enumNames": [each["title"] for each in entries]}


def _title(choice: Choice) -> str:
    return " ".join([f"{titled(choice)}: {choice.reasoning}", *careful(choice)])


def _field(hatch: Hatch) -> Json:
    about = f"Only where you chose: {hatch.label}."
    return {"type": "string", "title": hatch.asks, "description": about, "maxLength": LONGEST_ANSWER}
