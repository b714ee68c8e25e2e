"""The message: the eight slots as blocks, with a button beside each option and one for each veto."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from emitter.render.layout import OFFER, layout
from emitter.render.reply import DETAIL, Outcome, answering
from emitter.render.slack.blocks import PREFIX, bullets, button, heading, held, plain, sections, texts
from emitter.render.slack.payload import read
from emitter.render.wording import careful, numbered, press

if TYPE_CHECKING:
    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Choice, Hatch, Layout
    from emitter.wire import Json

_FALLBACK = 4000
"""Bytes of the text that stands in for the blocks; Slack asks for no more."""
_WAITS = "A decision waits for you; it is shown in the message itself."
_EMOJI = re.compile(r":(?=[\w+'-]+:)")


@dataclass(frozen=True, slots=True)
class Slack:
    """The renderer; with ``detail`` its messages have a button that asks for detail first."""

    name: str = "slack"
    detail: bool = False

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the arguments of ``chat.postMessage``, all but the channel; raises ``TooLong``.

        Nothing in the texts is read as markup, links are not unfolded, and names are not linked.
        """
        blocks = held(_blocks(layout(moment), detail=self.detail))
        quiet = {"mrkdwn": False, "parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}
        return {"text": _fallback(blocks), "blocks": blocks, **quiet}

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return what a ``block_actions`` or ``view_submission`` payload says.

        Raises ``BadResolution``, ``WrongDigest``, ``NoSuchOption`` or ``HatchClosed``.
        """
        return read(moment, reply)


RENDERER = Slack()


def _blocks(shown: Layout, *, detail: bool) -> list[Json]:
    return [
        *([] if shown.note is None else sections(f"A note first: {shown.note}")),
        *heading(shown.synopsis),
        *heading("What it rests on"),
        *bullets(shown.findings),
        *heading("What to do"),
        *bullets(shown.recommendations),
        *sections(shown.offer),
        _divider(),
        *heading(shown.stem),
        *chain.from_iterable(_option(shown.digest, each) for each in shown.choices),
        *_vetoes(shown),
        *(_offer(shown) if detail else ()),
    ]


def _option(digest: str, choice: Choice) -> list[Json]:
    accessory = button(
        press(choice),
        Outcome.SELECTED,
        json.dumps(answering(digest, Outcome.SELECTED, choice.index)),
        primary=choice.recommended,
        index=choice.index,
    )
    lines = (numbered(choice), choice.label, choice.reasoning, *careful(choice))
    return [_divider(), *sections(*lines, accessory=accessory)]


def _divider() -> Json:
    return {"type": "divider"}


def _vetoes(shown: Layout) -> list[Json]:
    elements = [_veto(shown.digest, each) for each in shown.hatches]
    return [{"type": "actions", "elements": elements}] if elements else []


def _veto(digest: str, hatch: Hatch) -> Json:
    outcome = Outcome(hatch.kind.value)
    return button(hatch.label, outcome, json.dumps(answering(digest, outcome)))


def _offer(shown: Layout) -> list[Json]:
    value = json.dumps({"digest": shown.digest, "outcome": DETAIL})
    made = {"type": "button", "text": plain(OFFER.label), "action_id": f"{PREFIX}{DETAIL}", "value": value}
    return [{"type": "actions", "elements": [made]}]


def _fallback(blocks: list[Json]) -> str:
    """Return what a notification and a screen reader tell: everything, or that there is something to see."""
    whole = _EMOJI.sub(": ", "\n".join(chain.from_iterable(map(texts, blocks))))
    return whole if len(whole.encode()) <= _FALLBACK else _WAITS
