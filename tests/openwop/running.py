"""Runs of the conformance fixtures: the library's own emission, against the simulator that plays the program."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from emitter import EmissionError, Policy, emit
from emitter.accept import Acceptor, Rules
from emitter.accept.replay import REPLAY_DIVERGED_AT_REFUSAL, diverged
from emitter.events import NodeCompleted, NodeFailed, ReplayDivergedAtRefusal
from emitter.kinds.document import DOCUMENT
from emitter.otel import to_otel
from emitter.sinks import Recorder, new_id
from emitter.testing import simulator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace import TracerProvider

    from emitter.accept import AIEnvelope, Context
    from emitter.store.log import Store
    from tests.openwop.mock_ai import Programs

FOLDER = Path(__file__).parents[2] / ".." / "shared" / "vectors" / "openwop-fixtures"

needs_fixtures = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/vectors/openwop-fixtures is absent")

MODEL, WIRE = "openai/mock-mini", "openai-chat"
"""Over which wire the mock model is reached: the library has no vendor of that name, and tells the wire's own."""

STRUCTURED: Final = "core.ai.structuredOutput"
INSUFFICIENT: Final = "conformance.modelCapability.insufficient"
_RUNNABLE = {STRUCTURED, INSUFFICIENT}


def fixtures() -> dict[str, Any]:
    """Return the workflows that this host can run, by id: those of one node that asks a model."""
    if not FOLDER.is_dir():
        return {}
    given = [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    return {each["id"]: each for each in given if {node["typeId"] for node in each["nodes"]} <= _RUNNABLE}


class Unknown(LookupError):
    """There is no such workflow, or no such run."""


@dataclass
class Run:
    """One run: which workflow, and how it ended."""

    workflow_id: str
    status: str = "running"
    error: dict[str, Any] | None = None


@dataclass
class Runs:
    """The runs of a host."""

    store: Store
    programs: Programs
    tracers: TracerProvider | None = None
    known: dict[str, Run] = field(default_factory=dict[str, Run])

    def start(self, workflow_id: str) -> dict[str, Any]:
        """Run a workflow to its end; raises ``Unknown`` where there is none of that id."""
        node = _node(workflow_id)
        run_id = new_id()
        run = self.known[run_id] = Run(workflow_id)
        try:
            self._perform(node, run_id)
        except EmissionError as error:
            run.status, run.error = "failed", {"code": error.code, "message": str(error)}
        else:
            run.status = "completed"
        return {"runId": run_id, "status": run.status}

    def snapshot(self, run_id: str) -> dict[str, Any]:
        """Return how a run stands."""
        run = self._run(run_id)
        error = {} if run.error is None else {"error": run.error}
        return {"runId": run_id, "workflowId": run.workflow_id, "status": run.status, **error}

    def events(self, run_id: str) -> list[Mapping[str, Any]]:
        """Return what was told of a run."""
        self._run(run_id)
        return list(self.store.events(run_id))

    def fork(self, source_id: str) -> dict[str, Any]:
        """Run a workflow again, and hold what is told against the first run."""
        workflow_id = self._run(source_id).workflow_id
        node, made = _node(workflow_id), self.start(workflow_id)
        run_id, run = made["runId"], self.known[made["runId"]]
        for each in diverged(self.store.events(source_id), self.store.events(run_id)):
            tell = Recorder(run_id, node["id"], f"{run_id}:{node['id']}", store=self.store)
            tell(each)
            if isinstance(each, ReplayDivergedAtRefusal):
                message = "The replay was refused where the run was not, or the other way round."
                tell(NodeFailed(REPLAY_DIVERGED_AT_REFUSAL, message))
                run.status, run.error = "failed", {"code": REPLAY_DIVERGED_AT_REFUSAL, "message": message}
        return {**made, "status": run.status, "sourceRunId": source_id}

    def _run(self, run_id: str) -> Run:
        if run_id not in self.known:
            raise Unknown
        return self.known[run_id]

    def _perform(self, node: Mapping[str, Any], run_id: str) -> None:
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
                    host=Acceptor(Rules(handlers={DOCUMENT: _completed}), self.store),
                    sink=spans,
                    run_id=run_id,
                    node_id=node["id"],
                )
            finally:
                bodies: list[Any] = [each.body for each in vendor.calls]
                self.programs.asked[node["id"]] += [each["max_completion_tokens"] for each in bodies]


def _node(workflow_id: str) -> dict[str, Any]:
    """Return the one node of a workflow."""
    known = fixtures()
    if workflow_id not in known:
        raise Unknown
    return known[workflow_id]["nodes"][0]


def _completed(envelope: AIEnvelope, _: Context) -> tuple[NodeCompleted]:
    """Tell the document itself, which is what the node is for."""
    return (NodeCompleted({"data": envelope.payload["document"], "envelopeId": envelope.envelope_id}),)
