"""OpenWOP's ``ui.a2ui-surface``: the payload of texts, one choice and a field for each veto.

Source: draft-morrison-binding-moment-envelope-00, section 8; OpenWOP's ai-envelope.md, "A2UI surfaces" (RFC 0102).
This is a closed shape of its own, not A2UI's wire. What a host collects goes back under the ids of the fields; the
value of the choice carries the digest, so that it cannot answer another envelope. The first entry of the choice says
nothing, for a host that shows the first as if it were chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.kinds.a2ui import CATALOG_VERSION, CATALOG_VERSIONS
from emitter.render.layout import layout
from emitter.render.reply import CHOICE, FIELDS, Outcome, chosen, for_this, named
from emitter.render.wording import careful, numbered, titled
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Choice, Hatch, Layout
    from emitter.wire import Json

_OF = "#"
"""Between the digest and the choice."""


@dataclass(frozen=True, slots=True)
class OpenwopSurface:
    """The renderer."""

    name: str = "openwop-surface"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the payload of the kind ``ui.a2ui-surface``."""
        components = list(_components(layout(moment)))
        surface = {"title": "A decision for you", "components": components}
        return {CATALOG_VERSION: CATALOG_VERSIONS[-1], "surface": surface}

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return what the collected values say, which resume the run or go back as a message.

        Raises ``BadResolution``, ``WrongDigest``, ``NoSuchOption`` or ``HatchClosed``.
        """
        given = mapping(reply)
        choice: object = given.get(CHOICE)
        of, found, said = choice.partition(_OF) if isinstance(choice, str) else ("", "", "")
        if found:
            for_this(moment, of)
        return chosen(moment, {**given, CHOICE: said})


RENDERER = OpenwopSurface()


def _components(shown: Layout) -> Iterator[Json]:
    if shown.note is not None:
        yield _text(f"A note first: {shown.note}")
    yield _heading(shown.synopsis, 1)
    yield _heading("What it rests on", 2)
    yield from (_text(f"\N{BULLET} {each}") for each in shown.findings)
    yield _heading("What to do", 2)
    yield from (_text(f"\N{BULLET} {each}") for each in shown.recommendations)
    yield _text(shown.offer)
    yield _heading(shown.stem, 1)
    for each in shown.choices:
        yield from _option(each)
    yield _choice(shown)
    yield from (_field(each) for each in shown.hatches)
    yield {"component": "action.button", "id": "send", "label": "Send", "action": {"target": "resume"}}


def _option(choice: Choice) -> Iterator[Json]:
    yield _heading(numbered(choice), 2)
    yield from map(_text, (choice.label, choice.reasoning, *careful(choice)))


def _choice(shown: Layout) -> Json:
    return {
        "component": "field.select",
        "id": CHOICE,
        "label": "Your decision",
        "required": True,
        "options": [
            {"value": "", "label": "(nothing chosen yet)"},
            *(_entry(shown, named(Outcome.SELECTED, each.index), titled(each)) for each in shown.choices),
            *(_entry(shown, named(Outcome(each.kind.value)), each.label) for each in shown.hatches),
        ],
    }


def _entry(shown: Layout, value: str, label: str) -> Json:
    return {"value": f"{shown.digest}{_OF}{value}", "label": label}


def _field(hatch: Hatch) -> Json:
    name = FIELDS[Outcome(hatch.kind.value)]
    return {"component": "field.text", "id": name, "label": f"{hatch.asks} ({hatch.label})", "required": False}


def _heading(text: str, level: int) -> Json:
    return {"component": "heading", "text": text, "level": level}


def _text(text: str) -> Json:
    return {"component": "text", "text": text}
