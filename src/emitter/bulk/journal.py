"""The journal of a bulk run: finished emissions on disk, so that a restarted run does not pay for them again.

A journal belongs to one run. The fingerprint in its first line identifies what was asked; it leaves out the
library's own prompts, so that a journal still works after an upgrade.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast, get_args

from pydantic import TypeAdapter

from emitter.attempts import Attempt, Verdict
from emitter.core.effects import EmissionFailure, EmissionOutcome
from emitter.errors import BadJournal, JournalFailed, NewerRecord
from emitter.events import Event, Level, Reason, RunEvent
from emitter.files import open_private
from emitter.findings import Finding, Severity
from emitter.forms.binding_moment import validate_continuations
from emitter.grounding import as_json_object
from emitter.messages import Fault, ProviderErrorDetails, Usage, as_list, as_mapping
from emitter.models import Trust
from emitter.schema import Violation
from emitter.schema.compiler import ImmutableSchema
from emitter.stores.jobs import Claim, ClaimStatus
from emitter.stores.protocol import RECORD_VERSION, read_version
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from emitter.bulk.jobs import Job
    from emitter.client.prepared import PreparedEmission
    from emitter.client.settings import Settings
    from emitter.forms.form import OutputForm
    from emitter.messages import Json

_OTHER_FILE_HINT = "Use another file for this run, or make the same requests as before."
_OTHER_NAME_HINT = "Use another file."
_DIGEST_FIELDS = frozenset({"schema", "words", "options"})
"""Members of ``about`` whose values mean nothing to a reader."""


@dataclass(slots=True)
class JsonlFile:
    """An open file that is read once and then appended to.

    ``name`` and ``version`` are in its first line, and ``description`` is used in errors. The next line is written at
    ``end_offset``. ``was_torn`` is true if the file ended within a line.
    """

    path: Path
    descriptor: int
    name: str
    version: int
    description: str
    end_offset: int = field(default=0, init=False)
    was_torn: bool = field(default=False, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def iter_lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, offset and content of each line. Drop an incomplete last line of a killed process."""
        with os.fdopen(self.descriptor, "rb", closefd=False) as file:
            for number, content in enumerate(file, 1):
                if content.endswith(b"\n"):
                    yield number, self.end_offset, content
                    self.end_offset += len(content)
                    continue
                # A single line without an end may be any file, such as a text that was passed by mistake. It is
                # truncated only if it starts like a journal.
                opening = encode_line({"journal": self.name}).removesuffix(b"}\n")
                if number == 1 and not (content.startswith(opening) or opening.startswith(content)):
                    raise self.make_error(f"is not a {self.description}", _OTHER_NAME_HINT)
                os.ftruncate(self.descriptor, self.end_offset)
                self.was_torn = True

    def load(
        self, about: Mapping[str, Json], apply: Callable[[Mapping[str, Any], tuple[int, int]], None], hint: str
    ) -> None:
        """Pass each line and its offset and size to ``apply``, or write the first line of an empty file.

        Raises ``BadJournal``, with ``hint``, for a line that ``apply`` rejects, and for a file of another run: its
        first line has another ``about``.
        """
        for number, offset, line in self.iter_lines():
            if number == 1:
                self._check_header(decode_line(line), about)
                continue
            try:
                apply(decode_line(line), (offset, len(line)))
            except (LookupError, TypeError, ValueError, RecursionError) as error:
                raise self.make_error(f"is invalid in line {number}", hint.format(number=number)) from error
        if self.end_offset == 0:
            self.append(encode_line({"journal": self.name, "version": self.version, "about": dict(about)}))

    def _check_header(self, header: Mapping[str, Json], about: Mapping[str, Json]) -> None:
        if header.get("journal") != self.name:
            raise self.make_error(f"is not a {self.description}", _OTHER_NAME_HINT)
        version = header.get("version")
        if isinstance(version, int) and version > self.version:
            reason = f"was written by a newer release, version {version}; this release knows {self.version}"
            raise self.make_error(reason, "Update emitter, or use another file for this run.")
        if version != self.version:
            raise self.make_error(
                f"has format {header.get('version')!r}; this release reads format {self.version}", _OTHER_FILE_HINT
            )
        recorded = as_mapping(header.get("about"))
        differences = [
            f"it differs in its {name}"
            if name in _DIGEST_FIELDS
            else f"its {name} is {recorded.get(name)!r}, and here it is {current!r}"
            for name, current in about.items()
            if recorded.get(name) != current
        ]
        if differences:
            raise self.make_error(f"belongs to another run: {'; '.join(differences)}", _OTHER_FILE_HINT)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes from ``offset`` on."""
        with self._lock:
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            return os.read(self.descriptor, size)

    def append(self, line: bytes) -> None:
        """Write a line, completely or not at all. Raises ``JournalFailed``."""
        with self._lock:
            self._append(line)

    def _append(self, line: bytes) -> None:
        # One system call: a process that is killed meanwhile leaves at most an incomplete last line.
        os.lseek(self.descriptor, self.end_offset, os.SEEK_SET)
        try:
            written = os.write(self.descriptor, line)
        except OSError as error:
            raise _make_write_error(self.path, error.strerror) from error
        if written != len(line):
            os.ftruncate(self.descriptor, self.end_offset)
            raise _make_write_error(self.path, None)
        self.end_offset += written

    def make_error(self, problem: str, hint: str) -> BadJournal:
        """Return the error for an unusable journal."""
        return BadJournal(f"The journal {self.path} {problem}.", hint=hint)


def encode_line(members: Mapping[str, Json]) -> bytes:
    """Return a JSON line, including the newline."""
    return json.dumps(members).encode() + b"\n"


def decode_line(line: bytes) -> Mapping[str, Json]:
    """Return the object in a line, or an empty one."""
    try:
        return as_mapping(cast("object", json.loads(line)))
    except (ValueError, RecursionError):
        return {}


@contextmanager
def open_jsonl(path: Path, name: str, version: int, description: str) -> Generator[JsonlFile]:
    """Open a file, and create it if needed. Raises ``BadJournal`` if it cannot be opened."""
    try:
        file = open_private(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise BadJournal(f"The journal {path} cannot be opened: {error.strerror}.", hint=_OTHER_NAME_HINT) from error
    try:
        yield JsonlFile(path, file, name, version, description)
    finally:
        try:
            os.fsync(file)
        except OSError as error:
            raise _make_write_error(path, error.strerror) from error
        finally:
            os.close(file)


def _make_write_error(path: Path, reason: str | None) -> JournalFailed:
    return JournalFailed(f"The journal {path} cannot be written: {reason or 'the disk has no room for a whole line'}.")


if sys.platform == "win32":
    import msvcrt

    _LOCK_OFFSET = 1 << 40
    """The locked byte, beyond all data, since Windows lets no process read a locked byte."""

    def lock_file(file: int) -> None:
        """Lock an open file. Raises ``OSError`` if another process holds it."""
        at = os.lseek(file, 0, os.SEEK_CUR)
        os.lseek(file, _LOCK_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(file, at, os.SEEK_SET)

else:
    import fcntl

    def lock_file(file: int) -> None:
        """Lock an open file. Raises ``OSError`` if another process holds it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_TYPE_NAMESPACE: dict[str, Any] = {
    "Fault": Fault,
    "Json": Any,
    "Level": Level,
    "Mapping": Mapping,
    "Reason": Reason,
    "Report": ProviderErrorDetails,
    "Usage": Usage,
    "Verdict": Verdict,
    "Violation": Violation,
}
"""Names in the annotations of the records, which their modules import for type checkers only."""
_COMMON_FIELDS = ("run_id", "node_id", "causation_id")


@cache
def get_adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the adapter that writes and reads a type of record."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    adapter.rebuild(_types_namespace=_TYPE_NAMESPACE)
    return adapter


def dump_attempts(attempts: tuple[Attempt, ...]) -> Json:
    """Return the attempts as JSON."""
    return [get_adapter(Attempt).dump_python(attempt, mode="json", exclude_defaults=True) for attempt in attempts]


def load_attempts(value: Json) -> tuple[Attempt, ...]:
    """Return the attempts that ``dump_attempts`` wrote. Raises ``ValueError`` otherwise."""
    return tuple(get_adapter(Attempt).validate_python(attempt) for attempt in as_list(value))


def dump_events(events: tuple[RunEvent, ...]) -> Json:
    """Return the events as JSON, with their common fields written once."""
    common = {name: getattr(events[0], name) for name in _COMMON_FIELDS} if events else {}
    return {**common, "events": [_dump_event(event) for event in events]}


def load_events(value: Json) -> tuple[RunEvent, ...]:
    """Return the events that ``dump_events`` wrote. Raises ``ValueError`` otherwise."""
    members = dict(as_mapping(value))
    if "events" not in members:
        raise ValueError("there are no events")
    events = as_list(members.pop("events"))
    if events and set(members) != set(_COMMON_FIELDS):
        raise ValueError("the events have no run")
    return tuple(_load_event(event, members, number) for number, event in enumerate(events))


@cache
def _get_event_types() -> dict[str, Any]:
    return {event_type.type: event_type for event_type in get_args(Event)}


def _dump_event(event: RunEvent) -> Json:
    payload = get_adapter(_get_event_types()[event.type]).dump_python(event.event, mode="json")
    trust = [] if event.content_trust is None else [event.content_trust.value]
    return [event.event_id, event.timestamp, event.type, payload, *trust]


def _load_event(value: Json, common: dict[str, Json], sequence: int) -> RunEvent:
    event_id, timestamp, kind, payload, *trust = value
    if kind not in _get_event_types():
        raise ValueError("an event has an unknown type")
    event = get_adapter(_get_event_types()[kind]).validate_python(payload)
    content_trust = Trust(trust[0]) if trust else None
    fields = {"event_id": event_id, "timestamp": timestamp, "content_trust": content_trust}
    return RunEvent(event=event, sequence=sequence, **fields, **common)


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The outcome of an emission, under its ``key``.

    ``outcome`` has no value: the document is parsed and checked again on reading. Its findings are those that no check
    finds again, such as words around the document. ``envelope_fields`` is the envelope without its payload.
    ``job_digest`` is a digest of the job. ``batched`` is true if the calls were paid at the price of a batch.
    """

    key: str
    outcome: EmissionOutcome
    events: tuple[RunEvent, ...]
    envelope_fields: Json = None
    job_digest: str | None = None
    batched: bool = False

    @property
    def is_final(self) -> bool:
        """True if the emission was answered or refused, so that it must not be requested again."""
        failure = self.outcome.failure
        return failure is None or failure.verdict is Verdict.REFUSED


def check_version(members: Mapping[str, Json]) -> None:
    """Raise ``NewerRecord`` for a line of a newer release, and ``ValueError`` if its version is not a number."""
    version = read_version(members)
    if version > RECORD_VERSION:
        raise NewerRecord("A line of the journal", version=version, known=RECORD_VERSION, hint=_UPDATE_HINT)


_UPDATE_HINT = "Update emitter, or use another journal for this run."


def encode_entry(entry: JournalEntry) -> bytes:
    """Return an entry as a line."""
    outcome = entry.outcome
    members: dict[str, Json] = {
        "version": RECORD_VERSION,
        "key": entry.key,
        "asked": entry.job_digest,
        "attempts": dump_attempts(outcome.attempts),
    }
    if outcome.failure is None:
        members |= {"document": outcome.document, "envelope": entry.envelope_fields}
        if outcome.findings:
            members["findings"] = [[each.pointer, each.rule, each.message] for each in outcome.findings]
    else:
        failure = outcome.failure
        members["failure"] = {"verdict": failure.verdict, "code": failure.code, "message": failure.message}
    if entry.batched:
        members["batched"] = True
    members["events"] = dump_events(entry.events)
    return encode_line(members)


def decode_entry(members: Mapping[str, Json]) -> JournalEntry:
    """Parse the object in a line. Raises ``NewerRecord``, and ``ValueError`` if it is not an entry."""
    check_version(members)
    key, attempts = members.get("key"), load_attempts(members.get("attempts"))
    if not isinstance(key, str):
        raise ValueError("it has no key")  # noqa: TRY004  the line is wrong, not the call
    job_digest = members.get("asked")
    if job_digest is not None and not isinstance(job_digest, str):
        raise ValueError("its digest of the job is not a string")
    batched = members.get("batched") is True
    events = load_events(members.get("events"))
    if "failure" in members:
        recorded = as_mapping(members["failure"])
        failure = EmissionFailure(
            Verdict(recorded.get("verdict")), str(recorded.get("code")), str(recorded.get("message"))
        )
        return JournalEntry(key, EmissionOutcome(attempts, failure=failure), events, None, job_digest, batched)
    if "document" not in members or not isinstance(members.get("envelope"), dict):
        raise ValueError("it has neither a document nor a failure")
    outcome = EmissionOutcome(attempts, document=members["document"], findings=_load_findings(members.get("findings")))
    return JournalEntry(key, outcome, events, members["envelope"], job_digest, batched)


def _load_findings(value: Json) -> tuple[Finding, ...]:
    """Parse findings, which are warnings in an accepted answer. Raises ``ValueError`` if they are not findings."""
    rows = [tuple(map(str, as_list(row))) for row in as_list(value)]
    return tuple(Finding(pointer, rule, Severity.WARNING, message) for pointer, rule, message in rows)


_DIGEST_SIZE = 16
"""Bytes of a digest. It distinguishes inputs and is no security measure."""


@dataclass(frozen=True, slots=True)
class RunFingerprint:
    """The common properties of a run's requests; ``schema``, ``words`` and ``options`` are digests.

    ``schema`` is the caller's. It is empty for forms of this library, so that a journal still works after an upgrade;
    each answer is validated again on reading. ``words`` covers the caller's instructions, prompts, materials and
    examples, and the terms of a decision.
    """

    kind: str
    name: str
    model: str
    wire: str
    schema: str
    words: str
    options: str

    def to_json(self) -> dict[str, str]:
        """Return the fingerprint as it is written in the first line."""
        return asdict(self)


def build_fingerprint(form: OutputForm, settings: Settings, probe: PreparedEmission) -> RunFingerprint:
    """Return the fingerprint of a run. ``probe`` is any of its emissions."""
    request = probe.request
    is_library_form = isinstance(form.schema, ImmutableSchema)
    words = [
        settings.instructions,
        _read_prompt_overrides(settings.prompts),
        list(settings.materials),
        list(form.examples),
        list(form.cache_key),
    ]
    return RunFingerprint(
        kind=form.kind,
        name=request.output.name,
        model=f"{probe.profile.name}/{request.model}",
        wire=probe.wire.value,
        schema="" if is_library_form else _digest(probe.contract.compiled.original),
        words=_digest(words),
        options=_digest(dict(request.options)),
    )


def _read_prompt_overrides(folder: str | os.PathLike[str] | None) -> dict[str, str]:
    """Return the caller's prompts, by file name."""
    files = [] if folder is None else sorted(Path(folder).glob("*.md"))
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def digest_job(job: Job) -> str:
    """Return a digest of a job: its messages, materials, earlier answers and actions."""
    return _digest([job.messages, list(job.materials), list(validate_continuations(job.after)), dict(job.actions)])


def make_request_id(fingerprint: RunFingerprint, key: str) -> str:
    """Return the id that is sent along with the request of a job."""
    return f"emitter-{_digest([fingerprint.to_json(), key])}"


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, default=_to_jsonable)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_SIZE).hexdigest()


def _to_jsonable(value: object) -> object:
    """Return an SDK's message as a mapping, and anything else as its repr."""
    members = as_json_object(value)
    return repr(value) if members is None else dict(members)


_REPAIR_HINT = "Remove line {number} to request that emission again, or use another file."
_TORN_NOTICE = "The journal {} ended in the middle of a line, which was dropped. That emission is requested again."


class RunJournal:
    """The finished emissions in a file, by key, and the claims of jobs that were sent and have no outcome.

    The file has one run at a time, so a claim only says that a job may have been sent. ``notice`` reports a dropped
    line.
    """

    def __init__(self, file: JsonlFile, fingerprint: RunFingerprint, *, resend: bool = True) -> None:
        self._file = file
        self._resend = resend
        self._positions: dict[str, tuple[int, int]] = {}
        self._orphans: set[str] = set()
        file.load(fingerprint.to_json(), self._load_entry, _REPAIR_HINT)
        self.notice = _TORN_NOTICE.format(file.path) if file.was_torn else None

    async def claim(self, key: str, *, anew: bool = False, waiting: bool = False) -> Claim:
        """Claim a job, or return the reason why it must not be sent."""
        if key in self._positions and not anew:
            return Claim(ClaimStatus.DONE, await self.find(key))
        if key in self._orphans and not self._resend:
            return Claim(ClaimStatus.ORPHANED)
        status = ClaimStatus.RESENT if key in self._orphans else ClaimStatus.CLAIMED
        self._orphans.discard(key)
        if not waiting:
            await self.send(key)
        return Claim(status)

    async def send(self, key: str) -> None:
        """Mark a waiting job as sent."""
        await run_blocking(self._file.append, encode_line({"claimed": key}))

    async def finish(self, entry: JournalEntry) -> None:
        """Keep an outcome, and close the claim of its job. Raises ``JournalFailed``."""
        await run_blocking(self._file.append, encode_entry(entry))

    async def release(self, key: str, *, sent: bool = False) -> None:
        """Give up the claim of a job. One that was sent is orphaned."""
        await run_blocking(self._file.append, encode_line({"claimed": key} if sent else {"released": key}))

    async def find(self, key: str) -> str | None:
        """Return the final entry of ``key`` as text, or None."""
        position = self._positions.get(key)
        return None if position is None else (await run_blocking(self._file.read_at, *position)).decode()

    def _load_entry(self, members: Mapping[str, Any], position: tuple[int, int]) -> None:
        match members:
            case {"claimed": str(key)}:
                self._orphans.add(key)
                return
            case {"released": str(key)}:
                self._orphans.discard(key)
                return
            case _:
                entry = decode_entry(members)
        self._orphans.discard(entry.key)
        if entry.is_final:
            self._positions[entry.key] = position
        else:
            self._positions.pop(entry.key, None)


@contextmanager
def open_journal(
    path: str | os.PathLike[str] | None, fingerprint: RunFingerprint, *, resend: bool = True
) -> Generator[RunJournal | None]:
    """Yield the journal at ``path``, or None without one. Raises ``BadJournal`` for a file in use or of another run."""
    if path is None:
        yield None
        return
    with open_jsonl(Path(path), "emitter", version=1, description="journal") as file:
        try:
            lock_file(file.descriptor)
        except OSError as error:
            hint = "Wait until that run has ended, or use another file."
            raise file.make_error("is in use by another run", hint) from error
        yield RunJournal(file, fingerprint, resend=resend)
