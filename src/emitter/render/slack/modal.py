"""The modal that asks for the words of a veto."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from emitter.errors import HatchClosed, TooLong
from emitter.render.layout import OFFER, HatchKind, layout
from emitter.render.reply import DETAIL, LONGEST_ANSWER, Outcome, answering
from emitter.render.slack.blocks import PREFIX, VIEW_BLOCKS, plain, sections

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment
    from emitter.wire import Json

WORDS = "words"
"""The block and the field that hold them."""

_TITLES = {HatchKind.FREE_TEXT: "Your own answer", HatchKind.DIALOGUE: "The wrong question"}


def modal(moment: BindingMoment, kind: HatchKind) -> dict[str, Json]:
    """Return the view of ``views.open``; raises ``HatchClosed``, or ``TooLong`` for a question that fits no modal."""
    shown = layout(moment)
    hatch = next((each for each in shown.hatches if each.kind is kind), None)
    if hatch is None:
        raise HatchClosed("The envelope does not offer this veto.")
    outcome = Outcome(kind.value)
    blocks = [*sections(shown.stem), _field(hatch.asks, optional=kind is HatchKind.DIALOGUE)]
    if len(blocks) > VIEW_BLOCKS:
        raise TooLong(f"The question takes more than a modal of {VIEW_BLOCKS} blocks.")
    return {
        "type": "modal",
        "callback_id": f"{PREFIX}{outcome.value}",
        "title": plain(_TITLES[kind]),
        "submit": plain("Send"),
        "close": plain("Back"),
        "private_metadata": json.dumps(answering(shown.digest, outcome)),
        "blocks": blocks,
    }


def detail_modal(moment: BindingMoment) -> dict[str, Json]:
    """Return the view that asks what the principal wants to know more about; raises ``TooLong``."""
    shown = layout(moment)
    blocks = [*sections(shown.offer, _STAYS), _field(OFFER.asks, optional=True)]
    if len(blocks) > VIEW_BLOCKS:
        raise TooLong(f"The offer takes more than a modal of {VIEW_BLOCKS} blocks.")
    return {
        "type": "modal",
        "callback_id": f"{PREFIX}{DETAIL}",
        "title": plain("More detail"),
        "submit": plain("Ask"),
        "close": plain("Back"),
        "private_metadata": json.dumps({"digest": shown.digest, "outcome": DETAIL}),
        "blocks": blocks,
    }


_STAYS = "This decides nothing: the decision stays open."


def _field(label: str, *, optional: bool) -> Json:
    field = {"type": "plain_text_input", "action_id": WORDS, "multiline": True, "max_length": LONGEST_ANSWER}
    return {"type": "input", "block_id": WORDS, "label": plain(label), "element": field, "optional": optional}
