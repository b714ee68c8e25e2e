"""What is asked of the model many times: situations as they come, each with what is its own."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from emitter.arguments import listed
from emitter.errors import InputError
from emitter.moment.acting import Actions, labelled
from emitter.moment.after import After, continuations
from emitter.prompt import Material

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.conversation import Situation


@dataclass(frozen=True, slots=True)
class Job:
    """A situation with a ``key`` of the caller's own, and ``materials`` beside those of all.

    The key is what a journal knows the job by: whoever gives the same key asks for the same thing. Without one it
    is a digest of the words that are sent. Where decisions are asked for, ``after`` is what ``continue_after`` returned
    for earlier envelopes of this situation, and ``actions`` are the options that do something; see
    ``emit_binding_moment``.
    """

    situation: Situation
    key: str | None = None
    materials: Iterable[Material | str] = ()
    after: After = ()
    actions: Actions = field(default_factory=dict[str, "str | None"], hash=False)

    def __post_init__(self) -> None:
        key: Any = self.key
        if key is not None and (not isinstance(key, str) or not key.strip()):
            raise InputError(f"Job.key is {key!r}; it must be a text, or None.")
        given = listed("Job.materials", self.materials, (str, Material), "the texts, or Materials")
        object.__setattr__(self, "materials", tuple(given))
        object.__setattr__(self, "after", continuations(self.after))
        object.__setattr__(self, "actions", labelled(self.actions))


Situations: TypeAlias = "Iterable[Situation | Job]"
"""Situations, or jobs; a generator is read as it is needed."""
AnySituations: TypeAlias = "Situations | AsyncIterable[Situation | Job]"

_WANTED = "Pass an iterable of situations: texts, message lists or Jobs."


def checked(situations: object, *, asynchronous: bool) -> None:
    """Refuse what holds no situations."""
    if isinstance(situations, AsyncIterable):
        if not asynchronous:
            raise InputError("situations is an async iterable.", hint="Use the async call.")
        return
    given = situations
    if isinstance(situations, str | bytes | Mapping | Job) or not isinstance(situations, Iterable):
        raise InputError(f"situations is of type {type(given).__name__}.", hint=_WANTED)


def count(situations: object) -> int | None:
    """Return how many there are, where they say so."""
    try:
        return len(cast("Any", situations))
    except TypeError:
        return None


def job(given: Situation | Job) -> Job:
    """Return a situation as a job."""
    return given if isinstance(given, Job) else Job(given)


def stream(situations: AnySituations) -> AsyncIterator[Situation | Job]:
    """Return the situations one by one, whichever way they come."""
    if isinstance(situations, AsyncIterable):
        return aiter(situations)
    return _Stepwise(iter(situations))


class _Stepwise(AsyncIterator["Situation | Job"]):
    def __init__(self, left: Iterator[Situation | Job]) -> None:
        self._left = left

    async def __anext__(self) -> Situation | Job:
        try:
            return next(self._left)
        except StopIteration:
            raise StopAsyncIteration from None
