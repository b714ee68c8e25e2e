"""What may go wrong between a vendor and its client: the behaviours that come back as no answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from emitter.testing.answers import DECODED
from emitter.testing.draft import Behaviour, Delivery, Draft, Ending, Failure, Raw, Trip, Trouble

if TYPE_CHECKING:
    from emitter.testing.asked import Asked
    from emitter.testing.draft import Planned

_TOO_MANY = 429
_OVERLOADED = Failure(Trouble.OVERLOADED)


@dataclass(frozen=True, slots=True)
class Overloaded:
    """Too many requests (429), or too little capacity (503, 529).

    ``retry_after`` is in seconds, or ``"date"`` for a date two seconds ahead.
    """

    status: int = _TOO_MANY
    retry_after: float | str | None = None

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the error."""
        trouble = Trouble.RATE_LIMITED if self.status == _TOO_MANY else Trouble.OVERLOADED
        return Failure(trouble, status=self.status, retry_after=self.retry_after)


@dataclass(frozen=True, slots=True)
class Failed:
    """The service fails."""

    status: int = 500
    message: str = ""

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the error."""
        return Failure(Trouble.SERVER, self.message, self.status)


class _Denied:
    """An error that says all by its kind."""

    __slots__ = ()
    trouble: ClassVar[Trouble]

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the error."""
        return Failure(self.trouble)


@dataclass(frozen=True, slots=True)
class Quota(_Denied):
    """The account has run dry; waiting does not fill it."""

    trouble: ClassVar[Trouble] = Trouble.QUOTA


@dataclass(frozen=True, slots=True)
class Unauthorized(_Denied):
    """The key is not taken."""

    trouble: ClassVar[Trouble] = Trouble.UNAUTHORIZED


@dataclass(frozen=True, slots=True)
class Forbidden(_Denied):
    """The key is good, and may not do this."""

    trouble: ClassVar[Trouble] = Trouble.FORBIDDEN


@dataclass(frozen=True, slots=True)
class NotFound(_Denied):
    """There is no such model."""

    trouble: ClassVar[Trouble] = Trouble.NO_MODEL


@dataclass(frozen=True, slots=True)
class Overflowed(_Denied):
    """The prompt is longer than the model's context window."""

    trouble: ClassVar[Trouble] = Trouble.OVERFLOWED


@dataclass(frozen=True, slots=True)
class Stalled:
    """Nothing more comes: before the headers, or ``after`` so many bytes of the body. It ends when the client goes."""

    after: int | None = None
    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the answer and how far it gets."""
        return _on_its_way(self.of.plan(asked), Delivery(Trip.FALLS_SILENT, self.after))


@dataclass(frozen=True, slots=True)
class Dropped:
    """The connection is cut ``after`` so many bytes of the body; None: before the headers.

    At most all but the last byte arrive, of a stream all but its last event.
    """

    after: int | None = 200
    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the answer and how far it gets."""
        return _on_its_way(self.of.plan(asked), Delivery(Trip.CUT_OFF, self.after))


@dataclass(frozen=True, slots=True)
class Trickled:
    """``after`` so many bytes of the body, what nobody reads comes bit by bit, for ever: blanks or comments.

    Of a stream, only the events that end within those bytes are sent: what comes amid one would tear it.
    """

    after: int = 0
    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the answer and how far it gets."""
        return _on_its_way(self.of.plan(asked), Delivery(Trip.TRICKLES, self.after))


def _on_its_way(said: Planned, delivery: Delivery) -> Planned:
    return replace(said, delivery=delivery) if isinstance(said, Draft) else said


@dataclass(frozen=True, slots=True)
class NotJson:
    """HTTP 200 with something else than an answer: a page of a proxy, a torn document, nothing."""

    body: str = "<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>"

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the body."""
        return Raw(self.body.encode(), "text/html" if self.body.startswith("<") else "application/json")


@dataclass(frozen=True, slots=True)
class Unended:
    """A stream without its last events; in the unary form, an answer without a reason for its end."""

    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the answer without its end."""
        said = self.of.plan(asked)
        return replace(said, ending=Ending.NONE) if isinstance(said, Draft) else said


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error under HTTP 200: in a stream after half of the answer, in the unary form instead of it."""

    error: Failure = _OVERLOADED
    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the half answer and its error."""
        said = self.of.plan(asked)
        if not isinstance(said, Draft):
            return said
        return replace(said, text=said.text[: len(said.text) // 2], failing=self.error)
