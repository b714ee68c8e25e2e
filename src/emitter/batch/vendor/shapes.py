"""What all vendors' batch interfaces share: the values that go in and come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime as dt

    from emitter.profile import Profile, WireName
    from emitter.wire import Answer, Fault


@dataclass(frozen=True, slots=True)
class Channel:
    """What everything is sent through: the vendor's client, the profile and wire it speaks, seconds for one request."""

    client: Any
    profile: Profile
    wire: WireName
    timeout: float


@dataclass(frozen=True, slots=True)
class Packed:
    """A request as it lies in a batch, and its bytes."""

    payload: Any
    size: int


@dataclass(frozen=True, slots=True)
class Invalid:
    """What the vendor found wrong with a batch as a whole; ``line`` is the request's place, counted from 0."""

    fault: Fault
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """How a batch stands.

    ``done`` and ``failed`` count requests, as far as the vendor tells. Once it has ``ended``, ``missing`` is what a
    request without a result came to, ``invalid`` says why nothing of it was run, and ``held`` is where the vendor's
    module finds the results.
    """

    ended: bool
    done: int = 0
    failed: int = 0
    missing: Fault | None = None
    invalid: tuple[Invalid, ...] = ()
    held: Any = None


@dataclass(frozen=True, slots=True)
class Result:
    """What one request of a batch came to; ``ident`` is the id that it was given, or None where it is not legible."""

    ident: str | None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A batch that may be one whose submission was never confirmed; ``ours`` is None while that cannot be told."""

    batch: str
    ours: bool | None


@dataclass(frozen=True, slots=True)
class Intent:
    """A batch that was about to be submitted: its tag, its number of requests, and when that was."""

    tag: str
    size: int
    at: dt.datetime
