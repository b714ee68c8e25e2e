"""Runs of the conformance fixtures: the library's own emission, against the simulator that plays the program.

What a run is made of beside its nodes (its own events, a chain of nodes that do nothing, a person's answer) is an
engine's, which the library is not: as much of it stands here as the protocol's suite asks for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import pytest

from emitter import EmissionError, Policy, emit
from emitter.events import CapBreached, NodeCompleted, NodeFailed, ReplayDivergedAtRefusal
from emitter.host import Acceptor, EnvelopeContext, HostConfig, Secrets
from emitter.host.replay import REPLAY_DIVERGED_AT_REFUSAL, find_divergence_events
from emitter.models import DOCUMENT
from emitter.telemetry import to_otel
from emitter.telemetry.sinks import EventRecorder, generate_id, utc_timestamp
from emitter.testing import Text, simulator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace import TracerProvider

    from emitter.host import AIEnvelope
    from emitter.stores.protocol import Store
    from tests.openwop.mock_ai import Programs

FOLDER = Path(__file__).parents[2] / ".." / "shared" / "vectors" / "openwop-fixtures"

needs_fixtures = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/vectors/openwop-fixtures is absent")

MODEL, WIRE = "openai/mock-mini", "openai-chat"
"""Over which wire the mock model is reached: the library has no vendor of that name, and tells the wire's own."""

STRUCTURED: Final = "core.ai.structuredOutput"
INSUFFICIENT: Final = "conformance.modelCapability.insufficient"
NOOP: Final = "core.noop"
CLARIFICATION: Final = "core.clarificationGate"
SECRET: Final = "conformance.secret.echo"
_RUNNABLE = {STRUCTURED, INSUFFICIENT, NOOP, CLARIFICATION, SECRET}
_ENVELOPES = "conformance-envelope-"
_QUESTION: Final = {"id": "q1", "question": "Which colour?"}
_WAITING: Final = "waiting-input"

FOLDER_FIXTURES: Final = (
    *(
        f"{_ENVELOPES}{each}"
        for each in (
            "nl-to-format-engaged",
            "recovery-applied",
            "refusal",
            "retry-attempted",
            "retry-exhausted",
            "truncated",
            "truncation-cap-exhaustion",
        )
    ),
    "conformance-model-capability-insufficient",
)
"""The fixtures whose definitions stand in the folder, and are not part of this repository."""


def _workflow(name: str, type_id: str, *nodes: str) -> dict[str, Any]:
    return {"id": name, "nodes": [{"id": each, "typeId": type_id, "config": {}, "inputs": {}} for each in nodes]}


OWN: Final = {
    each["id"]: each
    for each in (
        _workflow("conformance-noop", NOOP, "noop"),
        _workflow("conformance-clarification", CLARIFICATION, "ask"),
        _workflow("conformance-cap-breach", NOOP, *(f"n{number}" for number in range(1, 7))),
        _workflow("openwop-smoke-byok-roundtrip", SECRET, "echo"),
    )
}
"""The fixtures that this host defines itself, from what the suite says of them."""


def fixtures() -> dict[str, Any]:
    """Return the workflows that this host can run, by id: its own, and those of the folder where that is at hand."""
    given = [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    known = {each["id"]: each for each in given if {node["typeId"] for node in each["nodes"]} <= _RUNNABLE}
    return {**OWN, **known}


def absent() -> tuple[str, ...]:
    """Return the fixtures that this host could run and whose definitions are not at hand."""
    known = fixtures()
    return tuple(each for each in FOLDER_FIXTURES if each not in known)


class Unknown(LookupError):
    """There is no such workflow, or no such run; it says which."""

    def __init__(self, what: str = "There is no such thing here.") -> None:
        super().__init__(what)


class NotWaiting(Exception):
    """The run waits for no answer of this node, or the answer is none."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run has begun."""

    type: ClassVar[str] = "run.started"
    workflow_id: str


@dataclass(frozen=True, slots=True)
class RunCompleted:
    """A run has come to its end."""

    type: ClassVar[str] = "run.completed"
    outputs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class RunFailed:
    """A run has failed."""

    type: ClassVar[str] = "run.failed"
    error: Mapping[str, Any]
    failed_node_id: str


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A node has begun."""

    type: ClassVar[str] = "node.started"


class Failed(Exception):
    """A node failed, and so its run."""

    def __init__(self, code: str, message: str, node_id: str) -> None:
        super().__init__(message)
        self.code, self.node_id = code, node_id


@dataclass
class Run:
    """One run: which workflow, how it stands, the node that it waits at, and what its nodes left."""

    workflow_id: str
    status: str = "running"
    error: dict[str, Any] | None = None
    waits_at: str | None = None
    variables: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Runs:
    """The runs of a host."""

    store: Store
    programs: Programs
    tracers: TracerProvider | None = None
    canary: str | None = None
    known: dict[str, Run] = field(default_factory=dict[str, Run])

    def start(
        self, workflow_id: str, configurable: Mapping[str, Any] | None = None, source_id: str | None = None
    ) -> dict[str, Any]:
        """Run a workflow to its end, or until it waits; raises ``Unknown`` where there is none of that id.

        Where it replays the run ``source_id``, what is reported is held against that before it ends.
        """
        nodes = _nodes(workflow_id)
        run_id = generate_id()
        run = self.known[run_id] = Run(workflow_id)
        self._tell(run_id, nodes[0]["id"], RunStarted(workflow_id))
        try:
            for count, node in enumerate(nodes, 1):
                self._bounded(run_id, node["id"], count, configurable or {})
                self._started(run_id, run, node)
            failure = None
        except Failed as error:
            failure = error
        if source_id is not None:
            failure = self._compared(source_id, run_id, nodes[0]["id"]) or failure
        if failure is not None:
            self._failed(run_id, run, failure)
        elif run.waits_at is None:
            self._completed(run_id, run, nodes[-1]["id"])
        return {"runId": run_id, "status": run.status}

    def resume(self, run_id: str, node_id: str, answers: Any) -> dict[str, Any]:
        """Go on with a person's answers; raises ``NotWaiting`` where nobody asked, or for what answers nothing."""
        run = self._run(run_id)
        said = answers.get("answers") if isinstance(answers, dict) else None
        if run.waits_at != node_id or not isinstance(said, dict) or not isinstance(said.get(_QUESTION["id"]), str):
            raise NotWaiting
        run.waits_at = None
        self._tell(run_id, node_id, NodeCompleted({"answers": said}))
        self._completed(run_id, run, node_id)
        return self.snapshot(run_id)

    def snapshot(self, run_id: str) -> dict[str, Any]:
        """Return how a run stands."""
        run = self._run(run_id)
        error = {} if run.error is None else {"error": run.error}
        waits = {} if run.waits_at is None else {"currentNodeId": run.waits_at}
        left = {"variables": run.variables} if run.variables else {}
        return {"runId": run_id, "workflowId": run.workflow_id, "status": run.status, **error, **waits, **left}

    def events(self, run_id: str) -> list[Mapping[str, Any]]:
        """Return what was reported a run."""
        self._run(run_id)
        return list(self.store.events(run_id))

    def fork(self, source_id: str) -> dict[str, Any]:
        """Run a workflow again, and hold what is reported against the first run."""
        made = self.start(self._run(source_id).workflow_id, source_id=source_id)
        return {**made, "sourceRunId": source_id}

    def _compared(self, source_id: str, run_id: str, node_id: str) -> Failed | None:
        """Tell where a replay diverges from its source, and return the failure that a flipped refusal is."""
        failure = None
        for each in find_divergence_events(self._of_nodes(source_id), self._of_nodes(run_id)):
            self._tell(run_id, node_id, each)
            if isinstance(each, ReplayDivergedAtRefusal):
                message = "The replay was refused where the run was not, or the other way round."
                self._tell(run_id, node_id, NodeFailed(REPLAY_DIVERGED_AT_REFUSAL, message))
                failure = Failed(REPLAY_DIVERGED_AT_REFUSAL, message, node_id)
        return failure

    def _run(self, run_id: str) -> Run:
        if run_id not in self.known:
            raise Unknown
        return self.known[run_id]

    def _of_nodes(self, run_id: str) -> list[Mapping[str, Any]]:
        return [each for each in self.store.events(run_id) if not str(each["type"]).startswith("run.")]

    def _tell(self, run_id: str, node_id: str, event: Any) -> None:
        EventRecorder(run_id, node_id, f"{run_id}:{node_id}", store=self.store)(event)

    def _completed(self, run_id: str, run: Run, node_id: str) -> None:
        run.status = "completed"
        self._tell(run_id, node_id, RunCompleted(run.variables))

    def _failed(self, run_id: str, run: Run, error: Failed) -> None:
        run.status, run.error = "failed", {"code": error.code, "message": str(error)}
        self._tell(run_id, error.node_id, RunFailed(run.error, error.node_id))

    def _bounded(self, run_id: str, node_id: str, count: int, configurable: Mapping[str, Any]) -> None:
        """Refuse a node beyond the limit of its run, before it begins."""
        limit = configurable.get("recursionLimit")
        if isinstance(limit, int) and count > limit:
            self._tell(run_id, node_id, CapBreached("node-executions", limit, count))
            raise Failed("recursion_limit_exceeded", f"The run may execute {limit} nodes.", node_id)

    def _started(self, run_id: str, run: Run, node: Mapping[str, Any]) -> None:
        kind, node_id = node["typeId"], node["id"]
        if kind == NOOP:
            self._tell(run_id, node_id, NodeStarted())
            self._tell(run_id, node_id, NodeCompleted())
        elif kind == CLARIFICATION:
            self._ask(run_id, run, node_id)
        elif kind == SECRET:
            self._echo(run_id, run, node)
        else:
            self._perform(_programmed(run.workflow_id, node, self.programs), run_id)

    def _ask(self, run_id: str, run: Run, node_id: str) -> None:
        """Have the host take a question to the principal, which lifts it to an interrupt."""
        given = {
            "type": "clarification.request",
            "schemaVersion": 1,
            "correlationId": f"{run_id}:{node_id}:0:ask",
            "payload": {"questions": [_QUESTION]},
            "meta": {"source": "ai-generation", "ts": utc_timestamp()},
        }
        found = Acceptor(store=self.store).accept(given, EnvelopeContext(run_id, node_id))
        assert found.status == "accepted", found.outcome
        run.status, run.waits_at = _WAITING, node_id

    def _echo(self, run_id: str, run: Run, node: Mapping[str, Any]) -> None:
        """Emit with a model that repeats a secret that the host resolved; leave its digest and its length alone."""
        if self.canary is None:
            raise Failed("credential_unavailable", "No canary secret was provisioned.", node["id"])
        form = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        rules = HostConfig(secrets=Secrets.of({"openwop-conformance-canary-secret": self.canary}))
        with simulator() as vendor, to_otel(self.tracers, node_type=node["typeId"]) as spans:
            vendor.script(Text({"text": f"The key is {self.canary}."}))
            emit(
                form,
                f"Say {self.canary}.",
                model=MODEL,
                wire=WIRE,
                client=vendor.client(MODEL, verify=False),
                host=Acceptor(rules, self.store),
                on_event=spans,
                run_id=run_id,
                node_id=node["id"],
            )
        secret = self.canary.encode()
        run.variables = {"secretSha256": hashlib.sha256(secret).hexdigest(), "secretLength": len(secret)}

    def _perform(self, node: Mapping[str, Any], run_id: str) -> None:
        try:
            self._emit(node, run_id)
        except EmissionError as error:
            raise Failed(error.code, str(error), node["id"]) from error

    def _emit(self, node: Mapping[str, Any], run_id: str) -> None:
        config = node["config"]
        with simulator() as vendor, to_otel(self.tracers, node_type=node["typeId"]) as spans:
            vendor.script(*self.programs.take(node["id"]))
            try:
                emit(
                    config.get("outputSchema", {"type": "object", "additionalProperties": False}),
                    node["inputs"].get("messages", {}).get("value", "Run."),
                    model=MODEL,
                    provider_ids={"openai": "mock"},
                    wire=WIRE,
                    client=vendor.client(MODEL, verify=False),
                    policy=Policy(output_tokens=config.get("maxTokens"), nl_to_format=True),
                    requires=["nonexistent-capability-9b3f"] if node["typeId"] == INSUFFICIENT else [],
                    host=Acceptor(HostConfig(handlers={DOCUMENT: _completed}), self.store),
                    on_event=spans,
                    run_id=run_id,
                    node_id=node["id"],
                )
            finally:
                bodies: list[Any] = [each.body for each in vendor.calls]
                self.programs.asked[node["id"]] += [each["max_completion_tokens"] for each in bodies]


def _nodes(workflow_id: str) -> list[dict[str, Any]]:
    """Return the nodes of a workflow, in order."""
    known = fixtures()
    if workflow_id in FOLDER_FIXTURES and workflow_id not in known:
        raise Unknown(f"The definition of {workflow_id} is not at hand: {FOLDER} is absent.")
    if workflow_id not in known:
        raise Unknown
    return known[workflow_id]["nodes"]


def _programmed(workflow_id: str, node: Mapping[str, Any], programs: Programs) -> Mapping[str, Any]:
    """Return the node under the id that it was programmed by.

    Newer releases of the suite give each of these fixtures a node of its own: ``truncated-structured-call`` where
    there was ``structured-call``.
    """
    newer = f"{workflow_id.removeprefix(_ENVELOPES)}-{node['id']}"
    return {**node, "id": newer} if newer in programs.queued else node


def _completed(envelope: AIEnvelope, _: EnvelopeContext) -> tuple[NodeCompleted]:
    """Tell the document itself, which is what the node is for."""
    return (NodeCompleted({"data": envelope.payload["document"], "envelopeId": envelope.envelope_id}),)
