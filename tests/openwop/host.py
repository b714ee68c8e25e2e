"""A host of OpenWOP's test seams: what the protocol's own suite asks over HTTP, answered by this library.

The seams are those of OpenWOP's sample host, under ``/v1/host/sample``; runs and their events under ``/v1/runs``.
Whatever is decided is decided by the library: here words are carried from the seam to its public names and back.
``python -m tests.openwop`` serves it, so that the suite can be pointed at it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from emitter.host import Acceptor
from emitter.host.observability import build_debug_bundle, observe_acceptances
from emitter.host.outcomes import HttpError
from emitter.stores import MemoryStore
from tests.openwop import accepting, seams
from tests.openwop.mock_ai import Programs
from tests.openwop.running import NotWaiting, Runs, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.stores.protocol import Store

SAMPLE: Final = "/v1/host/sample"
_ENVELOPES = "host.aiEnvelope.supported"


class Refused(Exception):
    """The request cannot be answered; ``error`` is the body that says so."""

    def __init__(self, status: int, error: HttpError) -> None:
        super().__init__(error.message)
        self.status, self.error = status, error


@dataclass(frozen=True)
class Asked:
    """One request: what its path names, its query, and its body."""

    named: Mapping[str, str]
    query: Mapping[str, str]
    body: Any


@dataclass
class Host:
    """The host, whatever asks it: the wire, or a test directly."""

    make_store: Callable[[], Store] = MemoryStore
    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    toggles: dict[str, bool] = field(default_factory=dict[str, bool])
    programs: Programs = field(default_factory=Programs)
    facts: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    canary: str | None = field(default_factory=lambda: os.environ.get("OPENWOP_CANARY_SECRET_VALUE"))

    def __post_init__(self) -> None:
        self.given = dict(self.facts)
        self.store = self.make_store()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.runs = Runs(self.store, self.programs, self.tracers, self.canary)

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
        """Return the status and the body that a request is answered with."""
        for (at, pattern), seam in _SEAMS.items():
            found = pattern.fullmatch(path) if at == method else None
            if found is None:
                continue
            named = {name: unquote(each) for name, each in found.groupdict().items()}
            try:
                return seam(self, Asked(named, query, body))
            except Refused as refused:
                return refused.status, refused.error.to_json()
        return 404, HttpError("not_found", "Nothing is served here.").to_json()

    def accept(self, body: Any) -> dict[str, Any]:
        """Answer ``envelope/accept``."""
        wanted = accepting.wanted(body, envelopes=self.toggles.get(_ENVELOPES, True))
        accepting.remember(body, self.store, wanted.context.run_id)
        acceptor = Acceptor(wanted.rules, self.store, observe=observe_acceptances(self.tracers))
        return accepting.answer(acceptor.accept(wanted.envelope, wanted.context))

    def events(self, run_id: str, query: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what was reported a run, as far as it is asked for."""
        wanted = {"causationId" if name == "correlationId" else name: each for name, each in query.items()}
        reported = [dict(each) for each in self.store.events(run_id)]
        return [each for each in reported if all(each.get(name) == value for name, value in wanted.items())]

    def spans(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the spans of a run, an envelope, or a name."""
        names = {"runId": "openwop.run_id", "envelopeId": "envelope_id"}
        reported = [seams.span(each) for each in self.exporter.get_finished_spans()]
        for name, value in query.items():
            key = names.get(name)
            reported = [each for each in reported if (each["attributes"].get(key) if key else each.get(name)) == value]
        return reported

    def reset(self) -> None:
        """Forget everything."""
        self.store = self.make_store()
        self.exporter.clear()
        self.toggles.clear()
        self.programs.clear()
        self.facts = dict(self.given)
        self.runs = Runs(self.store, self.programs, self.tracers, self.canary)


def _seam(ask: Callable[[Host, Asked], Any], *needed: str, status: int = 200) -> Callable[..., tuple[int, Any]]:
    """Return a seam that refuses a body without what it needs, and words that the library refuses."""

    def answer(host: Host, asked: Asked) -> tuple[int, Any]:
        if needed and not isinstance(asked.body, dict):
            raise Refused(400, HttpError("invalid_argument", "The body must be a JSON object."))
        missing = [each for each in needed if each not in asked.body]
        if missing:
            raise Refused(400, HttpError("invalid_argument", f"{', '.join(missing)} required."))
        try:
            return status, ask(host, asked)
        except seams.Leak as leak:
            raise Refused(400, HttpError(leak.code, str(leak))) from leak
        except seams.Unreadable as error:
            raise Refused(400, HttpError("invalid_argument", str(error))) from error
        except Unknown as error:
            raise Refused(404, HttpError("not_found", str(error))) from error
        except NotWaiting as error:
            raise Refused(409, HttpError("interrupt_not_pending", "Nothing waits for this answer.")) from error

    return answer


def _toggle(host: Host, asked: Asked) -> dict[str, Any]:
    name, value = asked.body.get("name"), asked.body.get("value")
    if asked.body.get("reset") is True:
        host.toggles.clear()
    elif value is None:
        host.toggles.pop(name, None)
    else:
        host.toggles[name] = value
    return {"overlay": dict(host.toggles)}


def _reset(host: Host, _: Asked) -> dict[str, Any]:
    host.reset()
    return {"ok": True}


def _facts(host: Host, asked: Asked) -> dict[str, Any]:
    """Set what models provide: of a vendor (``anthropic``), or of one model (``anthropic/claude-3-5-sonnet``)."""
    host.facts[asked.body["model"]] = frozenset(asked.body["provides"])
    return {"facts": {name: sorted(each) for name, each in host.facts.items()}}


def _polled(host: Host, asked: Asked) -> dict[str, Any]:
    after = int(asked.query.get("lastSequence", "-1"))
    return {"events": [each for each in host.runs.events(asked.named["run"]) if each["sequence"] > after]}


def _program(host: Host, asked: Asked) -> dict[str, Any]:
    return {"queued": host.programs.queue(asked.body["nodeId"], asked.body["program"])}


def _bundle(host: Host, asked: Asked) -> dict[str, Any]:
    run_id = asked.body["runId"]
    return {
        "bundle": {**build_debug_bundle(Acceptor(store=host.store), run_id), "spans": host.spans({"runId": run_id})}
    }


def _budget(host: Host, asked: Asked) -> dict[str, Any]:
    budgets = host.programs.budgets(asked.query.get("nodeId", ""))
    return {"nodeId": asked.query.get("nodeId"), "maxTokens": budgets[-1] if budgets else None}


def _budgets(host: Host, asked: Asked) -> dict[str, Any]:
    return {"attempts": [{"maxTokens": each} for each in host.programs.budgets(asked.query.get("nodeId", ""))]}


_TABLE: Final[dict[str, Callable[..., tuple[int, Any]]]] = {
    f"POST {SAMPLE}/envelope/accept": _seam(lambda host, asked: host.accept(asked.body), "envelope"),
    f"GET {SAMPLE}/node-catalog": _seam(lambda _host, _asked: {"nodes": seams.NODES}),
    f"GET {SAMPLE}/test/runs/<run>/events": _seam(
        lambda host, asked: {"events": host.events(asked.named["run"], asked.query)}
    ),
    f"GET {SAMPLE}/test/otel/spans": _seam(lambda host, asked: {"spans": host.spans(asked.query)}),
    f"POST {SAMPLE}/test/debug-bundle/export": _seam(_bundle, "runId"),
    f"POST {SAMPLE}/test/llm-prompt-wrap": _seam(lambda _, asked: {"prompt": seams.wrapped(asked.body)}, "payload"),
    f"POST {SAMPLE}/test/reset": _seam(_reset),
    f"POST {SAMPLE}/test/capability-toggle": _seam(_toggle),
    f"POST {SAMPLE}/test/emit-provider-usage": _seam(
        lambda host, asked: {"event": seams.usage(asked.body, host.store)}, "runId", "payload"
    ),
    f"POST {SAMPLE}/test/emit-envelope-reliability": _seam(
        lambda host, asked: {"event": seams.reliability(asked.body, host.store)}, "runId", "type", "payload"
    ),
    f"POST {SAMPLE}/test/evaluate-model-capability-gate": _seam(
        lambda host, asked: seams.gated(asked.body, host.facts), "module", "activeProvider", "activeModel"
    ),
    f"POST {SAMPLE}/test/model-facts": _seam(_facts, "model", "provides"),
    f"POST {SAMPLE}/test/mock-ai/program": _seam(_program, "nodeId", "program"),
    f"GET {SAMPLE}/test/mock-ai/last-dispatch-budget": _seam(_budget),
    f"GET {SAMPLE}/test/mock-ai/dispatch-budgets": _seam(_budgets),
    "POST /v1/runs": _seam(
        lambda host, asked: host.runs.start(asked.body["workflowId"], asked.body.get("configurable")),
        "workflowId",
        status=201,
    ),
    "GET /v1/runs/<run>": _seam(lambda host, asked: host.runs.snapshot(asked.named["run"])),
    "GET /v1/runs/<run>/events": _seam(lambda host, asked: {"events": host.runs.events(asked.named["run"])}),
    "GET /v1/runs/<run>/events/poll": _seam(_polled),
    "POST /v1/runs/<run>/interrupts/<node>": _seam(
        lambda host, asked: host.runs.resume(asked.named["run"], asked.named["node"], asked.body["resumeValue"]),
        "resumeValue",
    ),
    "POST /v1/runs/<run>:fork": _seam(lambda host, asked: host.runs.fork(asked.named["run"]), status=201),
}


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/:]+)", path))


_SEAMS: Final = {(line.partition(" ")[0], _pattern(line.partition(" ")[2])): seam for line, seam in _TABLE.items()}
PATHS: Final = tuple(dict.fromkeys(line.partition(" ")[2] for line in _TABLE))
"""The paths of all seams."""
