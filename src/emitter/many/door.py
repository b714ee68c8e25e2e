"""``emit_many`` and ``aemit_many``: they compose the parts and decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from emitter.document.door import emission_of
from emitter.document.wanted import wanted
from emitter.door.settings import More, Settings
from emitter.many.batched import chosen
from emitter.many.job import AnySituations, Situations, checked, count, stream
from emitter.many.run import AsyncRun, How
from emitter.many.threaded import Run
from emitter.many.work import work
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Unpack

    from emitter.batch import Batch
    from emitter.document.checks import Check
    from emitter.door.result import Emission
    from emitter.many.bar import Report
    from emitter.prompt import Material
    from emitter.sinks import Sink
    from emitter.wire import Json

T = TypeVar("T")


@overload
def emit_many(
    schema: type[T],
    situations: Situations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Run[Emission[T]]: ...
@overload
def emit_many(
    schema: object,
    situations: Situations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Run[Emission[Any]]: ...
def emit_many(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situations: Situations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Run[Emission[Any]]:
    """Turn each of many situations into a document that holds to a schema, or into a value of a type.

    ``situations`` is any iterable, such as a generator: it is read as it is needed. Each is what ``emit`` takes, or a
    ``Job`` with a key and materials of its own. ``schema``, ``model``, ``checks`` and the rest are those of ``emit``;
    ``materials`` are shown with every situation.

    At most ``in_flight`` calls are under way, fewer while the vendor says it has too many, and at most four times as
    many situations are begun and not yet handed out. ``ordered`` hands out in the order of the situations, else as
    each is finished. ``journal`` names a file that is written to as each emission ends: a run that was killed goes
    on from it. ``progress`` is True or False for a bar, a function of a ``RunProgress``, or None for a bar where
    standard error is a terminal. One client is used for all; ``client`` is an async one and
    is left open. ``batch`` is True or a ``Batch`` to ask by way of the vendor's batch interface: cheaper, and
    slower; ``in_flight`` says nothing then, and all situations are read and begun at once. What the batches of a
    journal need is kept beside it, in a file whose name ends in ``.batches``.

    Returns an iterator of ``Item``: each holds its result, or the error it ended in. Raises ``InputError`` or
    ``Uncompilable`` at once for what could never be asked; iterating raises ``BadJournal``, and at its end
    ``JournalFailed`` or what reading the situations raised, once all that was begun is handed out.
    """
    checked(situations, asynchronous=False)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    how = How(in_flight, ordered, journal, progress, chosen(batch))
    form = wanted(schema, checks, examples, settings.kind, told=settings.validator_messages)
    asked = work(form, settings, emission_of)
    return Run(asked, iter(situations), count(situations), how)


@overload
def aemit_many(
    schema: type[T],
    situations: AnySituations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncRun[Emission[T]]: ...
@overload
def aemit_many(
    schema: object,
    situations: AnySituations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncRun[Emission[Any]]: ...
def aemit_many(  # noqa: PLR0913  every one but the model has a default
    schema: object,
    situations: AnySituations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncRun[Emission[Any]]:
    """Do as ``emit_many`` does, without blocking.

    ``situations`` may be an async iterable, and what is returned is an async iterator.
    """
    checked(situations, asynchronous=True)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    how = How(in_flight, ordered, journal, progress, chosen(batch))
    form = wanted(schema, checks, examples, settings.kind, told=settings.validator_messages)
    asked = work(form, settings, emission_of)
    return AsyncRun(asked, stream(situations), count(situations), how)
