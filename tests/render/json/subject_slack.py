"""Slack's client as a person meets it: sections, buttons, and modals that are opened, filled in and sent."""

from __future__ import annotations

import html
import json
from typing import Any

from emitter.render import slack
from emitter.render.layout import HatchKind
from emitter.testing.surfaces import ShownOption
from tests.render.json import formats
from tests.render.json.subject import JsonSubject

Document = Any


class SlackSubject(JsonSubject):
    """Slack's client, for a person who presses buttons and sends modals."""

    renderer = slack.RENDERER
    has_room = False

    def faults(self, drawn: Document) -> list[str]:
        """Return what breaks the format."""
        return formats.slack(drawn)

    def text(self, drawn: Document) -> str:
        """Return what the blocks show, with entities read."""
        return "\n".join(html.unescape(each) for each in _texts(drawn["blocks"]))

    def option(self, drawn: Document, index: int) -> ShownOption:
        """Return what stands between two dividers."""
        starts = [at for at, each in enumerate(drawn["blocks"]) if each["type"] == "divider"][1:]
        blocks = drawn["blocks"][starts[index] :]
        end = next(at for at, each in enumerate(blocks) if "accessory" in each)
        lines = "\n".join(html.unescape(each) for each in _texts(blocks[: end + 1])).split("\n")
        return ShownOption("\n".join(lines), "\n".join(lines[2:]), lines[0] == f"Option {index + 1} (recommended)")

    def hatches(self, drawn: Document) -> set[HatchKind]:
        """Return the vetoes that have a button, which opens a modal."""
        return set(HatchKind) & set(map(self._kind, self._vetoes(drawn)))

    def select(self, drawn: Document, index: int) -> Any:
        """Press the button of an option."""
        buttons = [each["accessory"] for each in drawn["blocks"] if "accessory" in each]
        if index < len(buttons):
            return _press(buttons[index])
        forged = {**json.loads(buttons[0]["value"]), "index": index}
        return _press({**buttons[0], "value": json.dumps(forged)})

    def answer(self, drawn: Document, text: str) -> Any:
        """Press the button, write into the modal, send it."""
        return self._veto(drawn, HatchKind.FREE_TEXT, text)

    def object(self, drawn: Document, text: str) -> Any:
        """Press the button, write into the modal, send it; an empty field is sent as null."""
        return self._veto(drawn, HatchKind.DIALOGUE, text)

    def _veto(self, drawn: Document, kind: HatchKind, text: str) -> Any:
        found = [each for each in self._vetoes(drawn) if self._kind(each) is kind]
        first = next(each["accessory"] for each in drawn["blocks"] if "accessory" in each)
        said = json.loads(found[0]["value"]) if found else {**json.loads(first["value"]), "outcome": kind.value}
        return submission(json.dumps(said), text)

    @staticmethod
    def _vetoes(drawn: Document) -> list[Any]:
        return [each for block in drawn["blocks"] if block["type"] == "actions" for each in block["elements"]]

    @staticmethod
    def _kind(button: Any) -> HatchKind:
        return HatchKind(json.loads(button["value"])["outcome"])


def _press(button: Any) -> Any:
    """Return the payload of a press."""
    keys = ("type", "action_id", "value", "text")
    action = {**{key: button[key] for key in keys}, "block_id": "b1", "action_ts": "1763776800.1"}
    return {"type": "block_actions", "user": {"id": "U1"}, "actions": [action], "state": {"values": {}}}


def submission(metadata: str, text: str) -> Any:
    """Return the payload of a modal that was sent."""
    field = {"type": "plain_text_input", "value": text or None}
    view = {"type": "modal", "private_metadata": metadata, "state": {"values": {"words": {"words": field}}}}
    return {"type": "view_submission", "user": {"id": "U1"}, "view": view}


def _texts(value: Any) -> list[str]:
    """Return every text object's text, in order."""
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if not isinstance(value, dict):
        return []
    if value.get("type") in {"plain_text", "mrkdwn"}:
        return [value["text"]]
    return [text for each in value.values() for text in _texts(each)]
