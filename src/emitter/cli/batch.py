"""The command ``batch``: many typed objects, from a JSON Lines file of jobs."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from emitter.bulk import Job, emit_many
from emitter.bulk.batches import Batch
from emitter.bulk.claims import ORPHAN_POLICIES
from emitter.cli import FAILED, INTERRUPTED, SUCCESS, discard_output
from emitter.cli.arguments import (
    API_KEY_NOTE,
    EMISSION_OPTIONS,
    add_emission_arguments,
    add_json_argument,
    add_model_argument,
    check_single_standard_input,
    emission_options,
    to_integer,
    to_number,
)
from emitter.cli.emit import add_form_arguments, describe_emission, describe_error, load_form
from emitter.cli.input_output import read_content, read_text, source_name
from emitter.cli.spelling import with_flags
from emitter.client.rate_limits import RateLimit
from emitter.errors import InputError, UnknownOutcome
from emitter.files import check_path, private_opener
from emitter.messages import as_list, as_mapping
from emitter.models import Trust
from emitter.stores import SqliteStore, SqlStore

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Iterator, Mapping

    from emitter.bulk import JobResult, Run, RunProgress
    from emitter.client.result import Emission
    from emitter.messages import Json

_JOB_MEMBERS = ("id", "input", "messages", "materials", "untrusted")
_HEADER_MEMBERS = ("type", "schema", *EMISSION_OPTIONS)
_EXIT_STATUS = "Exit status: 0 every job succeeded, 1 a job failed or a disk is full, 2 bad usage, 130 interrupted."


def add_batch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", metavar="JOBS", help="a JSON Lines file of jobs, or - for standard input")
    add_model_argument(parser)
    add_form_arguments(parser)
    add_emission_arguments(parser)
    group = parser.add_argument_group("the run")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file of results, created for you alone (default: -, standard output)",
    )
    group.add_argument(
        "--journal", metavar="FILE", help="record finished jobs in FILE, and continue from it when run again"
    )
    group.add_argument(
        "--store",
        metavar="STORE",
        help="record jobs in an SQLite file or postgresql://... instead, which several processes can share",
    )
    group.add_argument(
        "--orphans",
        choices=ORPHAN_POLICIES,
        default="resend",
        help="jobs of an earlier run that were started and have no recorded outcome: send them again (resend, the "
        "default), or report them as unknown (list)",
    )
    group.add_argument(
        "--in-flight", type=to_integer, default=32, metavar="N", help="the most concurrent calls (default: 32)"
    )
    group.add_argument("--requests-per-minute", type=to_integer, metavar="N", help="your rate limit at the vendor")
    group.add_argument("--tokens-per-minute", type=to_integer, metavar="N", help="your token limit at the vendor")
    group.add_argument(
        "--unordered", action="store_true", help="write each result when it is ready, not in the order of the jobs"
    )
    group.add_argument("--half-price", action="store_true", help="use the vendor's batch interface: cheaper and slower")
    group.add_argument(
        "--poll",
        type=to_number,
        metavar="SECONDS",
        help="with --half-price, how long to wait before the first look at a batch (default: 30)",
    )
    add_json_argument(parser, "add the envelope, usage, cost, attempts and events to each result")
    parser.epilog = f"{_EXIT_STATUS}\n{API_KEY_NOTE}"


def run_batch(args: argparse.Namespace) -> int:
    """Ask a model for a typed object for each job of a JSON Lines file, and print one JSON line for each.

    A job is {"id", "input", "materials", "untrusted"}. "input" is a prompt, or a list of messages; "materials" and
    "untrusted" are lists of texts, images, PDFs and recordings, as paths relative to the folder of JOBS. Only "input"
    is required, and a string alone is a job with this input. A first line without "input" sets options for all jobs,
    such as {"model", "type"}; the command line overrides them. A result is {"id", "value"} or {"id", "error"}. The id
    of a job without one is its line number. With --journal or --store, run the command again to continue an
    interrupted run.
    """
    _check_files(args)
    job_file = read_job_file(args.file)
    _apply_header(args, job_file)
    form = _load_form(args, job_file)
    shows_bar = sys.stderr.isatty() and (args.output is not None or not sys.stdout.isatty())
    progress = shows_bar or partial(_write_notice, args)
    options: dict[str, Any] = {**emission_options(args), **_run_options(args), "progress": progress}
    if args.half_price and not shows_bar:
        sys.stderr.write(
            f"emitter: running {len(job_file)} jobs in batches. Those that an earlier run submitted are collected. "
            "The results may take hours.\n"
        )
    with (
        _open_job_store(args.store) as store,
        emit_many(form, job_file, store=store, **options) as run,
        _open_output(args.output) as out,
        _catch_signals(run, args) as interrupted,
    ):
        writer = ResultWriter(out, job_file, form, args)
        try:
            writer.write_all(run)
        except KeyboardInterrupt:
            interrupted.set()
    return _report_end(run, writer, interrupted=interrupted.is_set())


def _report_end(run: Run[Emission[Any]], writer: ResultWriter, *, interrupted: bool) -> int:
    """Write to standard error how the run ended, and return the exit status."""
    error, is_recorded = writer.error, _is_recorded(writer.args)
    is_closed = isinstance(error, BrokenPipeError)
    if error is not None and not (is_closed and is_recorded and writer.unfinished == 0):
        writer.report_error()
    if not is_closed:
        _report_run(run, writer.resent)
    if interrupted and writer.unfinished:
        sys.stderr.write(f"emitter: interrupted. {_RESUME_HINTS[is_recorded]}\n")
        return INTERRUPTED
    is_failed = run.stats.failed or run.stats.unknown or (error is not None and not is_closed)
    return FAILED if is_failed else SUCCESS


@contextmanager
def _catch_signals(run: Run[Any], args: argparse.Namespace) -> Generator[threading.Event]:
    """Stop the run at the first Ctrl-C or SIGTERM, and end it at the second. Yield an event that tells of either.

    A batch goes on at the vendor, so a run with ``--half-price`` ends at the first.
    """
    interrupted = threading.Event()

    def stop(*_: object) -> None:
        if interrupted.is_set() or args.half_price:
            raise KeyboardInterrupt
        interrupted.set()
        run.stop()
        sys.stderr.write("emitter: finishing the calls in flight. Press Ctrl-C again to end at once.\n")
        sys.stderr.flush()

    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        yield interrupted
        return
    earlier = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupted
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


_RESUME_HINTS = {
    True: "Run the same command again to continue.",
    False: "Nothing was recorded. With --journal FILE, the next run continues.",
}


def _is_recorded(args: argparse.Namespace) -> bool:
    return args.journal is not None or args.store is not None


@contextmanager
def _open_job_store(name: str | None) -> Generator[SqlStore | SqliteStore | None]:
    """Open the store of a run, which may be a new file."""
    if name is None:
        yield None
    elif not name:
        raise InputError("--store is empty.", hint="Pass a file or postgresql://..., or remove --store.")
    else:
        with SqlStore(name) if "://" in name else SqliteStore(name) as store:
            yield store


def _make_batch(poll: float | None) -> Batch:
    batch = Batch()
    return batch if poll is None else replace(batch, poll=poll, max_poll=max(poll, batch.max_poll))


def _run_options(args: argparse.Namespace) -> dict[str, Any]:
    limits = (args.requests_per_minute, args.tokens_per_minute)
    if args.half_price and not _is_recorded(args):
        raise InputError(
            "--half-price needs --journal or --store, since a batch is paid for when it is submitted.",
            hint="Add --journal FILE.",
        )
    if args.poll is not None and not args.half_price:
        raise InputError("--poll is for batches.", hint="Add --half-price, or leave it out.")
    return {
        "journal": args.journal,
        "orphans": args.orphans,
        "in_flight": args.in_flight,
        "rate_limit": None if limits == (None, None) else RateLimit(*limits),
        "ordered": not args.unordered,
        "batch": _make_batch(args.poll) if args.half_price else False,
    }


def _apply_header(args: argparse.Namespace, job_file: JobFile) -> None:
    """Set the options of the header that the command line does not set."""
    if args.type is not None or args.schema is not None:
        job_file.header.pop("type", None)
        job_file.header.pop("schema", None)
    for name, value in job_file.header.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    if not isinstance(args.model, str):
        raise InputError("There is no model.", hint='Pass --model, or "model" in a first line of the file.')


def _load_form(args: argparse.Namespace, job_file: JobFile) -> Any:
    if args.type is None and args.schema is None:
        raise InputError(
            "There is no type or schema.", hint="Pass --type or --schema, or either one in a first line of the file."
        )
    if args.type is not None and not isinstance(args.type, str):
        with job_file.locate_errors(1):
            raise InputError('"type" must be a string.')
    if "schema" in job_file.header and isinstance(args.schema, str):
        return load_form(args.type, str(job_file.folder / args.schema))
    return load_form(args.type, args.schema)


def _check_files(args: argparse.Namespace) -> None:
    """Raise ``InputError`` if standard input is read twice, or if the results would overwrite an input."""
    check_single_standard_input([args.file, *args.material, *args.untrusted, *filter(None, [args.schema])])
    output = None if args.output is None else os.path.realpath(check_path("--output", args.output))
    for name in (args.file, args.journal, args.store):
        if args.output is not None and name is not None and os.path.realpath(name) == output:
            raise InputError(f"--output would overwrite {name}.", hint="Write the results to another file.")


@contextmanager
def _open_output(name: str | None) -> Generator[TextIO]:
    if name is None or name == "-":
        yield sys.stdout
        return
    place = check_path("--output", name)
    # A file is opened for appending, so that the results of an earlier run stay until there are new ones. A pipe has
    # no end to append to.
    mode: Literal["a", "w"] = "w" if place.exists() and not place.is_file() else "a"
    try:
        out = open(place, mode, encoding="utf-8", newline="\n", opener=private_opener)  # noqa: SIM115  closed below
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}.") from error
    with out:
        yield out


def _is_regular_file(out: TextIO) -> bool:
    """Return whether the output is a file that can be emptied, and not a pipe, a device or standard output."""
    return out is not sys.stdout and stat.S_ISREG(os.fstat(out.fileno()).st_mode)


def _write_notice(args: argparse.Namespace, progress: RunProgress) -> None:
    """Write a notice that a progress bar would show."""
    if progress.notice is not None:
        sys.stderr.write(f"emitter: {with_flags(progress.notice, vars(args))}\n")


@dataclass(slots=True)
class ResultWriter:
    """Writes the results of a run. If the output fails, the run stops, and the calls in flight are still recorded."""

    out: TextIO
    job_file: JobFile
    form: Any
    args: argparse.Namespace
    written: int = 0
    unwritten: int = 0
    error: OSError | None = None
    resent: list[str | int] = field(default_factory=list["str | int"])
    """The ids of jobs that were sent again."""

    def write_all(self, run: Run[Emission[Any]]) -> None:
        """Write all results, or all until the output fails."""
        for result in run:
            if result.key in run.stats.resent_keys:
                self.resent.append(self._get_id(result))
            if self.error is None:
                self._write(result)
            if self.error is not None:
                self.unwritten += 1
                run.stop()
                # A batch goes on at the vendor, and without a record nobody would see the results of these calls.
                if self.args.half_price or not _is_recorded(self.args):
                    return

    def report_error(self) -> None:
        """Write to standard error why the output ended, and how many results it lacks."""
        name = "Standard output" if self.out is sys.stdout else self.args.output
        is_closed = isinstance(self.error, BrokenPipeError)
        problem = "was closed" if is_closed else f"cannot be written: {getattr(self.error, 'strerror', None)}"
        hint = (
            "What is finished is recorded. Run the same command again to write it and to run the rest."
            if _is_recorded(self.args)
            else "The calls in flight were cut off, and nothing was recorded. Use --journal FILE."
        )
        lost = f"Results not written: {self.unwritten}. Jobs not reached: {self.unfinished}"
        sys.stderr.write(f"emitter: {name} {problem}. {lost}. {hint}\n")

    @property
    def unfinished(self) -> int:
        """The number of jobs without a result."""
        return len(self.job_file) - self.written - self.unwritten

    def _write(self, result: JobResult[Emission[Any]]) -> None:
        outcome = result.outcome
        members = (
            describe_error(outcome, vars(self.args), in_full=self.args.json)
            if isinstance(outcome, Exception)
            else describe_emission(self.form, outcome, in_full=self.args.json)
        )
        if isinstance(outcome, UnknownOutcome):
            members["error"] |= {"request_id": outcome.request_id}
        text = json.dumps({"id": self._get_id(result), **members}) + "\n"
        try:
            if self.written == 0 and _is_regular_file(self.out):
                self.out.truncate(0)
            self.out.write(text)
            self.out.flush()
            self.written += 1
        except OSError as error:
            self.error = error
            discard_output(self.out)  # closing it would fail again

    def _get_id(self, result: JobResult[Any]) -> str | int:
        line = self.job_file.lines[result.index]
        return line.number if line.id is None else line.id


def _report_run(run: Run[Emission[Any]], resent: list[str | int]) -> None:
    """Write the counts, tokens and cost of a run to standard error."""
    stats = run.stats
    replayed = f" {stats.replayed} from the record." if stats.replayed else ""
    if resent:
        names = ", ".join(map(str, resent))
        replayed += f" {len(resent)} sent again because their outcome was not recorded: {names}."
    unknown = f", {stats.unknown} unknown" if stats.unknown else ""
    answered = stats.done - stats.failed - stats.unknown
    cost = stats.cost
    price = f"The cost is unknown. {stats.no_cost_reason}" if cost is None else f"${cost:.6f}"
    sys.stderr.write(
        f"emitter: {stats.done} of {stats.total} jobs done: {answered} answered, {stats.failed} failed{unknown}."
        f"{replayed} "
        f"{stats.calls} calls, {stats.usage.input} tokens in, {stats.usage.output} out. {price}\n"
    )


class JobLine(NamedTuple):
    """A job in its file. ``materials`` and ``untrusted`` are paths."""

    number: int
    id: str | int | None
    messages: Any
    materials: tuple[str, ...]
    untrusted: tuple[str, ...]

    def to_job(self) -> Job:
        """Return the job, with its files read."""
        materials = [
            *(read_content(name) for name in self.materials),
            *(read_content(name, Trust.UNTRUSTED) for name in self.untrusted),
        ]
        return Job(self.messages, None if self.id is None else str(self.id), materials)


@dataclass(frozen=True, slots=True)
class JobFile:
    """The jobs of a file and the options for all of them. Iterating it reads the materials of each job in turn."""

    name: str
    folder: Path
    header: dict[str, Json]
    lines: list[JobLine]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Job]:
        return map(self._read_job, self.lines)

    def _read_job(self, line: JobLine) -> Job:
        with self.locate_errors(line.number):
            return line.to_job()

    @contextmanager
    def locate_errors(self, number: int) -> Generator[None]:
        """Add the file and the number of a line to an ``InputError``."""
        try:
            yield
        except InputError as error:
            message = f"{source_name(self.name)}, line {number}: {error.args[0]}"
            raise InputError(message, hint=error.hint) from error


def read_job_file(name: str) -> JobFile:
    """Return the jobs in a JSON Lines file, or on standard input for ``-``.

    Raises:
        InputError: A line is not a job, an id appears twice, or a material is missing. The message lists the first ten
            such lines.
    """
    errors: list[InputError] = []
    job_file = JobFile(name, Path() if name == "-" else Path(name).parent, {}, [])
    known: dict[str, int] = {}
    for number, text in enumerate(read_text(name).split("\n"), 1):
        if text.strip():
            try:
                with job_file.locate_errors(number):
                    _read_line(job_file, number, text, known)
            except InputError as error:
                errors.append(error)
    if errors:
        raise _join_errors(errors)
    if not job_file.lines:
        raise InputError(f"{source_name(name)} has no jobs.", hint='Write one {"input": "…"} on each line.')
    return job_file


_MAX_LISTED_ERRORS = 10


def _join_errors(errors: list[InputError]) -> InputError:
    """Return one error that lists the first errors, a line each."""
    rest = len(errors) - _MAX_LISTED_ERRORS
    messages = [*(error.args[0] for error in errors[:_MAX_LISTED_ERRORS]), *([f"And {rest} more."] if rest > 0 else [])]
    return InputError("\n".join(messages), hint=errors[0].hint)


def _read_line(job_file: JobFile, number: int, text: str, known: dict[str, int]) -> None:
    """Add a line to the header or the jobs. ``known`` maps the ids so far to their lines."""
    members = _parse_line(text)
    if not job_file.lines and not job_file.header and not members.keys() & set(_JOB_MEMBERS):
        _check_members(members, _HEADER_MEMBERS, "option")
        job_file.header.update(members)
        return
    line = _parse_job(number, members, job_file.folder)
    if line.id is not None and known.setdefault(str(line.id), number) != number:
        raise InputError(f"the id {line.id!r} is in line {known[str(line.id)]} already.")
    job_file.lines.append(line)


def _parse_line(text: str) -> Mapping[str, Json]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"it is not JSON ({error}).", hint="Write one JSON object on each line.") from error
    if isinstance(document, str):
        return {"input": document}
    if not isinstance(document, dict):
        raise InputError("it is neither an object nor a string.", hint='Write {"input": "…"}.')
    return as_mapping(document)


def _parse_job(number: int, members: Mapping[str, Json], folder: Path) -> JobLine:
    if not members.keys() & {"input", "messages"}:
        raise InputError('the job has no "input".', hint='Write {"input": "…"}.')
    _check_members(members, _JOB_MEMBERS, "member of a job")
    if {"input", "messages"} <= members.keys():
        raise InputError('the job has both "input" and "messages".', hint="Keep one of them.")
    messages, job_id = members.get("input", members.get("messages")), members.get("id")
    if not isinstance(messages, str | list):
        raise InputError("the input must be a string or a list of messages.")
    if job_id is not None and (
        isinstance(job_id, bool) or not isinstance(job_id, str | int) or not str(job_id).strip()
    ):
        raise InputError('"id" must be a string or a whole number.')
    materials, untrusted = (_parse_paths(members, name, folder) for name in ("materials", "untrusted"))
    return JobLine(number, job_id, messages, materials, untrusted)


def _parse_paths(members: Mapping[str, Json], member: str, folder: Path) -> tuple[str, ...]:
    value = members.get(member, [])
    names = as_list(value)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f'"{member}" must be a list of paths.')
    paths = [folder / name for name in names]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path} is not a file.", hint="Paths are relative to the folder of the jobs.")
    return tuple(map(str, paths))


def _check_members(members: Mapping[str, Json], known: tuple[str, ...], kind: str) -> None:
    unknown = sorted(members.keys() - set(known))
    if unknown:
        input_hint = ' A job has "input".' if known is _HEADER_MEMBERS else ""
        raise InputError(f"there is no {kind} {unknown[0]!r}.", hint=f"There are {', '.join(known)}.{input_hint}")
