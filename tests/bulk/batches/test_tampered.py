"""What a vendor, or what stands before it, may answer about a batch: nothing wrong comes of it, and nothing leaks."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
import zlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter.attempts import Verdict
from emitter.bulk.batches import Batch, anthropic_batches, google_batches, openai_batches
from emitter.bulk.batches.rows import read_result
from emitter.bulk.batches.vendor_api import BatchConnection, SubmittedBatch
from emitter.deadline import Deadline
from emitter.messages import Fault, FaultKind, ModelResponse
from emitter.policy import Policy
from emitter.profiles import WireFormat, find_profile, load_profile
from emitter.testing.batches import BatchScript
from tests.bulk.asking import task
from tests.bulk.batches.asking import ANTHROPIC, CHAT, GOOGLE, MODELS, Came, Setting, Time, ran, vendor
from tests.bulk.batches.tampering import (
    RESULTS,
    STEPS,
    Network,
    Pieces,
    edited,
    redirecting,
    variants,
    with_first_row,
)
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.clock import Clock

VENDORS = {"openai": CHAT, "anthropic": ANTHROPIC, "google": GOOGLE}
SMALL = 1 << 18
DECODERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "openai": (openai_batches._decode_line, ("custom_id",)),
    "anthropic": (anthropic_batches._decode_line, ("custom_id",)),
    "google": (google_batches._decode_row, ("metadata", "key")),
}
POLICY = Policy(output_tokens=64, max_faults=0, max_response_bytes=SMALL)
TASKS = [task(n) for n in range(4)]


def tried(name: str, network: Network, came: Came | None = None, **more: Any) -> Came:
    """Run four tasks over a network."""
    setting = Setting(model=VENDORS[name], policy=POLICY, transport=network)
    with vendor() as (running, desk):
        desk.batches.script(more.pop("script", BatchScript()))
        came = ran(running.url, TASKS, replace(setting, **more), came)
    assert network.changed
    return came


def fault_of(came: Came, key: str) -> Fault:
    """Return the fault of an emission's only attempt."""
    (attempt,) = came.outcome(key).attempts
    assert attempt.verdict is Verdict.FAULTED
    assert attempt.fault is not None
    return attempt.fault


@pytest.mark.parametrize(
    ("name", "step", "status"),
    [
        (name, step, status)
        for name, steps in STEPS.items()
        for step, status in covering(steps, (307, 302, 308, 301, 303), strength=1)
    ],
)
def test_no_redirect_is_followed(name: str, step: str, status: int) -> None:
    """Neither the prompt nor the key reaches another origin, whichever request of a batch is redirected."""
    network = Network(STEPS[name][step], redirecting(status))
    if step == "cancel":
        came = tried(name, network, how=Batch(cancel=True, max_requests=1), most=1)
        assert any("could not be cancelled: The server answered with a redirect" in each for each in came.notices)
    else:
        came = tried(name, network, script=BatchScript(drop_confirmation=step == "list"))
        assert {fault_of(came, f"k{n}").kind for n in range(4)} == {FaultKind.BAD_REQUEST}
        assert f"redirect ({status})" in fault_of(came, "k0").message

    assert network.elsewhere == []


def repeated(row: bytes) -> bytes:
    """Repeat the stop reason with another value."""
    changed, count = re.subn(rb'"(finish_reason|stop_reason|finishReason)":', rb'"\1": "length", "\1":', row, count=1)
    assert count == 1
    return changed


ROWS: dict[str, Callable[[bytes], bytes]] = {
    "not-utf-8": lambda row: b'{"note": "\xfc", ' + row[1:],
    "overlong-utf-8": lambda row: b'{"note": "\xc0\xaf", ' + row[1:],
    "surrogate": lambda row: b'{"note": "\xed\xa0\x80", ' + row[1:],
    "member-twice": lambda row: b'{"note": 1, "note": 2, ' + row[1:],
    "stop-reason-twice": repeated,
    "goes-on": lambda row: row + b" {}",
    "nested-deeply": lambda row: b'{"note": ' + b"[" * 100_000 + b"]" * 100_000 + b", " + row[1:],
    "number-of-5000-digits": lambda row: b'{"note": ' + b"9" * 5_000 + b", " + row[1:],
}
"""Rows that break the rules of JSON, but name their request."""
STATUSES: dict[str, Any] = {
    "string": "200", "string-500": "500", "null": None, "true": True, "minus": -1, "zero": 0, "float": 200.0,
    "large": 2_000, "list": [200],
}  # fmt: skip


def _with_status(status: Any) -> Callable[[bytes], bytes]:
    return edited(lambda row: row["response"].update(status_code=status))


ERROR = {"code": "content_filter", "message": "blocked"}
ODD_ROWS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    **{f"openai-status-{name}": ("openai", _with_status(status)) for name, status in STATUSES.items()},
    "openai-status-missing": ("openai", edited(lambda row: row["response"].pop("status_code"))),
    "openai-error-beside": ("openai", edited(lambda row: row.update(error=ERROR))),
    "openai-empty-error-beside": ("openai", edited(lambda row: row.update(error={}))),
    "openai-text-error-beside": ("openai", edited(lambda row: row.update(error="blocked"))),
    "openai-body-is-a-list": ("openai", edited(lambda row: row["response"].update(body=[row["response"]["body"]]))),
    "openai-body-is-text": (
        "openai",
        edited(lambda row: row["response"].update(body=json.dumps(row["response"]["body"]))),
    ),
    "openai-no-body": ("openai", edited(lambda row: row["response"].pop("body"))),
    "openai-nothing": ("openai", edited(lambda row: row.update(response=None))),
    "anthropic-error-beside": ("anthropic", edited(lambda row: row["result"].update(error=ERROR))),
    "anthropic-no-message": ("anthropic", edited(lambda row: row["result"].pop("message"))),
    "anthropic-message-is-a-list": ("anthropic", edited(lambda row: row["result"].update(message=[]))),
    "anthropic-type-unknown": ("anthropic", edited(lambda row: row["result"].update(type="done"))),
    "anthropic-type-is-a-list": ("anthropic", edited(lambda row: row["result"].update(type=["succeeded"]))),
    "anthropic-errored-without-error": ("anthropic", edited(lambda row: row["result"].update(type="errored"))),
    "google-error-beside": ("google", edited(lambda row: row.update(error=ERROR))),
    "google-response-is-a-list": ("google", edited(lambda row: row.update(response=[row["response"]]))),
    "google-nothing": ("google", edited(lambda row: row.pop("response"))),
}  # fmt: skip
"""Rows of strict JSON that are no success."""


@pytest.mark.parametrize(
    ("name", "change"),
    [pytest.param(name, change, id=f"{name}-{row}") for name in VENDORS for row, change in ROWS.items()]
    + [pytest.param(name, change, id=row) for row, (name, change) in ODD_ROWS.items()],
)
def test_a_row_that_cannot_be_trusted_is_a_fault_of_its_request(name: str, change: Callable[[bytes], bytes]) -> None:
    """It is no success, and the other rows are."""
    network = Network(STEPS[name][RESULTS[name]], with_first_row(name, change))
    came = tried(name, network)

    assert fault_of(came, "k0").kind is FaultKind.PROTOCOL
    assert [came.outcome(f"k{n}").value.n for n in range(1, 4)] == [1, 2, 3]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_no_part_of_a_row_raises(model: str) -> None:
    """Whatever stands in its place, the row has an outcome or belongs to no request."""
    name, rows = model.partition("/")[0], list[bytes]()

    def keep(row: bytes) -> bytes:
        rows.append(row)
        return row

    tried(name, Network(STEPS[name][RESULTS[name]], with_first_row(name, keep)), model=model)
    profile, _ = find_profile(model.partition(" ")[0])
    wire = WireFormat.OPENAI_CHAT if "chat" in model else profile.default_wire
    connection = BatchConnection(None, profile, wire, POLICY, Deadline(None, time.monotonic))
    decode, path = DECODERS[name]
    odd = [json.dumps(each).encode() for each in variants(json.loads(rows[0]))]
    results = [read_result(row, path, partial(decode, connection), SubmittedBatch("b", 1)) for row in odd]

    assert {type(each.answer) for each in results} == {ModelResponse, Fault, type(None)}


def test_a_row_whose_decoding_fails_is_a_fault_of_its_request() -> None:
    """As for a call: the other results are not lost."""

    def decode(*_: object) -> Any:
        raise KeyError("a bug")

    result = read_result(b'{"custom_id": "t-0"}', ("custom_id",), decode, SubmittedBatch("b", 1))

    assert isinstance(result.answer, Fault)
    assert result.answer.kind is FaultKind.PROTOCOL
    assert "KeyError" in result.answer.message


def _with_id(change: Callable[[str], Any]) -> Callable[[bytes], bytes]:
    def edit(row: dict[str, Any]) -> None:
        holder, member = (row, "custom_id") if "custom_id" in row else (row["metadata"], "key")
        holder[member] = change(holder[member])

    return edited(edit)


LOST_ROWS: dict[str, Callable[[bytes], bytes]] = {
    "5000-digits": _with_id(lambda name: name[:-1] + "9" * 5_000),
    "leading-zero": _with_id(lambda name: f"{name[:-1]}0{name[-1]}"),
    "other-digits": _with_id(lambda name: f"{name[:-1]}\N{ARABIC-INDIC DIGIT ZERO}"),
    "beyond": _with_id(lambda name: f"{name[:-1]}4"),
    "minus": _with_id(lambda name: f"{name[:-1]}-1"),
    "other-batch": _with_id(lambda name: f"x{name}"),
    "list": _with_id(lambda name: [name]),
    "null": _with_id(lambda _: None),
    "id-twice": lambda row: row.replace(b'"custom_id"', b'"custom_id": "a", "custom_id"').replace(
        b'"key"', b'"key": "a", "key"'
    ),
    "too-long": edited(lambda row: row.update(note="x" * 2 * SMALL)),
    "no-object": lambda row: b"[" + row + b"]",
    "html": lambda _: b"<html>",
    "null-row": lambda _: b"null",
    "number": lambda _: b"7",
}
"""Rows that do not name their request."""


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("row", LOST_ROWS)
def test_a_row_that_belongs_to_no_request_is_ignored(row: str, name: str) -> None:
    """Its request has no result then, and no other request gets it."""
    network = Network(STEPS[name][RESULTS[name]], with_first_row(name, LOST_ROWS[row]))
    came = tried(name, network)

    assert fault_of(came, "k0").kind is FaultKind.PROTOCOL
    assert "do not contain this request" in fault_of(came, "k0").message
    assert [came.outcome(f"k{n}").value.n for n in range(1, 4)] == [1, 2, 3]


def replaced(change: Callable[[bytes], bytes]) -> Callable[[httpx2.Response], httpx2.Response]:
    """Return a change of the whole body."""
    return lambda response: httpx2.Response(200, content=change(response.content))


BODIES: dict[str, Callable[[bytes], bytes]] = {
    "not-utf-8": lambda body: b'{"note": "\xfc", ' + body[1:],
    "member-twice": lambda body: b'{"note": 1, "note": 2, ' + body[1:],
    "no-id": lambda _: b"{}",
    "id-is-a-number": lambda _: b'{"id": 1, "name": 1}',
    "id-has-controls": lambda _: b'{"id": "a\\u001b[2J", "name": "a\\u001b[2J"}',
    "list": lambda body: b"[" + body + b"]",
    "number-of-5000-digits": lambda body: b'{"note": ' + b"9" * 5_000 + b", " + body[1:],
    "nested-deeply": lambda body: b'{"note": ' + b"[" * 100_000 + b"]" * 100_000 + b", " + body[1:],
    "goes-on": lambda body: body + b"{}",
    "html": lambda _: b"<html>",
    "empty": lambda _: b"",
    "null": lambda _: b"null",
}


@pytest.mark.parametrize(("name", "body"), covering(VENDORS, BODIES))
def test_an_unreadable_confirmation_is_no_reason_to_pay_twice(name: str, body: str) -> None:
    """The batch was created. It is looked for, and its results are right."""
    network = Network(STEPS[name]["create"], replaced(BODIES[body]))
    came = tried(name, network)

    assert [came.outcome(f"k{n}").value.n for n in range(4)] == [0, 1, 2, 3]
    assert network.changed == 1


@pytest.mark.parametrize(("name", "body"), [each for each in covering(VENDORS, BODIES) if "id" not in each[1]])
def test_an_unreadable_state_is_asked_for_again(name: str, body: str) -> None:
    """Nothing is decided by it."""
    came = tried(name, Network(STEPS[name]["get"], replaced(BODIES[body]), most=1))

    assert [came.outcome(f"k{n}").value.n for n in range(4)] == [0, 1, 2, 3]


ODD_STATES: dict[str, tuple[str, Any]] = {
    "openai-status-is-a-list": ("openai", {"status": ["completed"]}),
    "openai-counts": ("openai", {"request_counts": {"completed": "many", "failed": -1}}),
    "openai-files-are-numbers": ("openai", {"status": "in_progress", "output_file_id": 1, "error_file_id": [2]}),
    "openai-errors": ("openai", {"errors": {"data": [1, {"line": 10**30, "code": 7, "message": []}]}}),
    "anthropic-status-is-a-list": ("anthropic", {"processing_status": ["ended"]}),
    "anthropic-counts": ("anthropic", {"request_counts": [1]}),
    "google-metadata": ("google", {"metadata": 1}),
    "google-state": ("google", {"metadata": {"state": {"BATCH_STATE_SUCCEEDED": 1}}}),
}


@pytest.mark.parametrize("state", ODD_STATES)
def test_an_odd_state_raises_nothing(state: str) -> None:
    """The batch is asked for again."""
    name, members = ODD_STATES[state]
    odd = json.dumps({"id": "b", "status": "in_progress", "processing_status": "in_progress", **members}).encode()
    came = tried(name, Network(STEPS[name]["get"], replaced(lambda _: odd), most=1))

    assert [came.outcome(f"k{n}").value.n for n in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("page", [b'{"data": [{}], "operations": [{}], "has_more": true, "nextPageToken": "t"}', b"[]"])
def test_a_list_that_cannot_be_read_is_no_reason_to_pay_twice(page: bytes, name: str) -> None:
    """Nobody knows whether the batch exists, and the emissions wait for it until their time is up."""
    script = BatchScript(drop_confirmation=True)
    network = Network(STEPS[name]["list"], replaced(lambda _: page))
    came = tried(name, network, script=script, how=Batch(timeout=100))

    assert {each.outcome.failure.code for each in came.items.values()} == {"deadline_exceeded"}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", VENDORS)
def test_a_rejected_batch_says_why(name: str) -> None:
    """With all that the exception of a call would say."""
    error = {"message": "Too little money.", "code": "no_funds", "type": "no_funds", "status": "no_funds"}
    headers = {"x-request-id": "req_1", "request-id": "req_1", "x-goog-request-id": "req_1"}
    rejected = httpx2.Response(402, json={"error": error}, headers=headers)
    came = tried(name, Network(STEPS[name]["create"], lambda _: rejected))

    (attempt,) = came.outcome("k0").attempts
    assert attempt.fault is not None
    assert (attempt.fault.status, attempt.fault.code, attempt.request_id) == (402, "no_funds", "req_1")
    assert attempt.report is not None
    assert attempt.report.message == "Too little money."


KEY = "sk-5f2c9e71b0a84d63"
WRONG = {"message": f"Wrong: {KEY}", "code": KEY, "type": KEY}
KEY_ERRORS: dict[str, Callable[[bytes], bytes]] = {
    "openai": edited(lambda row: row["response"].update(status_code=401, body={"error": WRONG})),
    "anthropic": edited(lambda row: row.update(result={"type": "errored", "error": {"error": WRONG}})),
    "google": edited(lambda row: row.update(response=None, error={**WRONG, "code": 16})),
}


@pytest.mark.parametrize("name", VENDORS)
def test_a_key_in_the_results_is_in_no_journal(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the emission's fault."""
    for variable in load_profile(name).client.key_env:
        monkeypatch.setenv(variable, KEY)
    network = Network(STEPS[name][RESULTS[name]], with_first_row(name, KEY_ERRORS[name]))
    came = tried(name, network, journal=tmp_path / "journal")

    assert KEY not in repr(came.outcome("k0"))
    assert "Wrong" in repr(came.outcome("k0"))
    written = (tmp_path / "journal").read_text("utf-8")
    assert "Wrong" in written
    assert KEY not in written


class PassingTime(Time):
    """A clock that also goes on by itself."""

    def clock(self) -> Clock:
        """Return it as a driver wants it."""
        return replace(super().clock(), monotonic=lambda: self.now + time.monotonic())


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("pause", [0.02, 3600], ids=["trickles", "stalls"])
def test_results_that_do_not_arrive_in_time_are_asked_for_again(pause: float, name: str) -> None:
    """Each row has the time of a call."""

    def slow(response: httpx2.Response) -> httpx2.Response:
        return httpx2.Response(200, stream=Pieces(b" " * 10_000 + response.content, 1, pause))

    network = Network(STEPS[name][RESULTS[name]], slow, most=1)
    came = tried(name, network, Came(time=PassingTime()), policy=replace(POLICY, timeout=0.5))

    assert [came.outcome(f"k{n}").value.n for n in range(4)] == [0, 1, 2, 3]


AROUND = {
    "openai": (b"", b""),
    "anthropic": (b"", b""),
    "google": (
        b'{"metadata": {"state": "BATCH_STATE_SUCCEEDED", "output": {"inlinedResponses": {"inlinedResponses": [',
        b"]}}}}",
    ),
}


def zipped(name: str, filler: bytes, count: int) -> bytes:
    """Return results that expand to ``count`` times ``filler``."""
    packer, (begin, end) = zlib.compressobj(wbits=31), AROUND[name]
    return b"".join([*map(packer.compress, [begin, *[filler] * count, end]), packer.flush()])


FILLERS = {
    "one-line": b" " * SMALL,
    "a-string": b"x" * SMALL,
    "blank-lines": b"\n" * SMALL,
    "many-rows": b'{"custom_id": "x"},\n' * (SMALL // 20),
    "open-brackets": b"[" * SMALL,
    "commas": b"," * SMALL,
}


@pytest.mark.parametrize(("name", "filler"), covering(VENDORS, FILLERS))
def test_results_that_expand_without_end_take_little_memory(name: str, filler: str) -> None:
    """256 MB of results, which are 0.3 MB when zipped, where four responses of 256 KiB are allowed."""
    body = Pieces(zipped(name, FILLERS[filler], 1_024))
    network = Network(
        STEPS[name][RESULTS[name]],
        lambda _: httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=body),
    )
    tracemalloc.start()
    try:
        came = tried(name, network)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert {fault_of(came, f"k{n}").kind for n in range(4)} == {FaultKind.RESPONSE_TOO_LARGE}
    assert peak < 10 << 20
