"""How the tables are written: one row says what a vendor does, and all that must come of it.

A ``story`` is the whole sequence of what happens, word for word: ``call`` is a request as the *server* saw it
(``call*2``: with twice the first budget, ``call+fix``: with a corrective fragment), in capitals stands the verdict
on its answer, and the rest are the events that were reported, with their reasons.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing import Behaviour

WIRES = {
    "openai-responses": "openai/gpt-6-sol",
    "openai-chat": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "google": "google/gemini-3.8-flash",
    "gemini-interactions": "google/gemini-3.8-flash",
    "bedrock-converse": "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
WAYS = {
    "sync": ("unary", "blocking"),
    "async": ("unary", "awaited"),
    "stream": ("streamed", "blocking"),
    "astream": ("streamed", "awaited"),
}
"""The ways to ask, and the words by which a row may speak of several of them."""

FIRST = 8192
"""The first output budget of every cell, in tokens: room for each whole answer, by any tokenizer."""

BILLS = MappingProxyType(
    {
        "exact": "each call costs here what the vendor bills for it, to the token; nothing is estimated",
        "counted": (
            "a stream broke off: what it had written is counted here, as the vendor does (equal where both count with "
            "the same tokenizer, never less else); its input is the vendor's own number on the wires that say it "
            "first, else it is counted from the texts sent, not knowing the vendor's frame and spelling of the schema"
        ),
        "unseen": (
            "a stream broke off before the vendor told of its thinking, which it bills and shows nobody: all but the "
            "thinking is counted"
        ),
        "guessed": (
            "an answer broke off that is no stream, so nothing of it can be read: its input is counted from the texts "
            "sent, and its output guessed from the bytes that came"
        ),
        "presumed": (
            "an answer that cannot be read may have been billed, or not: its input is counted from the texts sent, and "
            "its output guessed from the bytes that came"
        ),
        "unheard": (
            "the vendor bills a call of which nothing was heard: its input is counted from the texts sent; all others "
            "are exact"
        ),
    }
)
"""What a row can promise of its bill, and why it is not always equality."""


@dataclass(frozen=True)
class Row:
    """One fault.

    ``script`` is what the vendor does to the calls, in order. ``ends`` is ``value``, ``withheld`` or the error with
    its code. ``waits`` are the seconds waited before re-sends (``2..4``: between them), by a clock whose backoff is
    1, 2, 3, ... seconds. ``bill`` is a word of ``BILLS``. ``but`` says what
    differs on the wires and ways that its keys name. ``without`` names ways that have no cell, and why.
    """

    script: tuple[Behaviour, ...]
    story: str
    ends: str = "value"
    waits: str = ""
    bill: str = "exact"
    policy: Policy = field(default_factory=Policy)
    but: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    without: Mapping[str, str] = field(default_factory=dict[str, str])

    def on(self, wire: str, way: str) -> Row:
        """Return the row as it holds for one cell: later exceptions win."""
        words = {wire, way, *WAYS[way]}
        row = self
        for key, other in self.but.items():
            if words.issuperset(key.split()):
                row = replace(row, **other)
        return row


@dataclass(frozen=True)
class Cell:
    """One fault on one wire in one way; ``asks`` is ``moment`` or ``form``, whichever function is used."""

    fault: str
    wire: str
    way: str
    asks: str = "moment"

    def __str__(self) -> str:
        return "-".join(getattr(self, each.name) for each in fields(self)).removesuffix("-moment")

    @property
    def streamed(self) -> bool:
        """Whether the answer comes as a stream."""
        return "streamed" in WAYS[self.way]

    @property
    def awaited(self) -> bool:
        """Whether the call is an async one."""
        return "awaited" in WAYS[self.way]
