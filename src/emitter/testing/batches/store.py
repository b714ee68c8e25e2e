"""The batches that simulated vendors hold, and what happens to them."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from emitter.testing.desk import Request
from emitter.testing.draft import Delivery, Trip
from emitter.testing.ledger import NOTHING
from emitter.testing.response import Response
from emitter.testing.wires.writing import dumped
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.testing.desk import Handled
    from emitter.wire import Json

_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class BatchCourse:
    """What happens to a batch.

    ``refused`` is the status by which its making is refused, ``unconfirmed`` says that it is made and the
    connection then cut, ``invalid`` that it fails as a whole after it was made: for the code, and for the request
    at ``invalid_at`` (OpenAI alone tells which). ``expired``, ``lost``, ``twice`` and ``garbled`` are the places of
    requests that are not run in time, that have no result, two, or one that is no JSON. ``strange`` adds a result
    that nobody asked for, ``backwards`` turns the results around. ``cut`` is how often their download breaks off,
    ``short`` how often it ends before its end without a sign of it; ``unlisted`` in how many lists it is not yet.
    """

    refused: int | None = None
    retry_after: float | None = None
    unconfirmed: bool = False
    invalid: str | None = None
    invalid_at: int | None = None
    expired: Sequence[int] = ()
    lost: Sequence[int] = ()
    twice: Sequence[int] = ()
    garbled: Sequence[int] = ()
    strange: bool = False
    backwards: bool = False
    cut: int = 0
    short: int = 0
    unlisted: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """One request of a batch, as a single call would have it; ``ident`` is the client's id for it."""

    ident: str
    path: str
    body: Json


@dataclass(frozen=True, slots=True)
class Done:
    """What one request came to: the response of the single call, or the reason why it was not run."""

    ident: str
    response: Response | None
    reason: str = ""
    garbled: bool = False

    @property
    def body(self) -> Json:
        """The response's body; a text where it is no JSON."""
        raw = self.response.body if self.response else b""
        try:
            return json.loads(raw)
        except ValueError:
            return raw.decode(errors="replace")


@dataclass(slots=True)
class Held:
    """A batch at the vendor; it ends after ``looks`` further looks."""

    ident: str
    orders: list[Order]
    headers: Mapping[str, str]
    course: BatchCourse
    looks: int
    about: dict[str, Json] = field(default_factory=dict[str, "Json"])
    made: float = field(default_factory=time.time)
    cancelled: bool = False
    done: list[Done] | None = None
    cuts: int = 0
    shorts: int = 0
    lists: int = 0

    @property
    def failed(self) -> bool:
        """Whether it has ended without any request run, since it does not hold."""
        return self.done is not None and self.course.invalid is not None


class Batches:
    """All batches of a simulator. ``polls`` is how often one is looked at before it has ended.

    ``script`` says what happens to the next ones that are made; ``files`` are those that clients have uploaded.
    """

    def __init__(self, answer: Callable[[Request], Handled], polls: int = 1) -> None:
        self.polls = polls
        self.held: dict[str, Held] = {}
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self._answer = answer
        self._script: deque[BatchCourse] = deque()

    def script(self, *courses: BatchCourse) -> None:
        """Let these things happen to the next batches, in the order in which they are made."""
        self._script.extend(courses)

    @property
    def submitted(self) -> int:
        """How many requests were taken, in all batches."""
        return sum(len(each.orders) for each in self.held.values())

    def reset(self) -> None:
        """Forget all batches, files and the script."""
        self.held.clear()
        self.files.clear()
        self.requests.clear()
        self._script.clear()

    def course(self) -> BatchCourse:
        """Return what happens to the next batch."""
        return self._script.popleft() if self._script else BatchCourse()

    def make(self, name: str, orders: list[Order], request: Request, course: BatchCourse) -> Held:
        """Take a batch."""
        ident = name.format(f"{len(self.held) + 1:08d}")
        held = self.held[ident] = Held(ident, orders, request.headers, course, self.polls)
        return held

    def listed(self, begin: str) -> list[Held]:
        """Return the batches whose ids begin so and that a list shows already, the latest first."""
        found = [each for each in reversed(self.held.values()) if each.ident.startswith(begin)]
        for each in found:
            each.lists += 1
        return [each for each in found if each.lists > each.course.unlisted]

    def looked(self, held: Held) -> Held:
        """Count a look at a batch, and end it when there were enough."""
        held.looks -= 1
        if held.done is None and (held.looks <= 0 or held.cancelled):
            held.done = [] if held.course.invalid else self._run(held)
        return held

    def _run(self, held: Held) -> list[Done]:
        """Run the requests; of a batch that was cancelled the first half."""
        course, most = held.course, len(held.orders) // 2 if held.cancelled else len(held.orders)
        done = [self._one(held, place, order, most) for place, order in enumerate(held.orders)]
        done += [done[each] for each in course.twice]
        if course.strange:
            done.append(Done("nobody-asked-for-this", None, "expired"))
        kept = [each for place, each in enumerate(done) if place not in course.lost]
        return kept[::-1] if course.backwards else kept

    def _one(self, held: Held, place: int, order: Order, most: int) -> Done:
        if place in held.course.expired:
            return Done(order.ident, None, "expired")
        if place >= most:
            return Done(order.ident, None, "cancelled")
        raw = json.dumps(order.body).encode()
        handled = self._answer(Request("POST", order.path, held.headers, raw))
        return Done(order.ident, handled.response, garbled=place in held.course.garbled)


def counts(held: Held) -> tuple[int, int]:
    """Return how many requests came to an answer, and how many did not."""
    good = sum(each.response is not None and each.response.status < _FIRST_ERROR for each in held.done or [])
    return good, len(held.done or []) - good


_FIRST_ERROR = 400


def said(body: Json, status: int = 200, *, after: float | None = None) -> Response:
    """Return a JSON response that nothing is billed for."""
    waiting = {} if after is None else {"retry-after": f"{after:g}"}
    return Response(status, {"content-type": _JSON, **waiting}, dumped(body).encode(), NOTHING)


def cut(response: Response, held: Held | None = None, *, before: bool = False) -> Response:
    """Return a response that breaks off: in its middle as often as its batch says, or ``before`` it begins."""
    if before:
        return replace(response, delivery=Delivery(Trip.CUT_OFF, None))
    if held is not None and held.shorts < held.course.short:
        held.shorts += 1
        return replace(response, body=response.body[: response.body.find(b"\n") + 1])
    if held is None or held.cuts >= held.course.cut:
        return response
    held.cuts += 1
    return replace(response, delivery=Delivery(Trip.CUT_OFF, len(response.body) // 2))


def lines(rows: Sequence[tuple[Json, bool]]) -> bytes:
    """Return rows as JSON lines; those that are garbled as something else."""
    return b"".join((b"<html>" if garbled else dumped(row).encode()) + b"\n" for row, garbled in rows)


def loaded(raw: bytes) -> Mapping[str, Any]:
    """Return the object in a body, or an empty one."""
    try:
        return mapping(json.loads(raw))
    except (ValueError, RecursionError):
        return {}
