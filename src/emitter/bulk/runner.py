"""Run one job of a bulk run: plan it, replay it from the journal or send it, and journal the result."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, assert_never

from emitter.adapters.clients import HTTP_VARIABLES, create_client
from emitter.adapters.environment import check_http_settings, named_settings
from emitter.adapters.transport import async_half
from emitter.bulk.claims import ClaimLost
from emitter.bulk.jobs import Job, JobResult, R, to_job
from emitter.bulk.journal import (
    JournalEntry,
    RunJournal,
    build_fingerprint,
    decode_entry,
    decode_line,
    digest_job,
    make_request_id,
)
from emitter.bulk.limiter import Permit
from emitter.client.execution import EmissionRun, ModelChannel
from emitter.client.rate_limits import limit_calls
from emitter.client.request import prepare_emission
from emitter.client.result import Trace, complete
from emitter.errors import (
    AuthenticationError,
    ClientFailed,
    EmitterError,
    InputError,
    JournalFailed,
    QuotaExhausted,
    StoreFailed,
    UnknownOutcome,
)
from emitter.findings import as_warnings
from emitter.interpreter import UserCodeStep, arun_steps
from emitter.messages import Fault, FaultKind, as_mapping
from emitter.models import AIEnvelope
from emitter.prices import listed_prices, prices_in_batch
from emitter.stores.jobs import ClaimStatus

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from emitter.bulk.claims import JobJournal
    from emitter.bulk.journal import RunFingerprint
    from emitter.bulk.limiter import AdaptiveLimiter
    from emitter.bulk.progress import RunStats
    from emitter.client.prepared import PreparedEmission
    from emitter.client.result import Emission
    from emitter.client.settings import Settings
    from emitter.client.transport import PassOn, VendorCall
    from emitter.conversation import Messages
    from emitter.core.effects import EmissionOutcome
    from emitter.deadline import Deadline
    from emitter.events import RunEvent
    from emitter.forms.form import OutputForm
    from emitter.interpreter import Steps
    from emitter.messages import CallResult
    from emitter.policy import PriceTable
    from emitter.profiles import Profile
    from emitter.stores.jobs import Claim

_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0
"""Seconds before a job that another process has is claimed again. The wait doubles each time."""
_FEWEST_REJECTIONS = 8
"""Jobs in a row whose account the vendor rejects before a run stops, or as many as are in flight, if those are more."""
_UNRECORDED_HINT = (
    "Keep the output: {} of its results could not be recorded, and the next run may send and pay for them again."
)
_SHARED_UNKNOWN_HINT = (
    "Look it up at the vendor. To let the next run send it again, call store.jobs.resend() with its Orphan from "
    'store.jobs.orphans(), or run with orphans="resend", which sends all of them.'
)
_StoppingError: TypeAlias = AuthenticationError | QuotaExhausted | ClientFailed
"""The errors that every further job of a run would end in."""
_NO_CAPACITY = "The deadline passed while this call waited for other calls to the vendor."


@dataclass(frozen=True, slots=True)
class FinishedEmission:
    """The outcome of an emission, and its events."""

    outcome: EmissionOutcome
    events: tuple[RunEvent, ...]


@dataclass(slots=True)
class EmissionSender:
    """An emission in progress. ``finished`` is set at its end, also if it was cancelled."""

    plan: PreparedEmission
    settings: Settings
    permit: Permit
    stats: RunStats
    mark_sent: Callable[[], Awaitable[None]] | None = None
    """Called before the first call is sent, after its wait for a rate limit."""
    finished: FinishedEmission | None = None
    calls: int = 0
    is_calling: bool = False
    """True while a call that was sent has no answer."""
    run: EmissionRun | None = None

    async def begin_call(self) -> None:
        """Count a call that is about to be sent. The deadline counts from the first one."""
        if self.calls == 0:
            if self.mark_sent is not None:
                await self.mark_sent()
            if self.run is not None:
                self.run.deadline.resume()
        self.calls, self.is_calling = self.calls + 1, True
        self.stats.add_call(self.calls)

    async def send(self, client: object) -> FinishedEmission:
        """Run the emission to its outcome."""
        await self.permit.acquire()
        self.run = run = EmissionRun.start(self.plan)
        run.deadline.pause()  # until the first call is sent
        try:
            pass_on = partial(self._send_with_permit, limit_calls(self._send_call, self.stats.add_waiting))
            channel = ModelChannel(self.plan, pass_on=pass_on, client=client, asynchronous=True)
            await arun_steps(run.perform(channel))
        finally:
            self.permit.release()
            if run.outcome is not None:
                self.finished = FinishedEmission(run.outcome, tuple(run.recorder.events))
                self.stats.add_outcome(run.outcome)
        return FinishedEmission(run.result(), tuple(run.recorder.events))

    def _send_with_permit(self, send: PassOn, call: VendorCall) -> Steps[CallResult]:
        """Send a call once it has a permit."""
        calls = self.calls
        try:
            yield UserCodeStep(partial(self._acquire, call.deadline))
        except TimeoutError:
            return Fault(FaultKind.TIMEOUT, _NO_CAPACITY)
        answer: CallResult | None = None
        try:
            answer = result = yield from send(call)
        finally:
            # A call that was not sent says nothing about the vendor's capacity.
            self.permit.release(answer if self.calls > calls else None)
        return result

    async def _acquire(self, deadline: Deadline) -> None:
        async with asyncio.timeout(deadline.timeout()):
            await self.permit.acquire()

    def _send_call(self, call: VendorCall) -> Steps[CallResult]:
        yield UserCodeStep(self.begin_call)
        answer = yield from call.send()
        self.is_calling = False
        return answer


@asynccontextmanager
async def open_client(profile: Profile, settings: Settings, in_flight: int) -> AsyncGenerator[object]:
    """Yield the caller's client, or one that is created and closed here."""
    if settings.client is not None:
        yield async_half(settings.client)
        return
    from emitter.bulk.connections import PooledAsyncClient  # noqa: PLC0415  loads httpx2

    async with AsyncExitStack() as stack:
        http = None
        if not profile.client.is_blocking:
            check_http_settings(settings.base_url)
            with named_settings("httpx2", HTTP_VARIABLES):
                http = PooledAsyncClient(in_flight)
        if http is not None:
            stack.push_async_callback(http.aclose)
        key = settings.pool.api_key
        client = create_client(profile, asynchronous=True, base_url=settings.base_url, api_key=key, http_client=http)
        stack.push_async_callback(close_client, client)
        yield async_half(client)


async def close_client(client: object) -> None:
    """Close a client, if there is one."""
    if client is not None:
        target: Any = async_half(client)
        await (target.aclose if hasattr(target, "aclose") else target.close)()


_EXCLUDED_FIELDS = frozenset({"type", "payload"})


@dataclass(frozen=True, slots=True)
class JobForm(Generic[R]):
    """The output form of a job, and how its result is built."""

    form: OutputForm
    to_result: Callable[[Emission[Any]], R]


@dataclass(frozen=True, slots=True)
class RunPlan(Generic[R]):
    """The common part of all emissions of a run.

    ``probe`` is a prepared emission for an example input, so that invalid settings fail at once. ``make_job_form``
    returns the form of a job with earlier answers, actions or a context of its own. A journal may hold results of the
    other kind of run: ``other_prices`` are the batch prices if this run is not ``batched``, and else the usual ones.
    """

    form: OutputForm
    settings: Settings
    to_result: Callable[[Emission[Any]], R]
    probe: PreparedEmission
    make_job_form: Callable[[Job], JobForm[R]]
    batched: bool = False
    other_prices: PriceTable | None = None

    @property
    def fingerprint(self) -> RunFingerprint:
        """The common properties of the run's requests."""
        return build_fingerprint(self.form, self.settings, self.probe)

    def get_job_form(self, job: Job) -> JobForm[R]:
        """Return the form of a job."""
        if not job.after and not job.actions and job.context is None:
            return JobForm(self.form, self.to_result)
        return self.make_job_form(job)


def plan_run(
    form: OutputForm,
    settings: Settings,
    to_result: Callable[[Emission[Any]], R],
    make_job_form: Callable[[Job], JobForm[R]],
    *,
    batched: bool = False,
) -> RunPlan[R]:
    """Return the plan of a run. Raises ``InputError`` or ``Uncompilable`` for settings that never work."""
    if settings.background is not False:
        raise InputError(
            "A bulk run does not support background=.", hint="Leave it out. batch=True is cheaper for many jobs."
        )
    resolved = replace(settings, materials=tuple(settings.resolve_materials()))
    target = settings.resolve()
    other_prices = prices_in_batch(settings.policy, target.profile, target.model)
    if batched:
        resolved = replace(resolved, policy=replace(settings.policy, prices=other_prices))
        other_prices = settings.policy.prices or listed_prices(target.profile, target.model)
    probe = prepare_emission(form, "…", resolved)
    return RunPlan(form, resolved, to_result, probe, make_job_form, batched, other_prices)


@dataclass(frozen=True, slots=True)
class StartedJob(Generic[R]):
    """A job with its prepared emission. Only runs with a journal have a ``job_digest``."""

    index: int
    key: str | None
    input: Messages | Job
    settings: Settings
    plan: PreparedEmission
    to_result: Callable[[Emission[Any]], R]
    job_digest: str | None = None

    @property
    def is_refused(self) -> bool:
        """True if no model can be asked, so that the job is not claimed or kept in the journal."""
        return self.plan.emission.obstacle is not None


@dataclass(slots=True)
class JobRunner(Generic[R]):
    """Runs the jobs of a bulk run, one after the other or concurrently."""

    run_plan: RunPlan[R]
    limiter: AdaptiveLimiter
    client: object
    stats: RunStats
    journal: JobJournal | None
    on_wait: Callable[[], Awaitable[object]] | None = None
    """Called once, when a job that another process has is not free after a few seconds."""
    journal_error: EmitterError | None = None
    """The first failure to write the journal."""
    unrecorded: int = 0
    """Results that could not be written."""
    _key_counts: Counter[str] = field(default_factory=Counter[str])
    _rejection: _StoppingError | None = None
    """The error that stopped the run."""
    _rejections: int = 0
    """Jobs in a row that ended in such an error."""
    _has_answer: bool = False
    _fingerprint: RunFingerprint | None = None

    def start(self, index: int, item: Messages | Job) -> StartedJob[R] | JobResult[R]:
        """Prepare the emission of an input, or return the result of an invalid one."""
        settings = self.run_plan.settings
        try:
            job = to_job(item)
            if isinstance(job.messages, Iterator):
                job = replace(job, messages=list(job.messages))
            job_digest = None if self.journal is None else digest_job(job)
            node_id = f"{self.run_plan.probe.context.node_id}.{index}"
            settings = replace(settings, materials=(*settings.materials, *job.materials), node_id=node_id)
            job_form = self.run_plan.get_job_form(job)
            plan = prepare_emission(job_form.form, job.messages, settings)
            key = self._make_key(job, job_digest)
            plan = self._add_request_id(plan, key)
        except Exception as error:  # noqa: BLE001  the caller's objects may raise anything
            key = item.key if isinstance(item, Job) else None
            return JobResult(index, key, item, error)
        return StartedJob(index, key, item, settings, plan, job_form.to_result, job_digest)

    async def run(self, started: StartedJob[R]) -> JobResult[R]:
        """Return the result of a job. It is in the journal before it is returned."""
        permit = Permit(self.limiter)
        try:
            if self.journal is not None and started.key is not None and not started.is_refused:
                settled = await self._claim(self.journal, started, started.key, permit)
                if settled is not None:
                    return settled
            outcome = await self._send(started, permit)
        except ClaimLost:  # nothing was sent yet, and the other process may have the outcome soon
            permit.release()
            return await self.run(started)
        except (JournalFailed, StoreFailed) as error:
            outcome = error
            self.journal_error = self.journal_error or error
        except Exception as error:  # noqa: BLE001  one failure must not lose the others
            outcome = error
        finally:
            permit.release()
        return JobResult(started.index, started.key, started.input, outcome)

    async def _claim(
        self, journal: JobJournal, started: StartedJob[R], key: str, permit: Permit
    ) -> JobResult[R] | None:
        """Claim a job that has a permit, and return None, or return the result of a job that must not be sent.

        A job that another process has is waited for, without a permit.
        """
        anew, wait, waiting = False, _FIRST_WAIT, started.settings.rate_limit is not None
        while True:
            await permit.acquire()
            claim = await journal.claim(key, anew=anew, waiting=waiting)
            match claim.status:
                case ClaimStatus.CLAIMED:
                    return None
                case ClaimStatus.RESENT:
                    self.stats.resent_keys.append(key)
                    return None
                case ClaimStatus.ORPHANED:
                    error = self._make_unknown(started, key, claim)
                    return JobResult(started.index, started.key, started.input, error)
                case ClaimStatus.DONE:
                    replayed = self.replay(started, claim.entry)
                    if replayed is not None:
                        return replayed
                    anew = True
                case ClaimStatus.HELD:
                    permit.release()
                    await self._wait_for_holder(wait)
                    wait = min(_LONGEST_WAIT, wait * 2)
                case _:
                    assert_never(claim.status)

    async def _wait_for_holder(self, seconds: float) -> None:
        if self.journal_error is not None:  # two failed runs could wait for each other for ever
            raise self.journal_error
        if seconds == _LONGEST_WAIT and self.on_wait is not None:
            on_wait, self.on_wait = self.on_wait, None
            await on_wait()
        await self.run_plan.settings.clock.async_sleep(seconds)

    def _make_unknown(self, started: StartedJob[R], key: str, claim: Claim) -> UnknownOutcome:
        message = f"The process with the job {key!r} ended before it recorded an outcome. The job may have been sent."
        header = started.plan.profile.client.request_id_header
        request_id = started.plan.request.headers.get(header or "")
        hint = None if isinstance(self.journal, RunJournal) else _SHARED_UNKNOWN_HINT
        return UnknownOutcome(message, key=key, claimed_at=claim.claimed_at, request_id=request_id, hint=hint)

    def _add_request_id(self, plan: PreparedEmission, key: str | None) -> PreparedEmission:
        """Send an id along with a claimed job, if the vendor records one, so that a lost request can be looked up."""
        header = plan.profile.client.request_id_header
        if self.journal is None or key is None or header is None or header in plan.request.headers:
            return plan
        self._fingerprint = self._fingerprint or self.run_plan.fingerprint
        request_id = make_request_id(self._fingerprint, key)
        return plan.with_request(replace(plan.request, headers={**plan.request.headers, header: request_id}))

    def _make_key(self, job: Job, job_digest: str | None) -> str | None:
        """Return the journal key of a job: the caller's, or its digest and a count."""
        if job_digest is None:
            return job.key
        key = job.key or job_digest
        self.run_plan.settings.host.config.secrets.check_name("Job.key", key)
        count = self._key_counts[key]
        self._key_counts[key] += 1
        if job.key is None:
            return f"{key}#{count}"
        if count:
            raise InputError(
                f"The key {key!r} belongs to an earlier job of this run.", hint="Give each job a different key."
            )
        return key

    def replay(self, started: StartedJob[R], text: str | None) -> JobResult[R] | None:
        """Return the result in an entry of the journal if today's schema and checks accept it."""
        plan = started.plan
        if text is None:
            return None
        entry = decode_entry(decode_line(text.encode()))
        outcome = entry.outcome
        if outcome.failure is None:
            outcome = replace(
                outcome, document=started.settings.host.config.secrets.redact_json(outcome.document).value
            )
            # The schema and the checks may have changed since, so the document is checked like a new answer.
            reading = plan.contract.check(outcome.document, plan.request)
            if reading.violations or reading.failure is not None:
                return None
            kind, payload = plan.codec.to_payload(reading.value, outcome.document)
            envelope = AIEnvelope.model_validate(
                {**as_mapping(entry.envelope_fields), "type": kind, "payload": payload}
            )
            findings = (*as_warnings(reading.findings), *outcome.findings)
            outcome = replace(outcome, value=reading.value, envelope=envelope, findings=findings)
        prices = None if entry.batched == self.run_plan.batched else self.run_plan.other_prices
        result = _make_result(started, FinishedEmission(outcome, entry.events), prices)
        is_stale = entry.job_digest is not None and entry.job_digest != started.job_digest
        self.stats.replayed_usage += outcome.usage
        if is_stale:
            self.stats.stale_keys.append(str(started.key))
        return JobResult(started.index, started.key, started.input, result, replayed=True, stale=is_stale)

    async def finish(
        self, started: StartedJob[R], result: EmissionOutcome | Exception, events: tuple[RunEvent, ...]
    ) -> JobResult[R]:
        """Write the outcome of a batched emission to the journal, and return its result."""
        if isinstance(result, Exception):
            return JobResult(started.index, started.key, started.input, result)
        self.stats.add_outcome(result)
        finished = FinishedEmission(result, events)
        outcome = _make_result(started, finished)
        await self._write_journal(started, finished, outcome)
        return JobResult(started.index, started.key, started.input, outcome)

    async def _send(self, started: StartedJob[R], permit: Permit) -> R | Exception:
        if self._rejection is not None:
            await self._release(started, sent=False)
            return _not_sent(self._rejection)
        mark_sent = None
        if self.journal is not None and started.key is not None and started.settings.rate_limit is not None:
            mark_sent = partial(self.journal.send, started.key)
        sender = EmissionSender(started.plan, started.settings, permit, self.stats, mark_sent)
        try:
            finished = await sender.send(self.client)
        except BaseException:
            # A cancelled emission was paid for as well. Without an outcome, only its claim can be given up.
            if sender.finished is not None:
                await self._write_journal(started, sender.finished, None)
            if sender.finished is None or sender.is_calling:
                await self._release(started, sent=sender.calls > 0)
            raise
        result = _make_result(started, finished)
        self._stop_if_rejected(result)
        await self._write_journal(started, finished, result)
        return result

    def _stop_if_rejected(self, result: R | Exception) -> None:
        """Send no further job once the vendor rejects the account of this run, or the caller's client always fails."""
        self._has_answer |= not isinstance(result, Exception)
        if not isinstance(result, AuthenticationError | QuotaExhausted | ClientFailed):
            self._rejections = 0
            return
        self._rejections += 1
        # A key that has worked once may lack a permission for one job only, so a single error is no proof. Calls in
        # flight fail together, so all of them and at least a few more jobs than one have to.
        is_wrong_key = isinstance(result, AuthenticationError) and not self._has_answer
        if is_wrong_key or self._rejections >= max(_FEWEST_REJECTIONS, self.limiter.maximum):
            self._rejection = result

    async def _release(self, started: StartedJob[R], *, sent: bool) -> None:
        """Give up the claim of a job without an outcome."""
        if self.journal is not None and started.key is not None:
            await self.journal.release(started.key, sent=sent)

    async def _write_journal(self, started: StartedJob[R], finished: FinishedEmission, result: Any) -> None:
        if self.journal is None or started.key is None or started.is_refused:
            return
        envelope_fields, outcome = None, finished.outcome
        if outcome.findings:
            checked = as_warnings(started.plan.contract.check(outcome.document, started.plan.request).findings)
            outcome = replace(outcome, findings=tuple(each for each in outcome.findings if each not in checked))
        if outcome.failure is None and not isinstance(result, Exception):
            envelope_fields = {
                name: value for name, value in result.envelope.to_json().items() if name not in _EXCLUDED_FIELDS
            }
        try:
            await self.journal.finish(
                JournalEntry(
                    started.key,
                    outcome,
                    finished.events,
                    envelope_fields,
                    started.job_digest,
                    self.run_plan.batched,
                )
            )
        except (JournalFailed, StoreFailed) as error:  # the result was paid for and is still returned
            self.journal_error = self.journal_error or error
            self.unrecorded += 1
            self.journal_error.hint = f"{error.__class__.hint} {_UNRECORDED_HINT.format(self.unrecorded)}".strip()


_STOP_REASONS: dict[type[_StoppingError], str] = {
    AuthenticationError: "the vendor rejected the key",
    QuotaExhausted: "the account's quota was exhausted",
    ClientFailed: "the client failed",
}


def _not_sent(rejection: _StoppingError) -> _StoppingError:
    """Return the error of a job that is not sent, because the same error ended earlier ones."""
    problem = next(reason for kind, reason in _STOP_REASONS.items() if isinstance(rejection, kind))
    error = type(rejection)(
        f"The job was not sent, since {problem} in an earlier one.",
        code=rejection.code,
        trace=Trace((), ()),
        status_code=rejection.status_code,
        vendor_message=rejection.vendor_message,
        vendor_code=rejection.vendor_code,
    )
    error.__cause__ = rejection.__cause__
    return error


def _make_result(started: StartedJob[R], finished: FinishedEmission, prices: PriceTable | None = None) -> R | Exception:
    try:
        prices = prices or started.plan.price_table()
        return started.to_result(complete(finished.outcome, finished.events, prices))
    except Exception as error:  # noqa: BLE001  it belongs to this result
        return error
