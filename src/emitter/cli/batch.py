"""The command ``batch``: many typed objects, from a JSON Lines file of jobs."""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from emitter.bulk import Job, emit_many
from emitter.bulk.claims import ORPHAN_POLICIES
from emitter.cli import with_flags
from emitter.cli.arguments import (
    API_KEY_NOTE,
    EMISSION_OPTIONS,
    add_emission_arguments,
    add_json_argument,
    add_model_argument,
    check_single_standard_input,
    emission_options,
)
from emitter.cli.emit import add_form_arguments, describe_emission, describe_error, load_form
from emitter.cli.input_output import read_content, read_text, source_name
from emitter.client.rate_limits import RateLimit
from emitter.errors import InputError, UnknownOutcome
from emitter.files import private_opener
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
_INTERRUPTED = 130


def add_batch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", metavar="JOBS", help="a JSON Lines file of jobs, or - for standard input")
    add_model_argument(parser)
    add_form_arguments(parser)
    add_emission_arguments(parser)
    group = parser.add_argument_group("the run")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="the file of results (default: -, which is standard output)"
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
    group.add_argument("--in-flight", type=int, default=32, metavar="N", help="the most concurrent calls (default: 32)")
    group.add_argument("--requests-per-minute", type=int, metavar="N", help="your rate limit at the vendor")
    group.add_argument("--tokens-per-minute", type=int, metavar="N", help="your token limit at the vendor")
    group.add_argument(
        "--unordered", action="store_true", help="write each result when it is ready, not in the order of the jobs"
    )
    group.add_argument("--half-price", action="store_true", help="use the vendor's batch interface: cheaper and slower")
    add_json_argument(parser, "add the envelope, usage, cost, attempts and events to each result")
    parser.epilog = f"Exit status: 0 every job succeeded, 1 a job failed, 2 bad usage, 130 interrupted.\n{API_KEY_NOTE}"


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
    form, interrupted = _load_form(args, job_file), False
    shows_bar = sys.stderr.isatty() and (args.output is not None or not sys.stdout.isatty())
    progress = shows_bar or partial(_write_notice, args)
    options: dict[str, Any] = {**emission_options(args), **_run_options(args), "progress": progress}
    if args.half_price and not shows_bar:
        sys.stderr.write(f"emitter: submitting {len(job_file)} jobs as a batch. The results may take hours.\n")
    with (
        _open_job_store(args.store) as store,
        emit_many(form, job_file, store=store, **options) as run,
        _open_output(args.output) as out,
    ):
        try:
            for number, result in enumerate(run):
                if number == 0 and _is_regular_file(out):
                    out.truncate(0)
                _write_result(result, job_file, form, out, args)
        except KeyboardInterrupt:
            interrupted = True
    _report_run(run)
    if interrupted:
        sys.stderr.write(f"emitter: interrupted. {_RESUME_HINTS[_is_recorded(args)]}\n")
        return _INTERRUPTED
    return int(run.stats.failed > 0)


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


def _run_options(args: argparse.Namespace) -> dict[str, Any]:
    limits = (args.requests_per_minute, args.tokens_per_minute)
    if args.half_price and not _is_recorded(args):
        raise InputError(
            "--half-price needs --journal or --store, since a batch is paid for when it is submitted.",
            hint="Add --journal FILE.",
        )
    return {
        "journal": args.journal,
        "orphans": args.orphans,
        "in_flight": args.in_flight,
        "rate_limit": None if limits == (None, None) else RateLimit(*limits),
        "ordered": not args.unordered,
        "batch": args.half_price,
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
    for name in (args.file, args.journal, args.store):
        if args.output is not None and name is not None and os.path.realpath(name) == os.path.realpath(args.output):
            raise InputError(f"--output would overwrite {name}.", hint="Write the results to another file.")


@contextmanager
def _open_output(name: str | None) -> Generator[TextIO]:
    if name is None or name == "-":
        yield sys.stdout
        return
    place = Path(name)
    # A file is opened for appending, so that the results of an earlier run stay until there are new ones. A pipe has
    # no end to append to.
    mode: Literal["a", "w"] = "w" if place.exists() and not place.is_file() else "a"
    try:
        with open(place, mode, encoding="utf-8", newline="\n", opener=private_opener) as out:
            yield out
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}.") from error


def _is_regular_file(out: TextIO) -> bool:
    """Return whether the output is a file that can be emptied, and not a pipe, a device or standard output."""
    return out is not sys.stdout and stat.S_ISREG(os.fstat(out.fileno()).st_mode)


def _write_notice(args: argparse.Namespace, progress: RunProgress) -> None:
    """Write a notice that a progress bar would show."""
    if progress.notice is not None:
        sys.stderr.write(f"emitter: {with_flags(progress.notice, vars(args))}\n")


def _write_result(
    result: JobResult[Emission[Any]], job_file: JobFile, form: Any, out: TextIO, args: argparse.Namespace
) -> None:
    line = job_file.lines[result.index]
    outcome = result.outcome
    members = (
        describe_error(outcome, in_full=args.json)
        if isinstance(outcome, Exception)
        else describe_emission(form, outcome, in_full=args.json)
    )
    if isinstance(outcome, UnknownOutcome):
        members["error"] |= {"message": with_flags(str(outcome), vars(args)), "request_id": outcome.request_id}
    out.write(json.dumps({"id": line.number if line.id is None else line.id, **members}) + "\n")
    out.flush()


def _report_run(run: Run[Emission[Any]]) -> None:
    """Write the counts, tokens and cost of a run to standard error."""
    stats = run.stats
    replayed = f", {stats.replayed} from the record" if stats.replayed else ""
    if stats.resent_keys:
        replayed += f", {len(stats.resent_keys)} sent again because their outcome was not recorded"
    unknown = f", {stats.unknown} unknown" if stats.unknown else ""
    cost = stats.cost
    price = f"The cost is unknown. {stats.no_cost_reason}" if cost is None else f"${cost:.6f}"
    sys.stderr.write(
        f"emitter: {stats.done} of {stats.total} jobs done, {stats.failed - stats.unknown} failed{unknown}{replayed}. "
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
        InputError: A line is not a job, an id appears twice, or a material is missing.
    """
    job_file = JobFile(name, Path() if name == "-" else Path(name).parent, {}, [])
    known: dict[str, int] = {}
    for number, text in enumerate(read_text(name).split("\n"), 1):
        if text.strip():
            with job_file.locate_errors(number):
                _read_line(job_file, number, text, known)
    if not job_file.lines:
        raise InputError(f"{source_name(name)} has no jobs.", hint='Write one {"input": "…"} on each line.')
    return job_file


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
