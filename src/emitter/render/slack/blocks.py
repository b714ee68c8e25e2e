"""Slack's blocks and their limits. What is too long for a block goes on in the next one; nothing is cut.

Every text is a ``plain_text`` object with ``emoji`` off, so that neither mrkdwn nor an emoji code in it is read; and
``&``, ``<`` and ``>`` are escaped, so that it mentions nobody and links nowhere.

Sources: https://docs.slack.dev/reference/block-kit/blocks. Slack also refuses a message as a whole
(``msg_blocks_too_long``) and publishes no number for it: its maintainers speak of 12,000 characters and a share for
each block (slackapi/bolt-js#2509); others measured 13,202 characters in few blocks, and some 125 for each more.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from emitter.errors import TooLong
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.render.reply import Outcome
    from emitter.wire import Json

TEXT = 3000
"""Characters in a section."""
HEADING = 150
"""Characters in a header."""
VIEW_BLOCKS = 100
MESSAGE = 12_000
"""Characters in the blocks of a message, with ``BLOCK`` for each; the 50 blocks that it may have are never reached."""
BLOCK = 125

PREFIX = "emitter.binding_moment."
"""How the action id of every button begins, and the callback id of every modal; an outcome follows."""

_EMPTY = "(empty)"
"""Slack refuses a text without a character."""


def plain(text: str) -> Json:
    """Return a text object of ``text``, which is escaped already."""
    return {"type": "plain_text", "text": text, "emoji": False}


def escaped(text: str) -> str:
    """Return ``text`` without the characters that Slack reads."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def sections(*lines: str, accessory: Json = None) -> list[Json]:
    """Return as many sections as the lines take; the last one has the accessory."""
    made: list[Json] = [{"type": "section", "text": plain(each)} for each in _pieces(lines)]
    if accessory is not None:
        made[-1]["accessory"] = accessory
    return made


def heading(text: str) -> list[Json]:
    """Return a header, or sections for a text that is too long for one."""
    safe = escaped(text)
    return [{"type": "header", "text": plain(safe)}] if 0 < len(safe) <= HEADING else sections(text)


def bullets(texts: Iterable[str]) -> list[Json]:
    """Return a list, one line for each text."""
    return sections(*(f"\N{BULLET} {each}" for each in texts))


def button(text: str, outcome: Outcome, value: str, *, primary: bool = False, index: int | None = None) -> Json:
    """Return a button, the text of which is ours."""
    action = f"{PREFIX}{outcome.value}" if index is None else f"{PREFIX}{outcome.value}.{index}"
    made = {"type": "button", "text": plain(text), "action_id": action, "value": value}
    return {**made, "style": "primary"} if primary else made


def held(blocks: list[Json]) -> list[Json]:
    """Return the blocks of a message; raises ``TooLong`` for more than Slack takes."""
    if cost(blocks) > MESSAGE:
        raise TooLong(f"The envelope takes more than a message of {MESSAGE} characters.")
    return blocks


def cost(blocks: list[Json]) -> int:
    """Return what blocks come to, as Slack is known to count."""
    return sum(BLOCK + sum(map(len, texts(each))) for each in blocks)


def texts(block: Json) -> Iterator[str]:
    """Yield what is to be read in a block, in its order."""
    for name in ("text", "label", "accessory", "elements"):
        inner = mapping(block).get(name)
        if isinstance(inner, str):
            yield inner
        elif inner is not None:
            yield from chain.from_iterable(map(texts, sequence(inner) or [inner]))


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, escaped, in texts that fit a section; a line that alone does not fit is parted at its spaces."""
    piece = ""
    for joint, part in _parts(lines):
        if piece and len(piece) + len(joint) + len(part) > TEXT:
            yield piece
            piece = part
        else:
            piece = f"{piece}{joint}{part}" if piece else part
    yield piece or _EMPTY


def _parts(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each line, or the words of one that is too long, with what joins it to the part before."""
    for line in map(escaped, lines):
        words = [line] if len(line) <= TEXT else line.split(" ")
        yield from zip(["\n", *" " * (len(words) - 1)], words, strict=True)
