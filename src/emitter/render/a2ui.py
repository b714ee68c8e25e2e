"""A2UI 0.9.1: the messages that make a surface of texts and buttons, with a field for each veto.

Source: draft-morrison-binding-moment-envelope-00, section 8; A2UI's schemas of version 0.9.1 (https://a2ui.org), where
the wire says ``v0.9``. A text of others is a literal, never a binding or a call; what Markdown would read in it is
escaped, since a ``Text`` is read so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from emitter.decide import Unanswered, Unresolved
from emitter.render.layout import HatchKind, layout
from emitter.render.markdown import escaped
from emitter.render.reply import FIELDS, Outcome, answered, answering, for_this
from emitter.render.wording import careful, numbered, press
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Choice, Hatch, Layout
    from emitter.wire import Json

VERSION = "v0.9"
CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
EVENT = "binding_moment."
"""How the name of every event begins; an outcome follows."""

_SURFACE = "binding_moment:"


@dataclass(frozen=True, slots=True)
class A2ui:
    """The renderer."""

    name: str = "a2ui"

    def draw(self, moment: BindingMoment) -> list[Json]:
        """Return the messages to the client, in the order they have to be sent in."""
        shown = layout(moment)
        surface = f"{_SURFACE}{shown.digest}"
        fields = {FIELDS[Outcome(each.kind.value)]: "" for each in shown.hatches}
        return [
            {"version": VERSION, "createSurface": {"surfaceId": surface, "catalogId": CATALOG}},
            {"version": VERSION, "updateDataModel": {"surfaceId": surface, "path": "/", "value": fields}},
            {"version": VERSION, "updateComponents": {"surfaceId": surface, "components": _components(shown)}},
        ]

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return what a message of the client says; its ``action`` alone will do.

        An ``error`` about this surface is unresolved: nobody was shown the decision. Raises ``BadResolution``,
        ``WrongDigest``, ``NoSuchOption`` or ``HatchClosed``.
        """
        given = mapping(reply)
        if "error" in given:
            return _failed(moment, mapping(given["error"]).get("surfaceId"))
        return answered(moment, mapping(given.get("action", given)).get("context"))


RENDERER = A2ui()


def _failed(moment: BindingMoment, surface: Json) -> Unresolved:
    of = str(surface).removeprefix(_SURFACE)
    for_this(moment, of)
    return Unresolved(of, Unanswered.DROPPED)


def _components(shown: Layout) -> list[Json]:
    rows = [*_briefing(shown), *(_option(shown.digest, each) for each in shown.choices), *_vetoes(shown)]
    root = _column("root", [row[0]["id"] for row in rows])
    return [root, *(component for row in rows for component in row)]


_Row: TypeAlias = "list[dict[str, Json]]"
"""Components, of which the first one stands in the column and the others within it."""


def _briefing(shown: Layout) -> Iterator[_Row]:
    if shown.note is not None:
        yield [_text("note", f"A note first: {escaped(shown.note)}")]
    yield [_text("synopsis", escaped(shown.synopsis), "h2")]
    yield [_text("findings", "What it rests on", "h4")]
    yield from ([_text(f"finding-{at}", f"\N{BULLET} {escaped(each)}")] for at, each in enumerate(shown.findings))
    yield [_text("recommendations", "What to do", "h4")]
    yield from ([_text(f"move-{at}", f"\N{BULLET} {escaped(each)}")] for at, each in enumerate(shown.recommendations))
    yield [_text("offer", escaped(shown.offer))]
    yield [{"id": "divider", "component": "Divider"}]
    yield [_text("stem", escaped(shown.stem), "h3")]


def _option(digest: str, choice: Choice) -> _Row:
    name = f"option-{choice.index}"
    texts = [
        _text(f"{name}-number", numbered(choice), "caption"),
        _text(f"{name}-label", escaped(choice.label), "h4"),
        _text(f"{name}-reasoning", escaped(choice.reasoning)),
        *(_text(f"{name}-warning", each) for each in careful(choice)),
    ]
    button, title = _button(name, press(choice), answering(digest, Outcome.SELECTED, choice.index))
    button["variant"] = "primary" if choice.recommended else "default"
    within = [*texts, button]
    column = _column(f"{name}-column", [each["id"] for each in within])
    return [{"id": f"{name}-card", "component": "Card", "child": column["id"]}, column, *within, title]


def _vetoes(shown: Layout) -> Iterator[_Row]:
    for each in shown.hatches:
        outcome = Outcome(each.kind.value)
        yield [_field(each)]
        said = {**answering(shown.digest, outcome), FIELDS[outcome]: _words(each)}
        button, title = _button(outcome.value, each.label, said)
        if each.kind is HatchKind.FREE_TEXT:
            button["checks"] = [_required(each)]
        yield [button, title]


def _words(hatch: Hatch) -> Json:
    """Return the place in the data model that holds the words of a veto."""
    return {"path": f"/{FIELDS[Outcome(hatch.kind.value)]}"}


def _field(hatch: Hatch) -> dict[str, Json]:
    name = f"{hatch.kind.value}-field"
    return {"id": name, "component": "TextField", "label": hatch.asks, "value": _words(hatch), "variant": "longText"}


def _required(hatch: Hatch) -> Json:
    condition = {"call": "required", "args": {"value": _words(hatch)}, "returnType": "boolean"}
    return {"condition": condition, "message": "Write an answer, or choose an option."}


def _button(name: str, title: str, context: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    event = {"name": f"{EVENT}{context['outcome']}", "context": context}
    text = _text(f"{name}-title", title)
    return {"id": name, "component": "Button", "child": text["id"], "action": {"event": event}}, text


def _column(name: str, children: list[Json]) -> dict[str, Json]:
    return {"id": name, "component": "Column", "children": children}


def _text(name: str, text: str, variant: str = "body") -> dict[str, Json]:
    return {"id": name, "component": "Text", "text": text, "variant": variant}
