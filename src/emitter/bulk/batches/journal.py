"""The journal of batches: which requests were submitted under which id, and their answers.

A line is written before a batch is submitted, and before an answer is used. If the process dies before the batch id is
written, the batch is searched for at the vendor by its tag.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from emitter.bulk.journal import check_version, decode_line, encode_line, get_adapter, open_jsonl
from emitter.errors import BadJournal, JournalFailed, StoreFailed
from emitter.messages import Fault, ModelResponse, as_list, as_mapping
from emitter.outside_values import parse_date
from emitter.redaction import NO_SECRETS
from emitter.stores.jobs import ClaimStatus, Outcome
from emitter.stores.protocol import RECORD_VERSION
from emitter.threads import run_blocking

if TYPE_CHECKING:
    import datetime as dt
    import os
    from collections.abc import Callable, Generator, Mapping, Sequence

    from emitter.messages import CallResult, Json
    from emitter.redaction import Secrets
    from emitter.stores.jobs import JobTable


def dump_answer(answer: CallResult) -> Json:
    """Return an answer as JSON."""
    kind: Any = type(answer)
    if not isinstance(answer, ModelResponse):
        return {"fault": get_adapter(kind).dump_python(answer, mode="json", exclude={"report": {"cause"}})}
    # The arguments are JSON, and pydantic cannot write a name with half a surrogate pair.
    members = get_adapter(kind).dump_python(answer, mode="json", exclude={"arguments": True, "report": {"cause"}})
    return {"reply": {**members, "arguments": list(answer.arguments)}}


def load_answer(value: Json) -> CallResult:
    """Return the answer that ``dump_answer`` wrote. Raises ``ValueError`` otherwise."""
    members = as_mapping(value)
    for member, kind in (("reply", ModelResponse), ("fault", Fault)):
        if member in members:
            return cast("CallResult", get_adapter(cast("Any", kind)).validate_python(members[member]))
    raise ValueError("it has no answer")


_REPAIR_HINT = "It records what was paid for. Repair that line, or use another file to request everything again."
_TORN_NOTICE = "The journal {} ended in the middle of a line, which was dropped."


class JournalFile(Protocol):
    """The lines of a journal, in a file or in a store."""

    path: Path
    was_torn: bool

    def load(
        self, about: Mapping[str, Json], apply: Callable[[Mapping[str, Any], tuple[int, int]], None], hint: str
    ) -> None:
        """Pass each line and its location to ``apply``."""
        ...

    def read_at(self, offset: int, size: int) -> bytes:
        """Return a line that was loaded, by its location."""
        ...

    def append(self, line: bytes) -> None:
        """Write a line."""
        ...


_OWNER = "owner"
"""The key of the claim by which a process has the batches of a run."""
_TAKEN_OVER = "Another process has taken over the batches of this run, since the lease of this one had ended."
_IN_USE = "The batches of this run are in use by another process."
_IN_USE_HINT = "Run the same again when it has ended. If it died, its lease ends a minute later by default."


class StoreJournalFile:
    """The lines of a journal in a store, under the name of a run, which one process at a time may write.

    Each line is the final outcome of a job whose key is the number of the line.
    """

    was_torn = False

    def __init__(self, jobs: JobTable, run: str, holder: str) -> None:
        self.path = Path(run)
        self._jobs, self._run, self._holder = jobs, run, holder
        self._loaded: list[bytes] = []
        self._count = 0

    def load(
        self, about: Mapping[str, Json], apply: Callable[[Mapping[str, Any], tuple[int, int]], None], hint: str
    ) -> None:
        """Pass each line to ``apply``."""
        del about, hint  # the name of the run contains a digest of ``about``
        self._loaded = [text.encode() for _, text in self._jobs.entries(self._run)]
        self._count = len(self._loaded)
        for number, line in enumerate(self._loaded):
            apply(decode_line(line), (number, 1))

    def read_at(self, offset: int, size: int) -> bytes:
        """Return a line that was loaded."""
        return b"".join(self._loaded[offset : offset + size])

    def append(self, line: bytes) -> None:
        """Write a line. Raises ``JournalFailed`` if another process has the batches now."""
        # The lease may have ended during a long poll. Two processes must not submit the same requests.
        owner = self._jobs.claim(self._run, [_OWNER], self._holder)[_OWNER]
        if owner.holder != self._holder:
            raise JournalFailed(_TAKEN_OVER)
        self._jobs.finish(self._run, [Outcome(f"{self._count:012}", line.decode(), final=True)], self._holder)
        self._count += 1


@dataclass(slots=True)
class BatchEntry:
    """A batch in the journal.

    ``emission_keys`` are its emissions, by position. ``unanswered`` are the positions without an answer. ``tools`` are
    the tools that the requests offered, by position, or empty if none did. ``batch_id`` is the vendor's id, or None if
    it was not written.
    """

    tag: str
    submitted_at: dt.datetime
    emission_keys: tuple[str, ...]
    unanswered: set[int]
    tools: tuple[str | None, ...] = ()
    batch_id: str | None = None
    cancelled: bool = False


class BatchJournal:
    """Submissions and answers. ``open_batches`` are the batches that may have more results, by tag."""

    def __init__(self, file: JournalFile | None, about: Mapping[str, Json], secrets: Secrets = NO_SECRETS) -> None:
        self._secrets = secrets
        self.open_batches: dict[str, BatchEntry] = {}
        self.notice: str | None = None
        self._file = file
        self._known: dict[str, list[tuple[int, int]]] = {}
        if file is not None:
            file.load(about, self._apply_line, _REPAIR_HINT)
            if file.was_torn:
                self.notice = _TORN_NOTICE.format(file.path)

    @property
    def is_persistent(self) -> bool:
        """True if another run can read the journal."""
        return self._file is not None

    async def answers(self, key: str) -> list[CallResult]:
        """Return the answers to an emission that the file had when it was opened, in order."""
        locations = self._known.get(key, [])
        if self._file is None or not locations:
            return []
        lines = [await run_blocking(self._file.read_at, offset, size) for offset, size in locations]
        return [load_answer(decode_line(line)["answer"]) for line in lines]

    async def record_intent(
        self, tag: str, keys: Sequence[str], submitted_at: dt.datetime, tools: Sequence[str | None]
    ) -> BatchEntry:
        """Write that a batch is about to be submitted. ``tools`` has the tool that each request offers, or None."""
        tools = tuple(tools) if any(tools) else ()
        offered = {"tools": list(tools)} if tools else {}
        await self._write({"submitting": tag, "at": submitted_at.isoformat(), "keys": list(keys), **offered})
        entry = self.open_batches[tag] = BatchEntry(tag, submitted_at, tuple(keys), set(range(len(keys))), tools)
        return entry

    async def record_submission(self, tag: str, batch_id: str) -> None:
        """Write the vendor's id of a batch."""
        await self._write({"submitted": tag, "batch": batch_id})
        self.open_batches[tag].batch_id = batch_id

    async def record_answer(self, tag: str, position: int, answer: CallResult) -> None:
        """Write the answer to a request."""
        await self._write(
            {"answered": tag, "place": position, "answer": self._secrets.redact_json(dump_answer(answer)).value}
        )
        self.open_batches[tag].unanswered.discard(position)

    async def record_cancel(self, tag: str) -> None:
        """Write that a batch is about to be cancelled. Its unprocessed requests are sent again."""
        await self._write({"cancelling": tag})
        self.open_batches[tag].cancelled = True

    async def record_close(self, tag: str) -> None:
        """Write that a batch has no more results."""
        await self._write({"closed": tag})
        self.open_batches.pop(tag, None)

    async def forget(self, key: str) -> None:
        """Write that an emission failed, so that another run starts it from the beginning."""
        await self._write({"over": key})

    def _apply_line(self, members: Mapping[str, Any], location: tuple[int, int]) -> None:
        """Apply a line that was read from the file."""
        check_version(members)
        match members:
            case {"submitting": str(tag), "at": str(submitted_at), "keys": list()}:
                self.open_batches[tag] = _load_entry(tag, submitted_at, members)
            case {"submitted": str(tag), "batch": str(batch_id)}:
                self.open_batches[tag].batch_id = batch_id
            case {"answered": str(tag), "place": int(position), "answer": answer}:
                load_answer(answer)
                self.open_batches[tag].unanswered.remove(position)
                key = self.open_batches[tag].emission_keys[position]
                self._known.setdefault(key, []).append(location)
            case {"cancelling": str(tag)}:
                self.open_batches[tag].cancelled = True
            case {"closed": str(tag)}:
                del self.open_batches[tag]
            case {"over": str(key)}:
                self._known.pop(key, None)
            case _:
                raise ValueError("it is not a line of a journal")

    async def _write(self, members: Mapping[str, Json]) -> None:
        if self._file is not None:
            await run_blocking(self._file.append, encode_line({**members, "version": RECORD_VERSION}))


def _load_entry(tag: str, submitted_at: str, members: Mapping[str, Any]) -> BatchEntry:
    """Return the batch that a line says is about to be submitted. Raises ``ValueError`` for an invalid line."""
    keys, date = tuple(str(key) for key in as_list(members["keys"])), parse_date(submitted_at)
    tools = tuple(name if isinstance(name, str) else None for name in as_list(members.get("tools")))
    if date is None:
        raise ValueError("its time is not ISO 8601")
    if tools and len(tools) != len(keys):
        raise ValueError("it does not have one tool for each request")
    return BatchEntry(tag, date, keys, set(range(len(keys))), tools)


@contextmanager
def open_batch_journal(
    path: str | os.PathLike[str] | None, about: Mapping[str, Json], secrets: Secrets = NO_SECRETS
) -> Generator[BatchJournal]:
    """Open the journal of batches at ``path``, and create it if needed. Without a path, nothing is kept.

    It needs no lock, because the run's own journal is locked. Raises ``BadJournal`` for a file that belongs to another
    run or is invalid.

    Args:
        path: The file, or None.
        about: The common properties of the run's requests.
        secrets: Removed from the answers.
    """
    if path is None:
        yield BatchJournal(None, about)
        return
    with open_jsonl(Path(path), "emitter-batches", version=1, description="journal of batches") as file:
        yield BatchJournal(file, about, secrets)


@contextmanager
def open_shared_batch_journal(
    jobs: JobTable, run: str, holder: str, secrets: Secrets = NO_SECRETS
) -> Generator[BatchJournal]:
    """Open the journal of a run's batches in a store. Raises ``BadJournal`` while another process has it open.

    Args:
        jobs: The store's jobs.
        run: The name of the run.
        holder: This process, whose lease is renewed. After its death, another process goes on with the batches.
        secrets: Removed from the answers.
    """
    name = f"{run} journal"
    if jobs.claim(name, [_OWNER], holder, resend=True)[_OWNER].status is ClaimStatus.HELD:
        raise BadJournal(_IN_USE, hint=_IN_USE_HINT)
    try:
        yield BatchJournal(StoreJournalFile(jobs, name, holder), {}, secrets)
    finally:
        with suppress(StoreFailed):  # the lease ends anyway
            jobs.release(name, _OWNER, holder)
