"""The functions of bulk runs: ``emit_many`` and ``emit_binding_moments``, with their async twins.

Each takes an iterable of situations and returns a run, which is an iterator of results.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from emitter.bulk.executors import parse_batch
from emitter.bulk.jobs import AnySituations, Job, Situations, count_situations, iter_situations, validate_situations
from emitter.bulk.runner import JobForm, plan_run
from emitter.bulk.runs import AsyncRun, Run, RunOptions
from emitter.client.binding_moments import Decision, to_decision
from emitter.client.settings import EmitOptions, Settings
from emitter.forms.binding_moment import NO_ACTIONS, DecisionOptions, binding_moment_form
from emitter.forms.document import document_form
from emitter.models import OPEN_HATCHES, Hatches
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike
    from typing import Unpack

    from emitter.bulk.batches.emissions import Batch
    from emitter.bulk.progress import ProgressCallback
    from emitter.bulk.runner import RunPlan
    from emitter.checks import LintConfig
    from emitter.client.result import Emission
    from emitter.forms.binding_moment import Actions, EarlierAnswers
    from emitter.forms.document import Check
    from emitter.messages import Json
    from emitter.prompts import Material
    from emitter.telemetry.sinks import Sink

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
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
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
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
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
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Run[Emission[Any]]:
    """Ask a model for a typed object for each of many situations.

    The situations are read as they are needed. At most ``in_flight`` calls run at once, fewer while the vendor reports
    an overload, and at most four times as many jobs are started and not yet returned.

    Args:
        schema: The type or JSON Schema of each object, as for ``emit``.
        situations: An iterable of prompts, message lists or ``Job``.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.
        client: An async SDK client, which is left open. By default one is created and closed.
        in_flight: The largest number of concurrent calls.
        ordered: Whether to return results in the order of the situations, or as they finish.
        journal: A file that each finished emission is written to. A run that was killed continues from it.
        progress: True or False for a progress bar, None for a bar if standard error is a terminal, or a function that
            takes a ``RunProgress``.
        batch: True or a ``Batch`` to use the vendor's batch interface, which is cheaper and slower. All situations are
            then read at once, ``in_flight`` has no effect, and a second file beside the journal, with the suffix
            ``.batches``, records the batches.
        materials: Materials for every situation.
        checks: Functions that validate each object, as for ``emit``.
        examples: Example objects, as for ``emit``.
        policy: Limits on attempts, tokens, time and cost of each emission. Defaults to ``Policy()``.
        on_event: Receives every event.
        **more: Further options of ``emit``.

    Returns:
        An iterator of ``JobResult``, each with its result or its exception. Iterating raises ``BadJournal``. At its end
        it raises ``JournalFailed``, or what reading the situations raised.

    Raises:
        InputError: An argument is invalid.
        Uncompilable: The vendor cannot enforce the schema.
    """
    validate_situations(situations, asynchronous=False)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = RunOptions(in_flight, ordered, journal, progress, parse_batch(batch))
    form = document_form(schema, checks, examples, settings.kind, show_messages=settings.validator_messages)
    run_plan = plan_run(form, settings, lambda emission: emission)
    return Run(run_plan, iter(situations), count_situations(situations), options)


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
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[T]] = (),
    examples: Iterable[T | Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
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
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
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
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    checks: Iterable[Check[Any]] = (),
    examples: Iterable[Json] = (),
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> AsyncRun[Emission[Any]]:
    """Do the same as ``emit_many`` without blocking.

    ``situations`` may be an async iterable. Returns an async iterator.
    """
    validate_situations(situations, asynchronous=True)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = RunOptions(in_flight, ordered, journal, progress, parse_batch(batch))
    form = document_form(schema, checks, examples, settings.kind, show_messages=settings.validator_messages)
    run_plan = plan_run(form, settings, lambda emission: emission)
    return AsyncRun(run_plan, iter_situations(situations), count_situations(situations), options)


def emit_binding_moments(  # noqa: PLR0913  every one but the model has a default
    situations: Situations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: LintConfig | None = None,
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Run[Decision]:
    """Ask a model for a decision for each of many situations.

    The arguments are those of ``emit_many`` and ``emit_binding_moment``. Pass ``after`` and ``actions`` in each
    ``Job``.
    """
    validate_situations(situations, asynchronous=False)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = RunOptions(in_flight, ordered, journal, progress, parse_batch(batch))
    run_plan = _plan_decisions(partial(DecisionOptions.from_arguments, hatches, decision_class, discipline), settings)
    return Run(run_plan, iter(situations), count_situations(situations), options)


def aemit_binding_moments(  # noqa: PLR0913  every one but the model has a default
    situations: AnySituations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: ProgressCallback | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: LintConfig | None = None,
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> AsyncRun[Decision]:
    """Do the same as ``emit_binding_moments`` without blocking; see ``aemit_many``."""
    validate_situations(situations, asynchronous=True)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = RunOptions(in_flight, ordered, journal, progress, parse_batch(batch))
    run_plan = _plan_decisions(partial(DecisionOptions.from_arguments, hatches, decision_class, discipline), settings)
    return AsyncRun(run_plan, iter_situations(situations), count_situations(situations), options)


def _plan_decisions(
    make_options: Callable[[EarlierAnswers, Actions], DecisionOptions], settings: Settings
) -> RunPlan[Decision]:
    def make_job_form(job: Job) -> JobForm[Decision]:
        options = make_options(job.after, job.actions)
        return JobForm(binding_moment_form(options), partial(to_decision, actions=options.actions))

    return plan_run(binding_moment_form(make_options((), NO_ACTIONS)), settings, to_decision, make_job_form)
