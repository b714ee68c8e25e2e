"""The journal of a bulk run: finished emissions on disk, so that a restarted run does not pay for them again.

A journal belongs to one run. The fingerprint in its first line identifies what was asked; it leaves out the
library's own prompts, so that a journal still works after an upgrade.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import TypeAdapter

from emitter.bulk import jsonl
from emitter.bulk.jsonl import decode_line, encode_line, lock_file
from emitter.conversation import as_json_object
from emitter.core.effects import Attempt, EmissionFailure, EmissionOutcome
from emitter.core.verdicts import Verdict
from emitter.events import Event, Level, Reason, RunEvent
from emitter.forms.binding_moment import validate_continuations
from emitter.messages import Fault, ProviderErrorDetails, Usage, as_list, as_mapping
from emitter.models import Trust
from emitter.schema import Violation
from emitter.schema.compiler import ImmutableSchema

if TYPE_CHECKING:
    import os
    from collections.abc import Generator

    from emitter.bulk.jobs import Job
    from emitter.bulk.jsonl import JsonlFile
    from emitter.client.request import PreparedEmission
    from emitter.client.settings import Settings
    from emitter.forms.form import OutputForm
    from emitter.messages import Json

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
"""Names in the annotations of the records. Their modules import some of them for type checkers only."""
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
    return {**common, "told": [_dump_event(name) for name in events]}


def load_events(value: Json) -> tuple[RunEvent, ...]:
    """Return the events that ``dump_events`` wrote. Raises ``ValueError`` otherwise."""
    members = dict(as_mapping(value))
    events = as_list(members.pop("told", None))
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


_FAILURE_FIELDS = ("verdict", "code", "message")


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The outcome of an emission, under its ``key``.

    ``outcome`` has no value, which is parsed from the document again. ``envelope_fields`` is the envelope without its
    payload. ``job_digest`` is a digest of the job.
    """

    key: str
    outcome: EmissionOutcome
    events: tuple[RunEvent, ...]
    envelope_fields: Json = None
    job_digest: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether the emission was answered or refused, and must not be requested again."""
        failure = self.outcome.failure
        return failure is None or failure.verdict is Verdict.REFUSED


def encode_entry(entry: JournalEntry) -> bytes:
    """Return an entry as a line."""
    outcome = entry.outcome
    members: dict[str, Json] = {
        "key": entry.key,
        "asked": entry.job_digest,
        "attempts": dump_attempts(outcome.attempts),
    }
    if outcome.failure is None:
        members |= {"document": outcome.document, "envelope": entry.envelope_fields}
    else:
        members["failure"] = {name: getattr(outcome.failure, name) for name in _FAILURE_FIELDS}
    members["events"] = dump_events(entry.events)
    return encode_line(members)


def decode_entry(members: Mapping[str, Json]) -> JournalEntry:
    """Parse the object in a line. Raises ``ValueError`` if it is not an entry."""
    key, attempts = members.get("key"), load_attempts(members.get("attempts"))
    if not isinstance(key, str):
        raise ValueError("it has no key")  # noqa: TRY004  the line is wrong, not the call
    job_digest = members.get("asked")
    if job_digest is not None and not isinstance(job_digest, str):
        raise ValueError("its digest of the job is not a string")
    events = load_events(members.get("events"))
    if "failure" in members:
        members_of_failure = as_mapping(members["failure"])
        failure = EmissionFailure(
            Verdict(members_of_failure.get("verdict")),
            str(members_of_failure.get("code")),
            str(members_of_failure.get("message")),
        )
        return JournalEntry(key, EmissionOutcome(attempts, failure=failure), events, job_digest=job_digest)
    if "document" not in members or not isinstance(members.get("envelope"), dict):
        raise ValueError("it has neither a document nor a failure")
    return JournalEntry(
        key, EmissionOutcome(attempts, document=members["document"]), events, members["envelope"], job_digest
    )


_DIGEST_SIZE = 16
"""Bytes of a digest. It distinguishes inputs and is no security measure."""


@dataclass(frozen=True, slots=True)
class RunFingerprint:
    """The common properties of a run's requests; ``schema``, ``words`` and ``options`` are digests.

    ``schema`` is the caller's. It is empty for forms of this library, since each answer is validated again on reading.
    ``words`` covers the caller's instructions, prompts, materials and examples, and the terms of a decision.
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
    request = probe.emission_request.request
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
        schema="" if is_library_form else _digest(probe.emission_request.contract.compiled.original),
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


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, default=_to_plain)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_SIZE).hexdigest()


def _to_plain(value: object) -> object:
    """Return an SDK's message as a mapping, and anything else as its repr."""
    members = as_json_object(value)
    return repr(value) if members is None else dict(members)


_REPAIR_HINT = "Remove line {number} to request that emission again, or use another file."
_TORN_NOTICE = "The journal {} ended in the middle of a line, which was dropped. That emission is requested again."


class RunJournal:
    """The finished emissions, by key.

    ``earlier_usage`` is their cost when the journal was opened, and ``notice`` reports a dropped line.
    """

    def __init__(self, file: JsonlFile, fingerprint: RunFingerprint) -> None:
        self.earlier_usage = Usage()
        self._file = file
        self._positions: dict[str, tuple[int, int]] = {}
        file.load(fingerprint.to_json(), self._load_entry, _REPAIR_HINT)
        self.notice = _TORN_NOTICE.format(file.path) if file.was_torn else None

    def find(self, key: str) -> JournalEntry | None:
        """Return the entry of ``key`` if it need not be requested again."""
        return decode_entry(decode_line(self._file.read_at(*self._positions[key]))) if key in self._positions else None

    def add(self, finished: JournalEntry) -> None:
        """Write an entry, completely or not at all. Raises ``JournalFailed``."""
        self._file.append(encode_entry(finished))

    def _load_entry(self, members: Mapping[str, Any], position: tuple[int, int]) -> None:
        entry = decode_entry(members)
        self.earlier_usage += entry.outcome.usage
        if entry.is_final:
            self._positions[entry.key] = position
        else:
            self._positions.pop(entry.key, None)


@contextmanager
def open_journal(path: str | os.PathLike[str] | None, fingerprint: RunFingerprint) -> Generator[RunJournal | None]:
    """Open the journal at ``path``, and create it if needed. Yields None if there is no path.

    Raises ``BadJournal`` for a file that belongs to another run, or that another run has open.
    """
    if path is None:
        yield None
        return
    with jsonl.open_jsonl(Path(path), "emitter", version=1, description="journal") as file:
        try:
            lock_file(file.descriptor)
        except OSError as error:
            hint = "Wait until that run has ended, or use another file."
            raise file.make_error("is in use by another run", hint) from error
        yield RunJournal(file, fingerprint)
