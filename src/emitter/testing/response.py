"""An answer as bytes on their way to a client, and what is billed when only a part of them gets there."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emitter.testing.counting import tokens
from emitter.testing.draft import Delivery, Trip
from emitter.testing.wires.writing import MARK
from emitter.wire import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

WHOLE = Delivery()
_MARK = MARK.encode()


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """One HTTP response.

    Of a stream, ``ends`` are the offsets at which its events end and ``said`` the characters of ``text`` that
    have been sent there. ``usage`` is the bill when all of it arrives, ``filler`` what may come between without
    being an answer.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    usage: Usage
    delivery: Delivery = WHOLE
    text: str = ""
    ends: tuple[int, ...] = ()
    said: tuple[int, ...] = ()
    filler: bytes = b" "

    @property
    def streamed(self) -> bool:
        """Whether the body is a stream of events."""
        return bool(self.ends)

    def named(self, ident: str) -> Response:
        """Return the response with its own id."""
        headers = {name: value.replace(MARK, ident) for name, value in self.headers.items()}
        return replace(self, headers=headers, body=self.body.replace(_MARK, ident.encode()))

    @property
    def reach(self) -> int | None:
        """How many bytes of the body arrive; None: not even the headers."""
        delivery = self.delivery
        if delivery.trip is Trip.ARRIVES:
            return len(self.body)
        if delivery.after is None:
            return None
        last = self.ends[-2] if len(self.ends) > 1 else max(0, len(self.body) - 1)
        reach = min(delivery.after, last)
        tears = self.streamed and delivery.trip is Trip.TRICKLES
        return max((end for end in self.ends if end <= reach), default=0) if tears else reach

    def billed(self, reach: int | None) -> Usage:
        """Return the bill when so many bytes arrive.

        The unary form is written before its first byte is sent; a stream as far as it was sent.
        """
        if reach is None:
            return Usage(input=self.usage.input)
        if not self.streamed or reach >= len(self.body):
            return self.usage
        events = bisect_right(self.ends, reach)
        sent = self.said[events - 1] if events else 0
        if sent >= len(self.text):
            return self.usage
        return replace(self.usage, output=min(self.usage.output, self.usage.thinking + tokens(self.text[:sent])))
