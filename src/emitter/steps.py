"""What an emission asks of its driver, what it is asked itself, and what it comes to. Values only."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.wire import Answer, Fault, Report, Request, Usage

if TYPE_CHECKING:
    from emitter.events import Event, RunEvent
    from emitter.judge import Contract, Verdict
    from emitter.kinds import AIEnvelope
    from emitter.remedy import Write
    from emitter.schema import Violation
    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Call:
    """Send this request and send back the answer.

    ``number`` counts all calls from 1, ``after`` is the verdict on the one before.
    """

    request: Request
    number: int
    after: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait before the ``nth`` re-send after a fault, at least ``at_least`` seconds.

    Sent back is None, or a ``Fault`` when the deadline would pass. How long beyond the least is the
    driver's to say: the core holds no randomness and no clock.
    """

    nth: int
    at_least: float


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell this event to whoever listens; one that was recorded already is told as it was."""

    event: Event | RunEvent


Step: TypeAlias = Call | Wait | Tell


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call and what became of it; ``stop`` is the vendor's own word. No text of the model is kept.

    ``report`` is what the vendor said of a failure.
    """

    number: int
    verdict: Verdict
    budget: int
    corrected: bool
    stop: str = ""
    usage: Usage | None = None
    violations: tuple[Violation, ...] = ()
    fault: Fault | None = None
    request_id: str | None = None
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no envelope; ``cause`` is what code of the caller's, or the vendor's SDK, raised."""

    verdict: Verdict
    code: str
    message: str
    cause: Exception | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an emission came to: a ``value``, its ``document`` and the ``envelope``, or a ``failure``.

    ``attempts`` are all the calls it took.
    """

    attempts: tuple[Attempt, ...]
    value: Any = None
    document: Json = None
    failure: Failure | None = None
    envelope: AIEnvelope | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of all calls together."""
        return total_usage(self.attempts)


@dataclass(frozen=True, slots=True)
class Fallback:
    """How an answer is had in two calls: ``describe`` asks in plain words, ``convert`` puts words into the form."""

    describe: Callable[[Request], Request]
    convert: Callable[[Request, str], Request]


@dataclass(frozen=True, slots=True)
class Taken:
    """What the host makes of an answer that holds: its envelope or a ``failure``, and what is told of it.

    ``value`` and ``document`` are what may leave the host. ``discarded`` says that the node goes on without it, so
    that its failure is not told as the node's.
    """

    value: Any
    document: Json
    envelope: AIEnvelope | None = None
    events: tuple[RunEvent, ...] = ()
    failure: Failure | None = None
    discarded: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked, of whom, and what must hold.

    ``ceiling`` bounds the output budget in tokens, ``least`` is the smallest that is worth a call. ``kind`` is the
    envelope's. ``count`` returns the tokens that a request puts in, for limits; it is called only where some are set.
    ``opening`` is told before all else. ``hush`` strikes out of an answer what must not be told of it. ``known``
    returns what the host took for the same emission before, ``full`` its refusal where it could take no envelope,
    ``take`` hands it an answer that holds: the host has the last word.
    """

    provider: str
    request: Request
    contract: Contract
    write: Write
    ceiling: int
    least: int = 1
    kind: str = ""
    count: Callable[[Request], int] = lambda _: 0
    fallback: Fallback | None = None
    opening: tuple[Event, ...] = ()
    hush: Callable[[Answer], Answer] = lambda answer: answer
    known: Callable[[], Taken | None] = lambda: None
    full: Callable[[], Taken | None] = lambda: None
    take: Callable[[Any, Json], Taken] = Taken


Steps: TypeAlias = Generator[Step, Answer | None, Outcome]
"""An emission: a generator of steps that ends in its outcome."""


def total_usage(attempts: tuple[Attempt, ...]) -> Usage:
    """Return the tokens of all calls together."""
    return sum((each.usage for each in attempts if each.usage is not None), Usage())
