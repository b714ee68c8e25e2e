"""The input and output of a bulk run: ``Job`` and ``JobResult``."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

from emitter.arguments import check_list
from emitter.errors import EmissionError, InputError, UnknownOutcome
from emitter.forms.binding_moment import Actions, EarlierAnswers, validate_actions, validate_continuations
from emitter.prompts import Material, Media

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.client.result import Emission, Withheld
    from emitter.conversation import Messages

T = TypeVar("T")
R = TypeVar("R", bound="Emission[Any] | Withheld")
"""The result of a single call."""
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Job:
    """An input with its own key, materials and options.

    Attributes:
        messages: A prompt or messages, as for ``emit``.
        key: The name of the job in a journal. The same key means the same request. Without a key, the journal uses a
            digest of the request.
        materials: Materials for this input, in addition to those of the run.
        after: For decisions: what ``continue_after`` returned for earlier envelopes of this input.
        actions: For decisions: the options that do something; see ``emit_binding_moment``.
        context: For a type of your own: pydantic's validation context for this input, in place of the run's.
    """

    messages: Messages
    key: str | None = None
    materials: Iterable[Material | Media | str] = ()
    after: EarlierAnswers = ()
    actions: Actions = field(default_factory=dict[str, "str | None"], hash=False)
    context: object = field(default=None, hash=False)

    def __post_init__(self) -> None:
        key: Any = self.key
        if key is not None and (not isinstance(key, str) or not key.strip()):
            raise InputError(f"Job.key is {key!r}; it must be a string with visible text, or None.")
        materials = check_list("Job.materials", self.materials, (str, Material, Media), "the texts, Materials or media")
        object.__setattr__(self, "materials", tuple(materials))
        object.__setattr__(self, "after", validate_continuations(self.after))
        object.__setattr__(self, "actions", validate_actions(self.actions))


@dataclass(frozen=True, slots=True)
class JobResult(Generic[R_co]):
    """The result of one job.

    Attributes:
        index: The position of the input, counted from 0.
        key: Your key, or the journal's.
        input: The prompt, messages or job that you passed.
        outcome: The result, or the exception.
        replayed: The outcome was read from the journal, without a call.
        stale: The job has changed since, so the outcome answers an earlier version of it.
    """

    index: int
    key: str | None
    input: Messages | Job
    outcome: R_co | Exception
    replayed: bool = False
    stale: bool = False

    @property
    def error(self) -> Exception | None:
        """The exception, or None. An ``EmissionError`` has its trace."""
        return self.outcome if isinstance(self.outcome, Exception) else None

    @property
    def cost(self) -> Decimal | None:
        """The cost of all calls of the job in US dollars, in whichever run they were made. Zero if there was no call.

        None if the model has no price, or if the job may have been sent and its outcome is unknown.
        """
        if isinstance(self.outcome, EmissionError):
            return self.outcome.cost
        if isinstance(self.outcome, Exception):
            return None if isinstance(self.outcome, UnknownOutcome) else Decimal()
        return cast("Emission[Any] | Withheld", self.outcome).cost

    @property
    def result(self) -> R_co:
        """The result, as the single call returns it. Raises the exception, if the outcome is one."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    @property
    def value(self: JobResult[Emission[T]]) -> T:
        """The value of the result. Raises as ``result`` does."""
        return self.result.value


Inputs: TypeAlias = "Iterable[Messages | Job]"
"""Prompts, message lists or jobs. A generator is read as needed."""
AnyInputs: TypeAlias = "Inputs | AsyncIterable[Messages | Job]"
_INPUTS_HINT = "Pass an iterable of prompts, message lists or Jobs."


def validate_inputs(inputs: object, *, asynchronous: bool) -> None:
    """Raise ``InputError`` unless the value is an iterable of inputs."""
    if isinstance(inputs, AsyncIterable):
        if not asynchronous:
            raise InputError("inputs is an async iterable.", hint="Call aemit_many or aemit_binding_moments.")
        return
    kind = type(inputs).__name__
    if isinstance(inputs, str | bytes | Mapping | Job) or not isinstance(inputs, Iterable):
        raise InputError(f"inputs is of type {kind}.", hint=_INPUTS_HINT)


def count_inputs(inputs: object) -> int | None:
    """Return the number of inputs, or None if it is unknown."""
    try:
        return len(cast("Any", inputs))
    except TypeError:
        return None


def to_job(item: Messages | Job) -> Job:
    """Return an input as a job."""
    return item if isinstance(item, Job) else Job(item)


def iter_inputs(inputs: AnyInputs) -> AsyncIterator[Messages | Job]:
    """Return the inputs as an async iterator."""
    if isinstance(inputs, AsyncIterable):
        return aiter(inputs)
    return _SyncSource(iter(inputs))


class _SyncSource(AsyncIterator["Messages | Job"]):
    def __init__(self, iterator: Iterator[Messages | Job]) -> None:
        self._iterator = iterator

    async def __anext__(self) -> Messages | Job:
        try:
            return next(self._iterator)
        except StopIteration:
            raise StopAsyncIteration from None
