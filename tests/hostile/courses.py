"""One run: a shape on a wire, in a mode and at a step, and what the vendor answers during it.

A run has a mark, which stands in its prompt and in the ids that the vendor makes, so that any number of runs may be
under way at one server.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.hostile.batches import (
    BATCH_WIRES,
    HIT,
    JOBS,
    STEPS,
    BatchVendor,
    RowShape,
    StepShape,
    results_step,
    rewrite,
    step_of,
    with_bodies,
    with_decoys,
)
from tests.hostile.shapes import Ask, Expected, Shape
from tests.hostile.vendor import Received, Script, http
from tests.hostile.wires import TEXT, unary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LIVE = ("sync", "async", "stream", "astream")
BACKGROUND = ("background", "abackground")
MODES = (*LIVE, *BACKGROUND, "batch")
ASYNC = ("async", "astream", "abackground", "batch")
BACKGROUND_WIRE = "openai-responses"
_MARK = re.compile(rb"run-(\d+)-")


@dataclass(frozen=True)
class Addresses:
    """Where the vendor and a stranger are, and the vendor under another name."""

    here: str
    elsewhere: str
    alias: str


@dataclass(frozen=True)
class Run:
    """One shape on one wire in one mode, and, if an exchange has several steps, at one of them.

    ``rows`` are the answers of jobs of a batch, each of which is another shape.
    """

    shape: Shape | RowShape | StepShape | None
    wire: str
    mode: str
    step: str = ""
    rows: tuple[Shape, ...] = ()

    def __str__(self) -> str:
        name = self.shape.name if self.shape is not None else f"{len(self.rows)} answers from {self.rows[0].name}"
        return f"{name} {self.wire} {self.mode}{f' at {self.step}' if self.step else ''}"

    def name(self, job: int) -> str:
        """Return the name of a job of the run."""
        if self.rows:
            return f"{self} {self.rows[job].name}"
        return f"{self} job {job}" if self.jobs > 1 else str(self)

    @property
    def is_upload(self) -> bool:
        """Whether it is about a large request, which may never come to its end."""
        return isinstance(self.shape, Shape) and self.shape.upload

    @property
    def may_time_out(self) -> bool:
        """Whether a call may end by its timeout: if none ends by itself, or if the vendor says that it was late."""
        name = self.shape.name if self.shape is not None else ""
        return self.mode == "batch" or name.startswith(("status:", "trickle:", "flood:"))

    @property
    def jobs(self) -> int:
        """How many documents are asked for: of large requests, one."""
        return len(self.rows) or (JOBS if self.mode == "batch" and not self.is_upload else 1)

    def document(self, job: int) -> dict[str, Any]:
        """Return the right document of a job."""
        document: dict[str, Any] = json.loads(TEXT)
        return {**document, "n": job} if self.mode == "batch" and not self.rows else document

    def expected(self, job: int) -> Expected:
        """Return what may come of a job."""
        if self.rows:
            return self.rows[job].expected
        match self.shape:
            case RowShape():
                return self.shape.expected if job == HIT else self.shape.rest
            case Shape() if self.mode == "batch" or self.step == "create":
                # A step may be repeated, so that the right answer may come in spite of a shape, but never a decoy.
                return "either" if self.shape.expected == "error" else self.shape.expected
            case Shape() | StepShape():
                return self.shape.expected
            case None:
                raise AssertionError

    def said(self, job: int) -> bool:
        """Return whether the vendor said what a job cost."""
        shape = self.rows[job] if self.rows else self.shape
        return isinstance(shape, Shape) and shape.said and self.step in ("", "poll", "rows")


@dataclass
class Course:
    """What a vendor answers during one run, and what it received."""

    run: Run
    number: int
    addresses: Addresses
    received: list[Received] = field(default_factory=list[Received])
    strange: list[str] = field(default_factory=list[str])
    """What came to another origin."""
    batches: BatchVendor = field(init=False)
    met: int = 0
    began: tuple[float, float] = (0.0, 0.0)
    """When the measured part of the run began, by each of the clocks that measure it."""
    on_status: Callable[[], object] = lambda: None
    """Called when the vendor is asked for the state of a batch, in a thread of the server."""

    def __post_init__(self) -> None:
        self.batches = BatchVendor(self.run.wire)

    @property
    def mark(self) -> str:
        """The mark of the run."""
        return f"run-{self.number}-"

    def prompt(self, job: int) -> str:
        """Return the prompt of a job."""
        return f"Now? {self.mark} job-{job}-"

    @property
    def again(self) -> int:
        """How many requests there were that pay for an answer once more."""
        if self.run.mode == "batch":
            return max(0, self.batches.created - 1) if self.run.step != "list" else 0
        paid = [each for each in self.received if each.method == "POST"]
        return len(paid) - 1

    def answer(self, received: Received) -> Script:
        """Answer a request."""
        self.received.append(replace(received, body=received.body[:4096]))
        if self.run.mode == "batch":
            return self._batch(received)
        if self.run.mode in BACKGROUND:
            return self._background(received)
        return self._hostile(None, offered_tool(received.body))

    def _hostile(self, body: bytes | None, tool: str = "answer", *, decoy: bool = True) -> Script:
        """Answer with the shape. If nothing may come of it, what is good in it is a decoy."""
        self.met += 1
        shape, here = self._shape, self.addresses
        streams = self.run.mode in ("stream", "astream")
        decoy = decoy and shape.expected == "error"
        return shape.script(Ask(self.run.wire, streams, here.here, here.elsewhere, here.alias, body, decoy, tool))

    @property
    def _shape(self) -> Shape:
        assert isinstance(self.run.shape, Shape)
        return self.run.shape

    def _background(self, received: Received) -> Script:
        """Take a request, and have its answer ready at the first poll."""
        own_id = f"resp_{self.mark}"
        pending = json.dumps({**unary(BACKGROUND_WIRE), "id": own_id, "status": "queued", "output": [], "usage": None})
        step = "create" if received.method == "POST" else "poll"
        ready = json.dumps({**unary(BACKGROUND_WIRE), "id": own_id})
        body = (pending if step == "create" else ready).encode()
        if step != self.run.step:
            return Script([http(body)])
        if self._shape.steps:
            return self._hostile(body)
        # What is an answer of its own has an id of its own, which here must be the one that was asked for.
        script = self._hostile(None)
        return Script([_with_id(piece, own_id) for piece in script.pieces], script.reset)

    def _batch(self, received: Received) -> Script:
        step, run = step_of(received), self.run
        if step == "status":
            self.on_status()
        body = self.batches.answer(received, step)
        if run.step == "list" and step == "create":
            return Script([], reset=True)  # only then a vendor is asked for its batches
        if step != run.step and not (run.step == "rows" and step == results_step(run.wire)):
            return Script([http(body)])
        match run.shape:
            case Shape():
                return self._step(body, step)
            case StepShape():
                made = json.dumps(run.shape.change(json.loads(body))).encode()
            case RowShape():
                made = rewrite(run.wire, body, run.shape.change)
            case None:
                made = rewrite(run.wire, body, with_bodies(run.wire, _bodies(run)))
        self.met += made != body
        return Script([http(made)])

    def _step(self, body: bytes, step: str) -> Script:
        """Answer a step with a shape the first time, and then well, unless it is one that never ends."""
        shape = self._shape
        if self.met and not shape.name.startswith(("trickle:", "flood:")):
            return Script([http(body)])
        decoy = shape.expected == "error" and not (shape.begins and step == "results")
        return self._hostile(with_decoys(body) if decoy else body, decoy=decoy)


def _bodies(run: Run) -> dict[int, Any]:
    """Return the answer of each job of a batch whose answers are shapes."""
    return {job: shape.body(run.wire) for job, shape in enumerate(run.rows) if shape.body is not None}


def _with_id(piece: bytes | float, own_id: str) -> bytes | float:
    if not isinstance(piece, bytes):
        return piece
    head, blank, body = piece.partition(b"\r\n\r\n")
    right = body.replace(b'"id": "resp_1"', f'"id": "{own_id}"'.encode())
    length = f"Content-Length: {len(body)}".encode()
    return head.replace(length, f"Content-Length: {len(right)}".encode()) + blank + right


def number_in(received: Received) -> int | None:
    """Return the number of the run that a request belongs to."""
    found = _MARK.search(received.head) or _MARK.search(received.body)
    return int(found[1]) if found else None


def offered_tool(body: bytes) -> str:
    """Return the name of the tool that a request offers."""
    if b'"tools"' not in body:
        return "answer"
    asked = json.loads(body)
    tool = (asked.get("tools") or asked["toolConfig"]["tools"])[0]
    named = tool.get("function") or tool.get("toolSpec") or tool
    return str(named["name"])


# --- which runs there are ---


def live_runs(shapes: Sequence[Shape]) -> Iterator[Run]:
    """Yield the runs of shapes on every wire that they are for, streamed and not."""
    for shape in shapes:
        for wire in shape.wires:
            for mode in LIVE:
                if not shape.streams or mode in ("stream", "astream"):
                    yield Run(shape, wire, mode)


def background_runs(shapes: Sequence[Shape]) -> Iterator[Run]:
    """Yield the runs of shapes on the wire that has answers in the background."""
    for shape in shapes:
        if BACKGROUND_WIRE not in shape.wires or shape.streams or shape.tool:
            continue
        for mode in BACKGROUND:
            yield Run(shape, BACKGROUND_WIRE, mode, "poll")
            if shape.steps:
                yield Run(shape, BACKGROUND_WIRE, mode, "create")


def step_runs(shapes: Sequence[Shape | StepShape], *, cancel: bool = False) -> Iterator[Run]:
    """Yield the runs of shapes at every step of a batch. Only with ``cancel``, batches are cancelled."""
    for shape in shapes:
        if isinstance(shape, StepShape):
            yield from (Run(shape, wire, "batch", shape.step) for wire in shape.wires)
            continue
        for wire, steps in STEPS.items():
            if shape.steps and wire in shape.wires:
                yield from (Run(shape, wire, "batch", step) for step in steps if cancel or step != "cancel")


_ROWS = 100
"""How many answers a batch has, if each of them is another shape."""


def row_runs(shapes: Sequence[Shape], rows: Sequence[RowShape]) -> Iterator[Run]:
    """Yield the runs of batches whose results are wrong."""
    for row in rows:
        yield from (Run(row, wire, "batch", "rows") for wire in row.wires)
    for wire in BATCH_WIRES:
        answers = [each for each in shapes if each.body is not None and wire in each.wires and not each.tool]
        for at in range(0, len(answers), _ROWS):
            yield Run(None, wire, "batch", "rows", tuple(answers[at : at + _ROWS]))


def alone(run: Run) -> list[Run]:
    """Return the runs of each answer of a batch by itself."""
    return [replace(run, rows=(shape,)) for shape in run.rows]
