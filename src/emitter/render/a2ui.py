"""Draw a decision as A2UI: as A2UI 0.9.1 messages, or as OpenWOP's ``ui.a2ui-surface`` payload.

Text of the model is a literal, never a binding or a call.

Sources: draft-morrison-binding-moment-envelope-00, section 8; A2UI's schemas of version 0.9.1
(https://a2ui.org); OpenWOP's ai-envelope.md, "A2UI surfaces" (RFC 0102).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.resolution import ResolutionOutcome
from emitter.messages import as_mapping
from emitter.models.standard_kinds import CATALOG_VERSION, CATALOG_VERSIONS
from emitter.render.layout import HatchKind, build_layout, button_label, option_heading, option_title
from emitter.render.replies import (
    CHOICE,
    button_value,
    check_digest,
    encode_choice,
    parse_button_reply,
    parse_form_reply,
)
from emitter.render.text_formats import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.layout import Hatch, Layout, OptionLayout

A2UI_VERSION = "v0.9"
A2UI_CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
EVENT_PREFIX = "binding_moment."
"""The prefix of every event's name. The outcome follows."""
_SURFACE_PREFIX = "binding_moment:"


@dataclass(frozen=True, slots=True)
class A2ui:
    """The A2UI renderer."""

    name: str = "a2ui"

    def draw(self, moment: BindingMoment) -> list[Json]:
        """Return the messages for the client, in the order in which they must be sent."""
        layout = build_layout(moment)
        surface = f"{_SURFACE_PREFIX}{layout.digest}"
        fields = {hatch.field: "" for hatch in layout.hatches}
        return [
            {"version": A2UI_VERSION, "createSurface": {"surfaceId": surface, "catalogId": A2UI_CATALOG}},
            {"version": A2UI_VERSION, "updateDataModel": {"surfaceId": surface, "path": "/", "value": fields}},
            {
                "version": A2UI_VERSION,
                "updateComponents": {"surfaceId": surface, "components": _a2ui_components(layout)},
            },
        ]

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return the resolution of a client's message or ``action``. An ``error`` is unresolved: nobody saw it."""
        members = as_mapping(reply)
        if "error" in members:
            digest = str(as_mapping(members["error"]).get("surfaceId")).removeprefix(_SURFACE_PREFIX)
            check_digest(moment, digest)
            return Unresolved(digest, UnresolvedReason.DROPPED)
        return parse_button_reply(moment, as_mapping(members.get("action", members)).get("context"))


def _a2ui_components(layout: Layout) -> list[Json]:
    rows = [
        *_briefing_groups(layout),
        *(_option_card(layout.digest, choice) for choice in layout.choices),
        *_veto_groups(layout),
    ]
    root = _column_component("root", [row[0]["id"] for row in rows])
    return [root, *(component for row in rows for component in row)]


_ComponentGroup: TypeAlias = "list[dict[str, Json]]"
"""A component of the root column, followed by the components inside it."""


def _briefing_groups(layout: Layout) -> Iterator[_ComponentGroup]:
    if layout.note is not None:
        yield [_text_component("note", f"A note first: {escape_markdown(layout.note)}")]
    yield [_text_component("synopsis", escape_markdown(layout.synopsis), "h2")]
    for section, item_id in zip(layout.sections, ("finding", "move"), strict=True):
        yield [_text_component(section.name, section.heading, "h4")]
        yield from (
            [_text_component(f"{item_id}-{index}", f"\N{BULLET} {escape_markdown(item)}")]
            for index, item in enumerate(section.items)
        )
    yield [_text_component("offer", escape_markdown(layout.offer))]
    yield [{"id": "divider", "component": "Divider"}]
    yield [_text_component("stem", escape_markdown(layout.stem), "h3")]


def _option_card(digest: str, choice: OptionLayout) -> _ComponentGroup:
    name = f"option-{choice.index}"
    texts = [
        _text_component(f"{name}-number", option_heading(choice), "caption"),
        _text_component(f"{name}-label", escape_markdown(choice.label), "h4"),
        _text_component(f"{name}-reasoning", escape_markdown(choice.reasoning)),
        *(_text_component(f"{name}-warning", warning) for warning in choice.warnings),
    ]
    button, title = _button_components(
        name, button_label(choice), button_value(digest, ResolutionOutcome.SELECTED, choice.index)
    )
    button["variant"] = "primary" if choice.recommended else "default"
    children = [*texts, button]
    column = _column_component(f"{name}-column", [child["id"] for child in children])
    return [{"id": f"{name}-card", "component": "Card", "child": column["id"]}, column, *children, title]


def _veto_groups(layout: Layout) -> Iterator[_ComponentGroup]:
    for hatch in layout.hatches:
        yield [_veto_text_field(hatch)]
        context = {**button_value(layout.digest, hatch.outcome), hatch.field: _words_binding(hatch)}
        button, title = _button_components(hatch.kind.value, hatch.label, context)
        if hatch.kind is HatchKind.FREE_TEXT:
            button["checks"] = [_required_check(hatch)]
        yield [button, title]


def _words_binding(hatch: Hatch) -> Json:
    """Return the data-model path of a veto's words."""
    return {"path": f"/{hatch.field}"}


def _veto_text_field(hatch: Hatch) -> dict[str, Json]:
    return {
        "id": f"{hatch.kind.value}-field",
        "component": "TextField",
        "label": hatch.prompt,
        "value": _words_binding(hatch),
        "variant": "longText",
    }


def _required_check(hatch: Hatch) -> Json:
    condition = {"call": "required", "args": {"value": _words_binding(hatch)}, "returnType": "boolean"}
    return {"condition": condition, "message": "Write an answer, or choose an option."}


def _button_components(name: str, title: str, context: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    event = {"name": f"{EVENT_PREFIX}{context['outcome']}", "context": context}
    text = _text_component(f"{name}-title", title)
    return {"id": name, "component": "Button", "child": text["id"], "action": {"event": event}}, text


def _column_component(name: str, children: list[Json]) -> dict[str, Json]:
    return {"id": name, "component": "Column", "children": children}


def _text_component(name: str, text: str, variant: str = "body") -> dict[str, Json]:
    return {"id": name, "component": "Text", "text": text, "variant": variant}


A2UI_RENDERER = A2ui()
_DIGEST_SEPARATOR = "#"
"""Separates the digest from the choice."""


@dataclass(frozen=True, slots=True)
class OpenwopSurface:
    """The renderer for OpenWOP's ``ui.a2ui-surface``."""

    name: str = "openwop-surface"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the payload of the kind ``ui.a2ui-surface``."""
        surface = {"title": "A decision for you", "components": list(_surface_components(build_layout(moment)))}
        return {CATALOG_VERSION: CATALOG_VERSIONS[-1], "surface": surface}

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return the resolution of the surface's collected values, or raise ``ResolutionError``."""
        values = as_mapping(reply)
        choice: object = values.get(CHOICE)
        digest, separator, answer = choice.partition(_DIGEST_SEPARATOR) if isinstance(choice, str) else ("", "", "")
        if separator:
            check_digest(moment, digest)
        return parse_form_reply(moment, {**values, CHOICE: answer})


def _surface_components(layout: Layout) -> Iterator[Json]:
    if layout.note is not None:
        yield _surface_text(f"A note first: {layout.note}")
    yield _surface_heading(layout.synopsis, 1)
    for section in layout.sections:
        yield _surface_heading(section.heading, 2)
        yield from (_surface_text(f"\N{BULLET} {item}") for item in section.items)
    yield _surface_text(layout.offer)
    yield _surface_heading(layout.stem, 1)
    for choice in layout.choices:
        yield _surface_heading(option_heading(choice), 2)
        yield from map(_surface_text, (choice.label, choice.reasoning, *choice.warnings))
    yield _choice_select(layout)
    yield from map(_surface_veto_field, layout.hatches)
    yield {"component": "action.button", "id": "send", "label": "Send", "action": {"target": "resume"}}


def _choice_select(layout: Layout) -> Json:
    entries = [
        *((encode_choice(ResolutionOutcome.SELECTED, choice.index), option_title(choice)) for choice in layout.choices),
        *((encode_choice(hatch.outcome), hatch.label) for hatch in layout.hatches),
    ]
    return {
        "component": "field.select",
        "id": CHOICE,
        "label": "Your decision",
        "required": True,
        "options": [
            {"value": "", "label": "(nothing chosen yet)"},
            *({"value": f"{layout.digest}{_DIGEST_SEPARATOR}{value}", "label": label} for value, label in entries),
        ],
    }


def _surface_veto_field(hatch: Hatch) -> Json:
    label = f"{hatch.prompt} ({hatch.label})"
    return {"component": "field.text", "id": hatch.field, "label": label, "required": False}


def _surface_heading(text: str, level: int) -> Json:
    return {"component": "heading", "text": text, "level": level}


def _surface_text(text: str) -> Json:
    return {"component": "text", "text": text}


OPENWOP_RENDERER = OpenwopSurface()
