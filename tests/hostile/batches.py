"""The vendors' batch and file interfaces in hostile hands, and the results of batches that are wrong.

A batch has three jobs, each with a document of its own, so that a result which is given to another job is seen. What a
vendor answers at one step is good but for its shape; where nothing of it may be taken, it holds or names decoys.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from emitter.profiles.model import WireFormat
from emitter.testing.batches import BATCH_APIS, BatchApi, BatchStore
from emitter.testing.responses import NO_USAGE, RawRequest, SimulatedResponse
from tests.hostile.shapes import DIGITS, Expected
from tests.hostile.wires import ABSENT, OUTPUT, RIGHT, changed, decoyed, doubled
from tests.scenarios.vendors import VENDORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.hostile.vendor import Received

BATCH_WIRES = ("openai-responses", "openai-chat", "anthropic", "google")
STEPS: dict[str, tuple[str, ...]] = {
    "openai-responses": ("upload", "create", "status", "results", "list", "cancel"),
    "openai-chat": ("results",),
    "anthropic": ("create", "status", "results", "list", "cancel"),
    "google": ("create", "status", "list", "cancel"),
}
"""The steps of each vendor's batches. OpenAI's two wires differ in their results alone."""
JOBS = 3
HIT = 1
"""The job whose result is hostile."""
_ROUTES: tuple[tuple[str, str], ...] = (
    ("upload", r"POST /v1/files"),
    ("results", r"GET /v1/files/[^/]+/content|GET /v1/messages/batches/[^/]+/results"),
    ("cancel", r"POST .*/cancel|POST /v1(?:beta)?/batches/[^/]+:cancel"),
    ("create", r"POST /v1/batches|POST /v1/messages/batches|POST /v1(?:beta)?/models/[^/]+:batchGenerateContent"),
    ("list", r"GET /v1/batches|GET /v1/messages/batches|GET /v1beta/batches"),
    ("status", r"GET /v1/batches/[^/]+|GET /v1/messages/batches/[^/]+|GET /v1beta/batches/[^/]+"),
)
_LAST = {"openai-responses": "results", "openai-chat": "results", "anthropic": "results", "google": "status"}


def step_of(received: Received) -> str:
    """Return the step of an exchange that a request is."""
    line = f"{received.method} {received.path.partition('?')[0]}"
    return next((name for name, pattern in _ROUTES if re.fullmatch(pattern, line)), "other")


def results_step(wire: str) -> str:
    """Return the step in which a vendor hands over the results."""
    return _LAST[wire]


_UNKNOWN = b'{"error": {"message": "Nobody knows it.", "code": 404}}'


@dataclass
class BatchVendor:
    """A vendor's batches, and its good answer to each step."""

    wire: str
    polls: int = 1
    created: int = 0
    store: BatchStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = BatchStore(self._run, self.polls)

    @property
    def _api(self) -> BatchApi:
        wire = self.wire.replace("openai-chat", "openai-responses")
        return BATCH_APIS[WireFormat(wire)]

    def _run(self, request: RawRequest) -> tuple[SimulatedResponse, Any]:
        """Answer one request of a batch with the document of its job."""
        job = int(re.findall(rb"job-(\d+)-", request.body)[-1])
        body = VENDORS[self.wire].whole(json.dumps({"a": RIGHT, "n": job}), OUTPUT).body
        return SimulatedResponse(200, {}, json.dumps(body).encode(), NO_USAGE), None

    def answer(self, received: Received, step: str) -> bytes:
        """Return the body of the good answer to a request, which changes what the vendor has."""
        self.created += step == "create"
        is_decoy = "decoy" in received.path
        path = received.path.replace("decoy", "")
        raw = RawRequest(received.method, path, {}, received.body)
        try:
            response = self._api.handle(raw, self.store)
        except (KeyError, IndexError):  # it is asked for what it does not have
            response = None
        body = response.body if response is not None else _UNKNOWN
        return with_decoys(body) if is_decoy else body


def with_decoys(body: bytes) -> bytes:
    """Return an answer that holds decoys, or names a batch or a file of decoys."""
    return decoyed(re.sub(rb"(batch_|output-|file-|batches/)(?=0)", rb"\1decoy", body))


# --- rows ---

Row = dict[str, Any]
Rows = list[Any]
"""The results of a batch: JSON values, and bytes that are none."""


@dataclass(frozen=True)
class RowShape:
    """Results that are wrong: what is done to the rows of a batch, of which ``HIT`` is the one that it is about.

    ``rest`` is what may come of the other jobs.
    """

    name: str
    change: Callable[[Rows], Rows] = field(repr=False)
    expected: Expected = "error"
    rest: Expected = "answer"
    wires: tuple[str, ...] = BATCH_WIRES


def _one(change: Callable[[Row], Any]) -> Callable[[Rows], Rows]:
    """Change the row that is hit."""
    return lambda rows: [change(row) if place == HIT else row for place, row in enumerate(rows)]


def _member(path: tuple[str, ...], value: Any) -> Callable[[Rows], Rows]:
    """Give the row that is hit another value at a path, and a decoy to go with it."""
    return _one(lambda row: changed(_wrong(row), path, value))


def _wrong(row: Row) -> Row:
    return json.loads(decoyed(json.dumps(row).encode()))


def _text(row: Any) -> bytes:
    return row if isinstance(row, bytes) else json.dumps(row).encode()


OPENAI, ANTHROPIC, GOOGLE = ("openai-responses", "openai-chat"), ("anthropic",), ("google",)
_ID_PATHS = {"openai": ("custom_id",), "anthropic": ("custom_id",), "google": ("metadata", "key")}
_VENDOR_WIRES = {"openai": OPENAI, "anthropic": ANTHROPIC, "google": GOOGLE}
_OTHER_IDS: dict[str, Any] = {
    "other": "another-request", "empty": "", "null": None, "absent": ABSENT, "number": 1, "true": True, "list": [],
    "object": {}, "long": "x" * 100_000, "surrogate": "\ud800", "digits": "9" * 5000,
}  # fmt: skip
_NEAR_IDS: dict[str, Callable[[str], Any]] = {
    "digits-behind": lambda known: known[:-1] + DIGITS,
    "zeros": lambda known: known[:-1] + "0" * 20 + known[-1],
    "minus": lambda known: known[:-1] + "-1",
    "plus": lambda known: known[:-1] + "+1",
    "underscore": lambda known: known[:-1] + "0_1",
    "other-digits": lambda known: known[:-1] + "\N{ARABIC-INDIC DIGIT ONE}",
    "superscript": lambda known: known[:-1] + "\N{SUPERSCRIPT TWO}",
    "blank": lambda known: f" {known} ",
    "newline": lambda known: f"{known}\n",
    "upper": str.upper,
    "fraction": lambda known: f"{known}.0",
    "far": lambda known: known[:-1] + "99",
    "other-tag": lambda known: "0" * 8 + known[8:],
}
"""Ids that are not the id of any job, but are read as one by a careless reader."""


def _id_rows() -> Iterator[RowShape]:
    """Yield rows under other ids. The job then has no result."""
    for vendor, path in _ID_PATHS.items():
        for name, value in _OTHER_IDS.items():
            yield RowShape(f"row:id-{name}", _member(path, value), wires=_VENDOR_WIRES[vendor])
        for name, change in _NEAR_IDS.items():

            def near(row: Row, path: tuple[str, ...] = path, change: Callable[[str], Any] = change) -> Row:
                known = row[path[0]] if len(path) == 1 else row[path[0]][path[1]]
                return changed(_wrong(row), path, change(known))

            yield RowShape(f"row:id-near-{name}", _one(near), wires=_VENDOR_WIRES[vendor])


_STATUSES: dict[str, Any] = {
    "text-500": "500", "text-200": "200", "null": None, "absent": ABSENT, "true": True, "false": False, "minus": -1,
    "zero": 0, "float": 200.0, "half": 200.5, "huge": 10**30, "digits": "9" * 5000, "list": [200], "object": {},
    "redirect": 307, "created": 201, "empty": "", "word": "OK", "one": 1, "informational": 103,
}  # fmt: skip
_READ_STATUSES = ("float", "created")
"""Statuses that a reader may take for success: they say it, if in an odd way."""


def _openai_rows() -> Iterator[RowShape]:
    """Yield rows of OpenAI whose members are wrong."""
    for name, value in _STATUSES.items():
        odd = name in _READ_STATUSES
        change = _one(
            lambda row, value=value, odd=odd: changed(row if odd else _wrong(row), ("response", "status_code"), value)
        )
        yield RowShape(f"row:status-{name}", change, "either" if odd else "error", wires=OPENAI)
    errors: dict[str, Any] = {
        "object": {"code": "content_filter", "message": "blocked"}, "text": "broke", "list": [{"message": "x"}],
        "true": True, "number": 500,
    }  # fmt: skip
    for name, value in errors.items():
        yield RowShape(f"row:error-beside-{name}", _member(("error",), value), wires=OPENAI)
    for name, value in {"object": {}, "absent": ABSENT, "text": "", "zero": 0}.items():
        yield RowShape(
            f"row:no-error-{name}",
            _one(lambda row, value=value: changed(row, ("error",), value)),
            "either",
            wires=OPENAI,
        )
    odd_values: dict[str, Any] = {"null": None, "absent": ABSENT, "list": [], "text": "odd", "number": 7, "object": {}}
    for name, value in odd_values.items():
        yield RowShape(f"row:response-{name}", _member(("response",), value), wires=OPENAI)
        yield RowShape(f"row:body-{name}", _member(("response", "body"), value), wires=OPENAI)
    yield RowShape(
        "row:body-as-text",
        _one(lambda row: changed(row, ("response", "body"), json.dumps(row["response"]["body"]))),
        "either",
        wires=OPENAI,
    )
    for name, value in {**odd_values, "digits": DIGITS, "nul": "\0", "lines": "a\r\nX-Odd: b"}.items():
        yield RowShape(
            f"row:request-id-{name}",
            _one(lambda row, value=value: changed(row, ("response", "request_id"), value)),
            "either",
            wires=OPENAI,
        )


def _anthropic_rows() -> Iterator[RowShape]:
    """Yield rows of Anthropic whose members are wrong."""
    kinds = {
        "upper": "SUCCEEDED", "errored": "errored", "expired": "expired", "canceled": "canceled", "unknown": "odd",
        "null": None, "absent": ABSENT, "number": 1, "true": True, "list": ["succeeded"], "empty": "",
    }  # fmt: skip
    for name, value in kinds.items():
        yield RowShape(f"row:type-{name}", _member(("result", "type"), value), wires=ANTHROPIC)
    error = {"type": "error", "error": {"type": "api_error", "message": "broke"}}
    for name, value in {"object": error, "text": "broke", "true": True}.items():
        yield RowShape(f"row:error-beside-{name}", _member(("result", "error"), value), wires=ANTHROPIC)
    odd: dict[str, Any] = {
        "null": None,
        "absent": ABSENT,
        "list": [],
        "text": "odd",
        "number": 7,
        "object": {},
        "error": error,
    }
    for name, value in odd.items():
        yield RowShape(f"row:message-{name}", _member(("result", "message"), value), wires=ANTHROPIC)
        yield RowShape(f"row:result-{name}", _member(("result",), value), wires=ANTHROPIC)


def _google_rows() -> Iterator[RowShape]:
    """Yield rows of Google whose members are wrong."""
    errors: dict[str, Any] = {
        "object": {"code": 13, "message": "broke"}, "text": "broke", "true": True, "list": [{"code": 13}], "number": 13,
    }  # fmt: skip
    for name, value in errors.items():
        yield RowShape(f"row:error-beside-{name}", _member(("error",), value), rest="either", wires=GOOGLE)
    codes: dict[str, Any] = {
        "digits": DIGITS, "text": "13", "huge": 10**30, "float": 13.5, "minus": -1, "null": None, "list": [],
        "true": True, "zero": 0, "word": "odd",
    }  # fmt: skip
    for name, value in codes.items():

        def failed(row: Row, value: Any = value) -> Row:
            return {"metadata": row["metadata"], "error": {"code": value, "message": "broke"}}

        yield RowShape(f"row:code-{name}", _one(failed), rest="either", wires=GOOGLE)
    odd: dict[str, Any] = {"null": None, "absent": ABSENT, "list": [], "text": "odd", "number": 7, "object": {}}
    for name, value in odd.items():
        yield RowShape(f"row:response-{name}", _member(("response",), value), rest="either", wires=GOOGLE)
        yield RowShape(f"row:metadata-{name}", _member(("metadata",), value), rest="either", wires=GOOGLE)


def _line_rows() -> Iterator[RowShape]:
    """Yield lines that are no JSON, or not one thing only."""
    lines = (*OPENAI, *ANTHROPIC)
    raw_lines: dict[str, Callable[[bytes], bytes]] = {
        "not-utf8": lambda line: line.replace(b"decoy", b"dec\xfcy"),
        "not-utf8-behind": lambda line: line[:-1] + b', "x": "\xff"}',
        "surrogate-bytes": lambda line: line.replace(b"decoy", b"d\xed\xa0\x80y"),
        "overlong": lambda line: line.replace(b"decoy", b"dec\xc0\xafy"),
        "half": lambda line: line[: len(line) // 2],
        "words": lambda _: b"<html>broke</html>",
        "digits": lambda _: DIGITS.encode(),
        "deep": lambda _: b"[" * 100_000,
        "nul": lambda line: line + b"\0",
        "two-on-a-line": lambda line: line + line,
        "comma": lambda line: line + b",",
        "number-digits": lambda line: line[:-1] + b', "x": ' + DIGITS.encode() + b"}",
    }
    for name, change in raw_lines.items():
        hit = _one(lambda row, change=change: change(_text(_wrong(row))))
        yield RowShape(f"line:{name}", hit, wires=lines)
        if name != "comma":  # it is not a part of a result where the results are a list
            yield RowShape(f"line:{name}", hit, rest="either", wires=GOOGLE)
    breaks = {"next-line": "\N{NEXT LINE}", "line-separator": "\N{LINE SEPARATOR}", "form-feed": "\\f", "return": "\\r"}
    for name, mark in breaks.items():

        def with_break(row: Row, mark: str = mark) -> bytes:
            return json.dumps({**row, "x": "MARK"}, ensure_ascii=False).replace("MARK", mark).encode()

        yield RowShape(f"line:break-{name}", _one(with_break), "answer", wires=lines)
    wrapped: dict[str, Callable[[Row], Any]] = {"list": lambda row: [row], "null": lambda _: None, "text": json.dumps}
    for name, wrap in wrapped.items():
        yield RowShape(f"line:{name}", _one(lambda row, wrap=wrap: _text(wrap(_wrong(row)))), wires=lines)
    yield RowShape("line:blank", lambda rows: [b"", *rows, b"  ", b""], "answer", wires=lines)
    yield RowShape(
        "line:last-cut", lambda rows: [*rows[:HIT], *rows[HIT + 1 :], _text(_wrong(rows[HIT]))[:-9]], wires=lines
    )


def _several_rows() -> Iterator[RowShape]:
    """Yield rows that stand twice, with one content or with two, or not at all."""
    same: dict[str, Callable[[Rows], Rows]] = {
        "behind": lambda rows: [*rows, rows[HIT]],
        "often": lambda rows: [*rows, *[rows[HIT]] * 50],
    }
    # Results are handed over as they are read, so that of several results of a job the first one counts.
    same["decoy-behind"] = lambda rows: [*rows, _wrong(rows[HIT])]
    same["decoys-behind"] = lambda rows: [*rows, *[_wrong(row) for row in rows]]
    for name, change in same.items():
        yield RowShape(f"rows:again-{name}", change, "answer")
    yield RowShape("rows:missing", lambda rows: [*rows[:HIT], *rows[HIT + 1 :]])
    yield RowShape("rows:none", lambda _: [], rest="error")
    yield RowShape("rows:reversed", lambda rows: rows[::-1], "answer")
    for vendor, path in _ID_PATHS.items():

        def moved(rows: Rows, path: tuple[str, ...] = path) -> Rows:
            """A decoy under the id of the job that is hit, whose own row is missing; another's content."""
            known = rows[HIT][path[0]] if len(path) == 1 else rows[HIT][path[0]][path[1]]
            return [changed(rows[0], path, known), *[row for place, row in enumerate(rows) if place != HIT]]

        # A vendor that gives one job the answer of another cannot be found out: it must only not be taken twice.
        yield RowShape("rows:other-content", moved, "any", rest="answer", wires=_VENDOR_WIRES[vendor])
    for first in (True, False):
        for vendor, path in _ID_PATHS.items():

            def twice(row: Row, path: tuple[str, ...] = path, *, first: bool = first) -> Any:
                return doubled(_wrong(row), path, "another-request", first=first)

            rest: Expected = "either" if vendor == "google" else "answer"
            yield RowShape(f"rows:id-twice-{first}", _one(twice), rest=rest, wires=_VENDOR_WIRES[vendor])


_STOPS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "openai-responses": (("response", "body", "status"), "incomplete"),
    "openai-chat": (("response", "body", "choices", 0, "finish_reason"), "length"),
    "anthropic": (("result", "message", "stop_reason"), "max_tokens"),
    "google": (("response", "candidates", 0, "finishReason"), "MAX_TOKENS"),
}


def _doubled_rows() -> Iterator[RowShape]:
    """Yield rows in which a member stands twice."""
    for wire, (path, value) in _STOPS.items():
        for first in (True, False):

            def twice(row: Row, path: tuple[Any, ...] = path, value: Any = value, *, first: bool = first) -> Any:
                return doubled(_wrong(row), path, value, first=first)

            rest: Expected = "either" if wire == "google" else "answer"
            yield RowShape(f"row:stop-twice-{first}", _one(twice), rest=rest, wires=(wire,))


def row_shapes() -> list[RowShape]:
    """Return the shapes of results."""
    tables = (_id_rows, _openai_rows, _anthropic_rows, _google_rows, _line_rows, _several_rows, _doubled_rows)
    return [each for table in tables for each in table()]


def rewrite(wire: str, body: bytes, change: Callable[[Rows], Rows]) -> bytes:
    """Return the results of a batch with other rows."""
    if wire != "google":
        rows = [json.loads(line) for line in body.splitlines() if line.strip()]
        return b"\n".join(map(_text, change(rows))) + b"\n"
    whole = json.loads(body)
    rows = whole.get("metadata", {}).get("output", {}).get("inlinedResponses", {}).get("inlinedResponses", [])
    if not rows:
        return body
    whole["metadata"]["output"]["inlinedResponses"]["inlinedResponses"] = ["ROWS"]
    return json.dumps(whole).encode().replace(b'"ROWS"', b", ".join(map(_text, change(rows))))


def with_bodies(wire: str, bodies: dict[int, Any]) -> Callable[[Rows], Rows]:
    """Return a change that gives jobs other answers, by their numbers."""
    where = {"anthropic": ("result", "message"), "google": ("response",)}.get(wire, ("response", "body"))

    def change(rows: Rows) -> Rows:
        return [changed(row, where, bodies[place]) if place in bodies else row for place, row in enumerate(rows)]

    return change


# --- what is said of a batch ---


@dataclass(frozen=True)
class StepShape:
    """An answer to one step that says something odd of a batch or of a file."""

    name: str
    step: str
    change: Callable[[Any], Any] = field(repr=False)
    expected: Expected = "either"
    wires: tuple[str, ...] = BATCH_WIRES


_NAMES: dict[str, Any] = {
    "null": None, "absent": ABSENT, "number": 7, "empty": "", "list": ["x"], "long": "x" * 100_000, "digits": DIGITS,
    "surrogate": "\ud800", "up": "../../v1/files", "slashes": "//localhost/x", "query": "x?limit=1#y",
    "address": "http://localhost:1/x", "at": "@localhost", "lines": "x\r\nX-Odd: y", "nul": "x\0y", "blank": " ",
    "dots": "..", "encoded": "%2e%2e%2f", "backslash": "..\\..\\x", "words": "a b c",
}  # fmt: skip
"""Names of files and batches that lead elsewhere if they are put into a path as they are."""
_STATES: dict[str, Any] = {
    "null": None, "absent": ABSENT, "unknown": "odd", "number": 1, "true": True, "list": ["completed"], "empty": "",
    "long": "x" * 5000, "upper": "COMPLETED", "surrogate": "\ud800",
}  # fmt: skip


def _set(path: tuple[Any, ...], value: Any) -> Callable[[Any], Any]:
    return lambda body: changed(body, path, value)


_STATE_PATHS = {"openai": ("status",), "anthropic": ("processing_status",), "google": ("metadata", "state")}
_NAME_PATHS = {"openai": ("id",), "anthropic": ("id",), "google": ("name",)}
_STEP_WIRES = {"openai": ("openai-responses",), "anthropic": ANTHROPIC, "google": GOOGLE}
_COUNTS: dict[str, Any] = {
    "null": None, "absent": ABSENT, "list": [1], "text": "many", "digits": {"completed": DIGITS, "succeeded": DIGITS},
    "huge": {"completed": 10**400, "failed": -1, "total": 1e308}, "nested": {"completed": {"x": []}},
}  # fmt: skip
_TIMES: dict[str, Any] = {
    "huge": 10**30, "minus": -(10**15), "float": 1e308, "digits": DIGITS, "words": "yesterday", "null": None,
    "year": "99999-01-01T00:00:00Z", "list": [], "true": True, "zone": "2026-01-01T00:00:00+99:99",
}  # fmt: skip


def _of_another(path: tuple[str, ...], body: Any) -> Any:
    """Return the state of another batch, with results of its own."""
    return changed(json.loads(with_decoys(json.dumps(body).encode())), path, "batches/other")


def _named_steps() -> Iterator[StepShape]:
    """Yield batches and files whose names, states, counts and times are odd."""
    for vendor, only in _STEP_WIRES.items():
        for name, value in _NAMES.items():
            for step in ("create", "status"):
                yield StepShape(f"{step}:name-{name}", step, _set(_NAME_PATHS[vendor], value), wires=only)
        yield StepShape("status:name-other", "status", partial(_of_another, _NAME_PATHS[vendor]), wires=only)
        for name, value in _STATES.items():
            yield StepShape(f"status:state-{name}", "status", _set(_STATE_PATHS[vendor], value), wires=only)
        for name, value in _TIMES.items():
            path = ("metadata", "createTime") if vendor == "google" else ("created_at",)
            yield StepShape(f"status:time-{name}", "status", _set(path, value), wires=only)
    for name, value in _NAMES.items():
        yield StepShape(f"upload:name-{name}", "upload", _set(("id",), value), wires=("openai-responses",))
        yield StepShape(f"status:file-{name}", "status", _set(("output_file_id",), value), wires=("openai-responses",))
    for name, value in _COUNTS.items():
        counted = ("openai-responses", "anthropic")
        yield StepShape(f"status:counts-{name}", "status", _set(("request_counts",), value), wires=counted)


_LISTS: dict[str, Any] = {
    "null": None, "absent": ABSENT, "text": "odd", "number": 7, "object": {}, "numbers": [1, 2], "nulls": [None],
    "lists": [[]], "bare": [{}],
}  # fmt: skip


def _listed_steps() -> Iterator[StepShape]:
    """Yield lists of batches that are odd. They are asked for where nobody knows if a batch was made."""
    for vendor, only in _STEP_WIRES.items():
        key = "operations" if vendor == "google" else "data"
        for name, value in _LISTS.items():
            yield StepShape(f"list:data-{name}", "list", _set((key,), value), wires=only)
        for name, value in _TIMES.items():
            path = ("metadata", "createTime") if vendor == "google" else ("created_at",)

            def timed(body: Any, key: str = key, path: tuple[str, ...] = path, value: Any = value) -> Any:
                return {**body, key: [changed(each, path, value) for each in body[key]]}

            yield StepShape(f"list:time-{name}", "list", timed, wires=only)
        for name, value in _NAMES.items():

            def named(body: Any, key: str = key, path: Any = _NAME_PATHS[vendor], value: Any = value) -> Any:
                return {**body, key: [changed(each, path, value) for each in body[key]]}

            yield StepShape(f"list:name-{name}", "list", named, wires=only)
    yield StepShape(
        "list:for-ever", "list", lambda body: {**body, "has_more": True}, wires=("openai-responses", "anthropic")
    )
    yield StepShape("list:for-ever", "list", lambda body: {**body, "nextPageToken": "again"}, wires=GOOGLE)


def step_shapes() -> list[StepShape]:
    """Return the shapes of what is said of batches."""
    return [*_named_steps(), *_listed_steps()]
