"""What a vendor is about to answer, before it is written in the words of a wire."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from emitter.testing.asked import Asked


class Ending(Enum):
    """Why a vendor stopped writing; each wire has its own words for it."""

    WHOLE = "whole"
    CUT = "cut"
    REFUSED = "refused"
    FILTERED = "filtered"
    PAUSED = "paused"
    NONE = "none"
    """No reason is told, and a stream lacks its last events."""


class Trouble(Enum):
    """What a vendor can say no to; each has its own status, code and body for it."""

    BAD_REQUEST = "bad_request"
    BAD_SCHEMA = "bad_schema"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    NO_MODEL = "no_model"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    QUOTA = "quota"
    OVERFLOWED = "overflowed"
    PROMPT_BLOCKED = "prompt_blocked"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error response.

    ``status`` None is the vendor's usual one. ``retry_after`` is in seconds, or ``"date"`` for a date two
    seconds from now. ``param`` is the place in the request that is at fault, ``code`` the vendor's word for it.
    """

    trouble: Trouble
    message: str = ""
    status: int | None = None
    retry_after: float | str | None = None
    param: str | None = None
    code: str | None = None


class Trip(Enum):
    """What happens to the bytes of an answer on their way."""

    ARRIVES = "arrives"
    CUT_OFF = "cut_off"
    FALLS_SILENT = "falls_silent"
    TRICKLES = "trickles"


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an answer travels: ``after`` bytes of its body the trip goes wrong; None: before the headers."""

    trip: Trip = Trip.ARRIVES
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer.

    ``ending`` may be a raw word that no vendor has. ``output`` are the tokens billed, thinking included; None:
    what ``thinking`` and ``text`` amount to. ``chunk`` is the characters in one delta of a stream. With
    ``failing`` the answer breaks off in an error under HTTP 200.
    """

    text: str
    ending: Ending | str = Ending.WHOLE
    thinking: int = 0
    output: int | None = None
    category: str = ""
    chunk: int = 20
    failing: Failure | None = None
    delivery: Delivery = Delivery()


@dataclass(frozen=True, slots=True)
class Raw:
    """A body under HTTP 200 that is no answer of any vendor."""

    body: bytes
    content_type: str = "text/html"


Planned: TypeAlias = "Draft | Failure | Raw"


class Behaviour(Protocol):
    """One thing that a vendor does; a frozen dataclass with this method is one, too."""

    def plan(self, asked: Asked) -> Planned:
        """Return what the vendor answers to a request."""
        ...
