"""A preview of the Slack message: its blocks as HTML, drawn here. Slack itself draws them somewhat otherwise."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from examples.gallery.decision import MOMENT
from examples.gallery.template import filled

from emitter.render.slack import RENDERER

if TYPE_CHECKING:
    from emitter.messages import Json


def page() -> str:
    """Return the message as a page."""
    return filled("slack", BLOCKS="".join(map(_block, RENDERER.draw(MOMENT)["blocks"])))


def _block(block: Json) -> str:
    match block["type"]:
        case "header":
            return f"<h3>{_text(block['text'])}</h3>"
        case "section":
            beside = _button(block["accessory"]) if "accessory" in block else ""
            return f"<section><p>{_text(block['text'])}</p>{beside}</section>"
        case "actions":
            return f"<div class=actions>{''.join(map(_button, block['elements']))}</div>"
        case "divider":
            return "<hr>"
        case other:
            raise ValueError(f"no preview of a block of type {other}")


def _button(element: Json) -> str:
    return f"<button class='{element.get('style', '')}'>{_text(element['text'])}</button>"


def _text(text: Json) -> str:
    """Return what stands there; what Slack spells as an entity in mrkdwn is one in HTML too."""
    raw: str = text["text"]
    shown = raw if text["type"] == "mrkdwn" else html.escape(raw)
    return shown.replace("\n", "<br>")
