"""The functions of bulk runs: ``emit_many`` and ``emit_binding_moments``, with their async versions.

Each takes an iterable of inputs and returns a run, which is an iterator of results.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar, cast, overload

from emitter.bulk.claims import DEFAULT_LEASE, ClaimOptions
from emitter.bulk.executors import parse_batch
from emitter.bulk.jobs import AnyInputs, Inputs, Job, count_inputs, iter_inputs, validate_inputs
from emitter.bulk.runner import JobForm, plan_run
from emitter.bulk.runs import AsyncRun, Run, RunOptions
from emitter.client.binding_moments import pop_terms, to_decision
from emitter.client.documents import split_options
from emitter.client.options import (
    CallOptions,
    DecisionRules,
    DocumentCall,
    DocumentOptions,
    EmitOptions,
    documented_options,
)
from emitter.client.settings import Settings
from emitter.errors import InputError
from emitter.forms.binding_moment import NO_ACTIONS, binding_moment_form
from emitter.forms.document import document_form

if TYPE_CHECKING:
    from os import PathLike
    from typing import Unpack

    from emitter.bulk.batches.emissions import Batch
    from emitter.bulk.claims import JobStore
    from emitter.bulk.progress import ProgressCallback
    from emitter.bulk.runner import RunPlan
    from emitter.client.result import Decision, Emission

T = TypeVar("T")

DEFAULT_IN_FLIGHT = 32


class BulkOptions(TypedDict, total=False):
    """Options of a bulk run.

    Args:
        in_flight: The largest number of concurrent calls. Defaults to 32.
        ordered: Whether to return results in the order of the inputs, the default, or as they finish.
        journal: A file that each finished emission is written to. A run that was killed continues from it.
        progress: True or False for a progress bar, None for a bar if standard error is a terminal, or a function that
            takes a ``RunProgress``.
        batch: True or a ``Batch`` to use the vendor's batch interface, which is cheaper and slower. All inputs are then
            read at once, ``in_flight`` has no effect, and a second file beside the journal, with the suffix
            ``.batches``, or the store records the batches.
        store: A ``SqlStore`` or ``SqliteStore`` in place of a journal, for several processes that run the same. One of
            them sends a job, and all get its outcome. They share ``rate_limit``, too.
        orphans: For jobs that an earlier process claimed before it ended, with an unknown outcome: ``"resend"``, the
            default, sends them again; ``"list"`` returns them with ``UnknownOutcome``.
        lease: Seconds after which a process that does not renew its lease in the store counts as gone. Defaults to 60.
    """

    in_flight: int
    ordered: bool
    journal: str | PathLike[str] | None
    progress: ProgressCallback | bool | None
    batch: Batch | bool
    store: JobStore | None
    orphans: Literal["resend", "list"]
    lease: float


class DocumentBulkCall(BulkOptions, DocumentCall[T], Generic[T], total=False):
    """Options of ``Emitter.emit_many``."""


class DocumentBulkOptions(BulkOptions, DocumentOptions[T], Generic[T], total=False):
    """Options of ``emit_many``."""


class DecisionBulkCall(BulkOptions, DecisionRules, CallOptions, total=False):
    """Options of ``Emitter.emit_binding_moments``."""


class DecisionBulkOptions(BulkOptions, DecisionRules, EmitOptions, total=False):
    """Options of ``emit_binding_moments``."""


@overload
def emit_many(
    form: type[T], inputs: Inputs, *, model: str, **options: Unpack[DocumentBulkOptions[T]]
) -> Run[Emission[T]]: ...


@overload
def emit_many(
    form: object, inputs: Inputs, *, model: str, **options: Unpack[DocumentBulkOptions[Any]]
) -> Run[Emission[Any]]: ...


@documented_options(DocumentBulkOptions)
def emit_many(
    form: object, inputs: Inputs, *, model: str, **options: Unpack[DocumentBulkOptions[Any]]
) -> Run[Emission[Any]]:
    """Ask a model for a typed object for each of many inputs.

    The inputs are read as they are needed. At most ``in_flight`` calls run at once, fewer while the vendor reports an
    overload, and at most four times as many jobs are started and not yet returned.

    Args:
        form: The type or JSON Schema of each object, as for ``emit``.
        inputs: An iterable of prompts, message lists or ``Job``.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.

    Returns:
        An iterator of ``JobResult``, each with its result or its exception. Iterating raises ``BadJournal``. At its end
        it raises ``JournalFailed``, or what reading the inputs raised. A ``client`` of your own must be async.

    Raises:
        InputError: An argument is invalid.
        Uncompilable: The vendor cannot enforce the schema.
    """
    validate_inputs(inputs, asynchronous=False)
    run_options = _pop_run_options(options)
    plan = _plan_documents(form, model, options, batched=run_options.batch is not None)
    return Run(plan, iter(inputs), count_inputs(inputs), run_options)


@overload
def aemit_many(
    form: type[T], inputs: AnyInputs, *, model: str, **options: Unpack[DocumentBulkOptions[T]]
) -> AsyncRun[Emission[T]]: ...


@overload
def aemit_many(
    form: object, inputs: AnyInputs, *, model: str, **options: Unpack[DocumentBulkOptions[Any]]
) -> AsyncRun[Emission[Any]]: ...


@documented_options(DocumentBulkOptions)
def aemit_many(
    form: object, inputs: AnyInputs, *, model: str, **options: Unpack[DocumentBulkOptions[Any]]
) -> AsyncRun[Emission[Any]]:
    """Async version of ``emit_many``. ``inputs`` may be an async iterable. Returns an async iterator."""
    validate_inputs(inputs, asynchronous=True)
    run_options = _pop_run_options(options)
    plan = _plan_documents(form, model, options, batched=run_options.batch is not None)
    return AsyncRun(plan, iter_inputs(inputs), count_inputs(inputs), run_options)


@documented_options(DecisionBulkOptions)
def emit_binding_moments(inputs: Inputs, *, model: str, **options: Unpack[DecisionBulkOptions]) -> Run[Decision]:
    """Ask a model for a decision for each of many inputs.

    Pass ``after`` and ``actions`` in each ``Job``. The rest is as for ``emit_many``.

    Args:
        inputs: An iterable of prompts, message lists or ``Job``.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.
    """
    validate_inputs(inputs, asynchronous=False)
    run_options = _pop_run_options(options)
    plan = _plan_decisions(model, options, batched=run_options.batch is not None)
    return Run(plan, iter(inputs), count_inputs(inputs), run_options)


@documented_options(DecisionBulkOptions)
def aemit_binding_moments(
    inputs: AnyInputs, *, model: str, **options: Unpack[DecisionBulkOptions]
) -> AsyncRun[Decision]:
    """Async version of ``emit_binding_moments``; see ``aemit_many``."""
    validate_inputs(inputs, asynchronous=True)
    run_options = _pop_run_options(options)
    plan = _plan_decisions(model, options, batched=run_options.batch is not None)
    return AsyncRun(plan, iter_inputs(inputs), count_inputs(inputs), run_options)


def _pop_run_options(options: BulkOptions) -> RunOptions:
    return RunOptions(
        options.pop("in_flight", DEFAULT_IN_FLIGHT),
        options.pop("ordered", True),
        options.pop("journal", None),
        options.pop("progress", None),
        parse_batch(options.pop("batch", False)),
        ClaimOptions(
            options.pop("store", None),
            options.pop("orphans", "resend"),
            options.pop("lease", DEFAULT_LEASE),
            cast("EmitOptions", options).get("run_id"),
        ),
    )


def _plan_documents(
    form: object, model: str, options: DocumentBulkOptions[Any], *, batched: bool
) -> RunPlan[Emission[Any]]:
    terms, settings = split_options(model, options)

    def make_job_form(job: Job) -> JobForm[Emission[Any]]:
        if job.after or job.actions:
            raise InputError("Job.after and Job.actions are for decisions.", hint="Call emit_binding_moments.")
        return JobForm(document_form(form, terms._replace(context=job.context)), to_result)

    def to_result(emission: Emission[Any]) -> Emission[Any]:
        return emission

    return plan_run(document_form(form, terms), settings, to_result, make_job_form, batched=batched)


def _plan_decisions(model: str, options: DecisionBulkOptions, *, batched: bool) -> RunPlan[Decision]:
    terms = pop_terms(options, (), NO_ACTIONS)

    def make_job_form(job: Job) -> JobForm[Decision]:
        if job.context is not None:
            raise InputError("Job.context is for a type of your own.", hint="Call emit_many.")
        job_terms = terms.with_history(job.after, job.actions)
        return JobForm(binding_moment_form(job_terms), partial(to_decision, actions=job_terms.actions))

    settings = Settings.from_options(model, options)
    finish = partial(to_decision, actions=NO_ACTIONS)
    return plan_run(binding_moment_form(terms), settings, finish, make_job_form, batched=batched)
