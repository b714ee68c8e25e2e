"""Draw a decision with Slack Block Kit, and read Slack's interaction payloads.

Post ``RENDERER.draw(moment)`` with ``chat.postMessage``. When a button is pressed, ``get_pressed_veto(moment,
payload)`` returns the veto whose ``veto_modal(moment, kind)`` you send to ``views.open``, or None. Give every
other press, and the modal's submission, to ``RENDERER.read``.

``Slack(detail=True)`` adds a button that asks for detail. If ``wants_detail(moment, payload)`` is true, send
``detail_modal(moment)`` to ``views.open``; ``get_detail_topic(moment, payload)`` returns the topic from its
submission.

Sources: draft-morrison-binding-moment-envelope-00, section 8; https://docs.slack.dev/reference/block-kit and
https://docs.slack.dev/reference/interaction-payloads. Slack publishes no limit for a whole message
(``msg_blocks_too_long``); the limit used here follows slackapi/bolt-js#2509.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, cast

from emitter.decisions.resolution import ResolutionOutcome, resolution_from_json
from emitter.errors import BadResolution, HatchClosed, TooLong
from emitter.messages import as_list, as_mapping
from emitter.render.layout import DETAIL_OFFER, HatchKind, build_layout, button_label, fold_findings, option_heading
from emitter.render.replies import (
    DETAIL,
    MAX_ANSWER_LENGTH,
    TOPIC,
    VETO_FIELDS,
    button_value,
    check_digest,
    parse_button_reply,
    parse_detail_request,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.layout import Layout, OptionLayout

_MAX_FALLBACK_BYTES = 4000
"""Slack's recommended maximum for the fallback text of a message, in bytes."""
_WAITING_TEXT = "A decision waits for you; it is shown in the message itself."
_WHOLE = "whole"
"""The outcome of the button that shows all; it answers nothing."""
_WHOLE_LABEL = "Show all"
_WHOLE_HINT = f'Press "{_WHOLE_LABEL}" below before you decide.'
_EMOJI_CODE = re.compile(r":(?=[\w+'-]+:)")


@dataclass(frozen=True, slots=True)
class Slack:
    """The Slack renderer.

    With ``detail``, messages have a button that asks for detail. With ``folds``, a message without enough room leaves
    out the middle of the longest findings, says so, and has a button that shows all: if ``wants_whole(moment,
    payload)`` is true, send ``whole_modal(moment)`` to ``views.open``.
    """

    name: str = "slack"
    detail: bool = False
    folds: bool = False

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the arguments of ``chat.postMessage``, except the channel.

        No text is read as markup, and links and names are not expanded.

        Raises:
            TooLong: The envelope does not fit into one message.
        """
        layout = build_layout(moment)
        blocks = _message_blocks(layout, detail=self.detail)
        if self.folds and message_cost(blocks) > MAX_MESSAGE_COST:
            blocks = _fold_blocks(layout, detail=self.detail)
        check_message_size(blocks)
        # Nothing in the model's text may mention people, become a link or fetch a preview.
        quiet = {"mrkdwn": False, "parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}
        return {"text": _fallback_text(blocks), "blocks": blocks, **quiet}

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return the resolution that a ``block_actions`` or ``view_submission`` payload means.

        Raises:
            ResolutionError: The reply is not a valid answer to this decision.
        """
        payload = as_mapping(reply)
        match payload.get("type"):
            case "block_actions":
                if get_pressed_veto(moment, payload) is not None:
                    raise BadResolution(
                        "Pressing a veto's button does not answer the decision yet.",
                        hint="Open veto_modal(moment, kind) and read its submission.",
                    )
                return parse_button_reply(moment, _pressed_value(payload))
            case "view_submission":
                return _parse_submission(moment, as_mapping(payload.get("view")))
            case _:
                raise BadResolution("The payload's type must be block_actions or view_submission.")


def _message_blocks(layout: Layout, *, detail: bool) -> list[Json]:
    return [
        *([] if layout.note is None else build_sections(f"A note first: {layout.note}")),
        *build_heading(layout.synopsis),
        *chain.from_iterable(
            (*build_heading(section.heading), *build_bullets(section.items)) for section in layout.sections
        ),
        *build_sections(layout.offer),
        _divider(),
        *build_heading(layout.stem),
        *chain.from_iterable(_option_blocks(layout.digest, choice) for choice in layout.choices),
        *_veto_actions(layout),
        *(_detail_actions(layout) if detail else ()),
    ]


def _fold_blocks(layout: Layout, *, detail: bool) -> list[Json]:
    """Return the blocks of a message with shorter findings, and a button that shows all."""
    button = _whole_button(layout.digest)
    room = MAX_MESSAGE_COST
    while True:
        room = room * 3 // 4
        folded = fold_findings(layout, room, _WHOLE_HINT)
        blocks = [*_message_blocks(folded, detail=detail), button]
        if room == 0 or message_cost(blocks) <= MAX_MESSAGE_COST:
            return blocks


def _whole_button(digest: str) -> Json:
    button = {
        "type": "button",
        "text": plain_text_object(_WHOLE_LABEL),
        "action_id": f"{ACTION_PREFIX}{_WHOLE}",
        "value": json.dumps({"digest": digest, "outcome": _WHOLE}),
    }
    return {"type": "actions", "elements": [button]}


def _option_blocks(digest: str, choice: OptionLayout) -> list[Json]:
    accessory = build_button(
        button_label(choice),
        ResolutionOutcome.SELECTED,
        json.dumps(button_value(digest, ResolutionOutcome.SELECTED, choice.index)),
        primary=choice.recommended,
        index=choice.index,
    )
    lines = (option_heading(choice), choice.label, choice.reasoning, *choice.warnings)
    return [_divider(), *build_sections(*lines, accessory=accessory)]


def _divider() -> Json:
    return {"type": "divider"}


def _veto_actions(layout: Layout) -> list[Json]:
    elements = [
        build_button(hatch.label, hatch.outcome, json.dumps(button_value(layout.digest, hatch.outcome)))
        for hatch in layout.hatches
    ]
    return [{"type": "actions", "elements": elements}] if elements else []


def _detail_actions(layout: Layout) -> list[Json]:
    value = json.dumps({"digest": layout.digest, "outcome": DETAIL})
    button = {
        "type": "button",
        "text": plain_text_object(DETAIL_OFFER.label),
        "action_id": f"{ACTION_PREFIX}{DETAIL}",
        "value": value,
    }
    return [{"type": "actions", "elements": [button]}]


def _fallback_text(blocks: list[Json]) -> str:
    """Return the text for notifications and screen readers: everything, or a hint to open the message."""
    text = _EMOJI_CODE.sub(": ", "\n".join(chain.from_iterable(map(visible_texts, blocks))))
    return text if len(text.encode()) <= _MAX_FALLBACK_BYTES else _WAITING_TEXT


WORDS_ID = "words"
"""The id of the modals' input block and of its field."""


def get_pressed_veto(moment: BindingMoment, payload: Json) -> HatchKind | None:
    """Return the veto whose button was pressed, or None for an option's button.

    Raises:
        WrongDigest: The button belongs to another envelope.
        BadResolution: The payload is not one press of a button of the decision.
    """
    value = _pressed_value(as_mapping(payload))
    check_digest(moment, value.get("digest"))
    outcome: object = value.get("outcome")
    return HatchKind(outcome) if isinstance(outcome, str) and outcome in VETO_FIELDS else None


def _pressed_value(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the value of the pressed button."""
    actions = [as_mapping(action) for action in as_list(payload.get("actions"))]
    presses = [action for action in actions if str(action.get("action_id")).startswith(ACTION_PREFIX)]
    if len(presses) != 1:
        raise BadResolution("The payload must hold one press of a button of the decision.")
    return _decode_value(presses[0].get("value"))


def _parse_submission(moment: BindingMoment, view: Mapping[str, Json]) -> Resolution:
    value = _decode_value(view.get("private_metadata"))
    outcome: object = value.get("outcome")
    if not isinstance(outcome, str) or outcome not in VETO_FIELDS:
        raise BadResolution("The submitted modal does not belong to the decision.")
    return parse_button_reply(moment, {**value, VETO_FIELDS[ResolutionOutcome(outcome)]: _submitted_words(view)})


def find_words_problem(payload: Mapping[str, Json]) -> str | None:
    """Return why the words of a submitted veto are invalid, or None. The decision itself is not needed for it."""
    view = as_mapping(payload.get("view"))
    value = _decode_value(view.get("private_metadata"))
    outcome, words = value.get("outcome"), _submitted_words(view)
    if outcome not in VETO_FIELDS:
        return None  # it is no form of this module, and nothing will be recorded for it
    resolution: dict[str, Json] = {
        "outcome": outcome,
        "digest": value.get("digest"),
        VETO_FIELDS[ResolutionOutcome(outcome)]: "" if words is None else words,
    }
    try:
        resolution_from_json(resolution)
    except BadResolution as error:
        return str(error)
    return None


def get_submitted_words(payload: Mapping[str, Json]) -> str:
    """Return the words of a submitted form, or an empty string."""
    words = _submitted_words(as_mapping(payload.get("view")))
    return words if isinstance(words, str) else ""


def _submitted_words(view: Mapping[str, Json]) -> Json:
    values = as_mapping(as_mapping(view.get("state")).get("values"))
    return as_mapping(as_mapping(values.get(WORDS_ID)).get(WORDS_ID)).get("value")


def _decode_value(text: Json) -> Mapping[str, Json]:
    """Return the JSON object that a button or a modal carries as text, or an empty one."""
    try:
        return as_mapping(cast("object", json.loads(text)))
    except (TypeError, ValueError, RecursionError):
        return {}


MAX_SECTION_TEXT = 3000
"""Characters in a section."""
MAX_HEADER_TEXT = 150
"""Characters in a header."""
MAX_VIEW_BLOCKS = 100
MAX_VIEW_SIZE = 240_000
"""Characters of a modal as JSON. Slack refuses more than 250,000."""
MAX_MESSAGE_COST = 12_000
"""Characters in a message, plus ``BLOCK_COST`` for each block. It is reached before the limit of 50 blocks."""
BLOCK_COST = 125
ACTION_PREFIX = "emitter.binding_moment."
"""The prefix of every button's action id and every modal's callback id. The outcome follows."""
_EMPTY_TEXT = "(empty)"
"""Slack rejects empty texts."""


def plain_text_object(text: str) -> Json:
    """Return a plain-text object. The text must be escaped already."""
    return {"type": "plain_text", "text": text, "emoji": False}


def escape_text(text: str) -> str:
    """Escape the three characters that Slack interprets."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def build_sections(*lines: str, accessory: Json = None) -> list[Json]:
    """Return as many sections as the lines take. The last one gets the accessory."""
    sections: list[Json] = [{"type": "section", "text": plain_text_object(text)} for text in _section_texts(lines)]
    if accessory is not None:
        sections[-1]["accessory"] = accessory
    return sections


def build_heading(text: str) -> list[Json]:
    """Return a header, or sections if the text is too long for one."""
    escaped = escape_text(text)
    if not 0 < len(escaped) <= MAX_HEADER_TEXT:
        return build_sections(text)
    return [{"type": "header", "text": plain_text_object(escaped)}]


def build_bullets(texts: Iterable[str]) -> list[Json]:
    """Return sections that hold a bulleted list."""
    return build_sections(*(f"\N{BULLET} {text}" for text in texts))


def build_button(
    text: str, outcome: ResolutionOutcome, value: str, *, primary: bool = False, index: int | None = None
) -> Json:
    """Return a button with a trusted text."""
    action = f"{ACTION_PREFIX}{outcome.value}" if index is None else f"{ACTION_PREFIX}{outcome.value}.{index}"
    button = {"type": "button", "text": plain_text_object(text), "action_id": action, "value": value}
    return {**button, "style": "primary"} if primary else button


def check_message_size(blocks: list[Json]) -> list[Json]:
    """Return the blocks, or raise ``TooLong`` if they do not fit into one message."""
    if message_cost(blocks) > MAX_MESSAGE_COST:
        raise TooLong(f"The envelope does not fit into a message of {MAX_MESSAGE_COST} characters.")
    return blocks


def message_cost(blocks: list[Json]) -> int:
    """Return the size of the blocks, as Slack appears to count it."""
    return sum(BLOCK_COST + sum(map(len, visible_texts(block))) for block in blocks)


def visible_texts(block: Json) -> Iterator[str]:
    """Yield the texts of a block in reading order."""
    for name in ("text", "label", "accessory", "elements"):
        inner = as_mapping(block).get(name)
        if isinstance(inner, str):
            yield inner
        elif inner is not None:
            yield from chain.from_iterable(map(visible_texts, as_list(inner) or [inner]))


def _section_texts(lines: Iterable[str]) -> Iterator[str]:
    """Yield escaped texts that each fit a section. Lines too long for one are split at spaces."""
    piece = ""
    for joint, part in _split_lines(lines):
        if piece and len(piece) + len(joint) + len(part) > MAX_SECTION_TEXT:
            yield piece
            piece = part
        else:
            piece = f"{piece}{joint}{part}" if piece else part
    yield piece or _EMPTY_TEXT


def _split_lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each line, or the words of a long one, after the separator that joins it to the previous part."""
    for line in map(escape_text, lines):
        words = [line] if len(line) <= MAX_SECTION_TEXT else line.split(" ")
        yield from zip(["\n", *" " * (len(words) - 1)], words, strict=True)


RENDERER = Slack()
_MODAL_TITLES = {HatchKind.FREE_TEXT: "Your own answer", HatchKind.DIALOGUE: "The wrong question"}


def veto_modal(moment: BindingMoment, kind: HatchKind) -> dict[str, Json]:
    """Return the modal for a veto's words, to be sent to ``views.open``.

    Raises:
        HatchClosed: The envelope does not offer this veto.
        TooLong: The question does not fit into a modal.
    """
    layout = build_layout(moment)
    hatch = next((hatch for hatch in layout.hatches if hatch.kind is kind), None)
    if hatch is None:
        raise HatchClosed("The envelope does not offer this veto.")
    words = _words_input(hatch.prompt, optional=kind is HatchKind.DIALOGUE)
    value = button_value(layout.digest, hatch.outcome)
    return _build_modal(_MODAL_TITLES[kind], "Send", [*build_sections(layout.stem), words], value)


def detail_modal(moment: BindingMoment) -> dict[str, Json]:
    """Return the modal that asks for the topic of a request for detail.

    Raises:
        TooLong: The offer does not fit into a modal.
    """
    layout = build_layout(moment)
    blocks = [
        *build_sections(layout.offer, "This decides nothing: the decision stays open."),
        _words_input(DETAIL_OFFER.prompt, optional=True),
    ]
    return _build_modal("More detail", "Ask", blocks, {"digest": layout.digest, "outcome": DETAIL})


def wants_whole(moment: BindingMoment, payload: Json) -> bool:
    """Check whether the pressed button shows all. If so, send ``whole_modal`` to ``views.open``.

    Raises:
        WrongDigest: The button belongs to another envelope.
        BadResolution: The payload is not one press of a button of the decision.
    """
    return _is_pressed(moment, payload, _WHOLE)


def whole_modal(moment: BindingMoment) -> dict[str, Json]:
    """Return the modal with all findings, or as many characters as a modal holds and a word about the others."""
    layout = build_layout(moment)
    elsewhere = "Read them on the decision's page in the inbox, or with the command emitter decisions."
    room = MAX_VIEW_SIZE
    while True:
        folded = fold_findings(layout, room, elsewhere)
        blocks = [*build_heading(folded.stem), *build_bullets(folded.findings)]
        if room == 0 or (len(blocks) <= MAX_VIEW_BLOCKS and len(json.dumps(blocks)) <= MAX_VIEW_SIZE):
            break
        room = room * 3 // 4
    return {
        "type": "modal",
        "title": plain_text_object("What it rests on"),
        "close": plain_text_object("Back"),
        "blocks": blocks,
    }


def _build_modal(title: str, submit: str, blocks: list[Json], value: dict[str, Json]) -> dict[str, Json]:
    if len(blocks) > MAX_VIEW_BLOCKS:
        raise TooLong(f"The text does not fit into a modal of {MAX_VIEW_BLOCKS} blocks.")
    return {
        "type": "modal",
        "callback_id": f"{ACTION_PREFIX}{value['outcome']}",
        "title": plain_text_object(title),
        "submit": plain_text_object(submit),
        "close": plain_text_object("Back"),
        "private_metadata": json.dumps(value),
        "blocks": blocks,
    }


def _words_input(label: str, *, optional: bool) -> Json:
    field = {"type": "plain_text_input", "action_id": WORDS_ID, "multiline": True, "max_length": MAX_ANSWER_LENGTH}
    return {
        "type": "input",
        "block_id": WORDS_ID,
        "label": plain_text_object(label),
        "element": field,
        "optional": optional,
    }


def wants_detail(moment: BindingMoment, payload: Json) -> bool:
    """Check whether the pressed button asks for detail. If so, send ``detail_modal`` to ``views.open``.

    Raises:
        WrongDigest: The button belongs to another envelope.
        BadResolution: The payload is not one press of a button of the decision.
    """
    return _is_pressed(moment, payload, DETAIL)


def _is_pressed(moment: BindingMoment, payload: Json, outcome: str) -> bool:
    """Check whether the pressed button of the decision stands for an outcome."""
    value = _pressed_value(as_mapping(payload))
    check_digest(moment, value.get("digest"))
    return value.get("outcome") == outcome


def get_detail_topic(moment: BindingMoment, payload: Json) -> str | None:
    """Return the topic of a submitted request for detail, or None for any other payload.

    Pass the topic to ``Ledger.ask_detail``. An empty topic means the whole decision.

    Raises:
        WrongDigest: The modal belongs to another envelope.
        BadResolution: The topic is not text.
    """
    members = as_mapping(payload)
    if members.get("type") != "view_submission":
        return None
    view = as_mapping(members.get("view"))
    return parse_detail_request(moment, {**_decode_value(view.get("private_metadata")), TOPIC: _submitted_words(view)})
