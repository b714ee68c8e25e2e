"""Decides what each request is answered with: its own faults first, then the script, then the standing answer."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from emitter.testing import composing
from emitter.testing.draft import Behaviour, Draft, Failure, Trouble
from emitter.testing.ledger import Call
from emitter.testing.requests import BAD_KEY, Heard, hear, key_of, nowhere, speaker
from emitter.testing.response import Response

if TYPE_CHECKING:
    from collections.abc import Hashable

    from emitter.testing.asked import Asked
    from emitter.testing.ledger import Entry, Ledger

Answers: TypeAlias = "Behaviour | Mapping[Behaviour, float] | Callable[[Asked], Behaviour]"

_REMEMBERED = 512
"""How many requests and answers are kept to be used again."""
_LARGE = 1 << 16
"""What is longer than this is not kept."""
_T = TypeVar("_T")


class _Memory(OrderedDict["Hashable", _T]):
    """Remembers the latest few."""

    def of(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return what is known for a key, or make it."""
        if key in self:
            self.move_to_end(key)
            return self[key]
        made = self[key] = make()
        if len(self) > _REMEMBERED:
            self.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, with its body."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Handled:
    """A response and its place in the ledger."""

    response: Response
    entry: Entry


class Desk:
    """Answers requests one after the other; ``seed`` decides what is left to chance."""

    def __init__(self, answers: Answers, ledger: Ledger, *, seed: int, check_schemas: bool) -> None:
        self._answers = answers
        self._ledger = ledger
        self._seed = seed
        self._check_schemas = check_schemas
        self._heard = _Memory[Heard]()
        self._written = _Memory[Response]()
        self._before = Counter[bytes]()
        self.script = deque[Behaviour]()

    def reset(self) -> None:
        """Forget the script, and which bodies came before."""
        self.script.clear()
        self._before.clear()

    def handle(self, request: Request) -> Handled:
        """Return the answer to a request, and enter it into the ledger."""
        digest = hashlib.blake2b(request.path.encode() + b"\n" + request.raw, digest_size=12).digest()
        before = self._before[digest]
        self._before[digest] += 1
        lot = f"{self._seed}:{digest.hex()}:{before}"
        heard = self._hear(request, digest)
        behaviour, response = self._answer(heard, digest, before, lot)
        named = response.named(hashlib.blake2b(lot.encode(), digest_size=12).hexdigest())
        reach, asked = named.reach, heard.asked
        status = None if reach is None else named.status
        wire = heard.wire if heard.known else None
        call = Call(wire, request.path, asked.model, heard.body, asked.streamed, behaviour, status, named.billed(reach))
        return Handled(named, self._ledger.enter(call))

    def _hear(self, request: Request, digest: bytes) -> Heard:
        if request.method != "POST":
            return nowhere(request.path, speaker(request.headers))
        heard = self._read(request, digest)
        if not heard.known:
            return nowhere(request.path, speaker(request.headers))
        if key_of(request.headers) == BAD_KEY:
            return replace(heard, failure=Failure(Trouble.UNAUTHORIZED))
        return heard

    def _read(self, request: Request, digest: bytes) -> Heard:
        def read() -> Heard:
            return hear(request.path, request.raw, check_schemas=self._check_schemas)

        return read() if len(request.raw) > _LARGE else self._heard.of(digest, read)

    def _answer(self, heard: Heard, digest: bytes, before: int, lot: str) -> tuple[Behaviour | None, Response]:
        if heard.failure is not None:
            return None, composing.denied(heard.failure, heard.asked)
        asked = replace(heard.asked, before=before, lot=lot)
        behaviour = self._chosen(asked)
        planned = behaviour.plan(asked)
        if not isinstance(planned, Draft) or len(planned.text) > _LARGE:
            return behaviour, composing.composed(planned, asked)
        return behaviour, self._written.of((digest, planned), lambda: composing.composed(planned, asked))

    def _chosen(self, asked: Asked) -> Behaviour:
        """Return the next of the script, or what the standing answer comes to."""
        if self.script:
            return self.script.popleft()
        answers = self._answers
        if isinstance(answers, Mapping):
            mixture = cast("Mapping[Behaviour, float]", answers)
            luck = Random(f"{asked.lot}:which")  # noqa: S311  nothing secret is drawn
            return luck.choices(list(mixture), list(mixture.values()))[0]
        return answers(asked) if callable(answers) else answers
