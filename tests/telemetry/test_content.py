"""The content of calls: exported only if somebody opts in, in the form of the GenAI conventions, without secrets."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from emitter import aemit, emit, stream
from emitter.host import Acceptor, HostConfig
from emitter.media import Image
from emitter.redaction import Secrets
from emitter.telemetry import to_all, to_otel
from emitter.telemetry.content import CAPTURE_VARIABLE
from emitter.testing import Cut, Text, simulator
from tests.client.test_messages import PIXEL
from tests.forms.document.asking import HELD, ask, every_wire, every_world, said
from tests.telemetry.collecting import Collected

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = {"type": "object", "properties": {"vendor": {"type": "string"}}, "required": ["vendor"]}
CANARY = "quxillious-7"
ACME = Text({"vendor": CANARY})
MODEL = "openai/gpt-6-sol"
ATTRIBUTES = ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages")


def contents(collected: Collected) -> list[dict[str, Any]]:
    """Return the content on the spans of calls."""
    calls = [span.attributes or {} for span in collected.spans if span.name.startswith("openwop.activity")]
    return [{name: json.loads(str(call[name])) for name in ATTRIBUTES if name in call} for call in calls]


def everything(collected: Collected) -> str:
    """Return all that was exported to the spans."""
    return "".join(span.to_json() for span in collected.spans)


@every_wire
@every_world
def test_every_call_has_its_own_content(wire: str, world: str) -> None:
    """Instructions, messages and answer of each call, the correction included, on its span."""
    collected = Collected()
    sink = to_all(collected.on_event(capture_content=True))
    asked = ask(wire, [said({**HELD, "total": -1}), said(HELD)], world=world, on_event=sink, situation="Pay Acme?")
    first, second = contents(collected)

    assert asked.value
    assert first["gen_ai.system_instructions"][0]["type"] == "text"
    (message,) = first["gen_ai.input.messages"]
    assert (message["role"], message["parts"][0]["type"]) == ("user", "text")
    assert message["parts"][0]["content"].startswith("Pay Acme?")
    assert [each["role"] for each in second["gen_ai.input.messages"]][-1] == "user"
    assert "at least 0" in second["gen_ai.input.messages"][-1]["parts"][0]["content"]
    assert second["gen_ai.output.messages"] == [
        {"role": "assistant", "parts": [{"type": "text", "content": json.dumps(HELD)}], "finish_reason": "stop"}
    ]


VALUES = {
    None: (False, False),
    "": (False, False),
    "NO_CONTENT": (False, False),
    "false": (False, False),
    "true": (True, False),
    "SPAN_ONLY": (True, False),
    "event_only": (False, True),
    "SPAN_AND_EVENT": (True, True),
    "yes please": (False, False),
}


@pytest.mark.parametrize(("value", "where"), VALUES.items(), ids=[str(each) for each in VALUES])
def test_the_variable_decides_where_content_goes(
    value: str | None, where: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is exported by default or for an unknown value; events have structured values."""
    monkeypatch.delenv(CAPTURE_VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(CAPTURE_VARIABLE, value)
    collected, exporter, loggers = Collected(), InMemoryLogRecordExporter(), LoggerProvider()
    loggers.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    with simulator(answers=ACME) as vendor:
        sink = collected.on_event(logger_provider=loggers)
        emit(SCHEMA, CANARY, model=MODEL, client=vendor.client(MODEL), on_event=sink)
    records = [each.log_record for each in exporter.get_finished_logs()]

    assert (CANARY in everything(collected), bool(records)) == where
    for record in records:
        attributes: Any = record.attributes
        (call,) = collected.named("openwop.activity.openai")
        assert record.event_name == "gen_ai.client.inference.operation.details"
        assert attributes["gen_ai.provider.name"] == "openai"
        assert attributes["gen_ai.input.messages"][0]["parts"][0]["content"].startswith(CANARY)
        assert call.context is not None
        assert record.span_id == call.context.span_id


def test_secrets_media_and_refused_words_are_left_out() -> None:
    """Registered secrets are redacted; of an image its digest is exported."""
    collected = Collected()
    host = Acceptor(HostConfig(secrets=Secrets.of({"pin": CANARY})))
    with simulator(answers=ACME) as vendor:
        sink = collected.on_event(capture_content=True)
        options: dict[str, Any] = {"model": MODEL, "client": vendor.client(MODEL), "host": host, "on_event": sink}
        emit(SCHEMA, ["What is " + CANARY, Image(PIXEL)], **options)
    (content,) = contents(collected)

    assert CANARY not in everything(collected)
    assert "[REDACTED:pin]" in json.dumps(content["gen_ai.output.messages"])
    image = next(part for part in content["gen_ai.input.messages"][0]["parts"] if part["type"] == "image")
    assert image["mime_type"] == "image/png"
    assert image["digest"].startswith("sha256:")


def test_a_cut_answer_a_tool_call_and_a_stream_say_how_they_ended() -> None:
    """The finish reasons are those of the conventions."""
    collected = Collected()
    with simulator() as vendor:
        vendor.script(Cut(at_tokens=3), ACME)
        sink = collected.on_event(capture_content=True)
        with stream(SCHEMA, "Who?", model=MODEL, client=vendor.client(MODEL), on_event=sink) as running:
            running.result()
    ask(
        "anthropic",
        [lambda vendor: vendor.called(HELD, 5, "Invoice")],
        model="anthropic/claude-sonnet-4-20250514",
        on_event=sink,
    )
    *streamed, called = [content["gen_ai.output.messages"][0] for content in contents(collected)]

    assert [each["finish_reason"] for each in streamed] == ["length", "stop"]
    assert called["finish_reason"] == "tool_call"
    assert json.loads(called["parts"][-1]["arguments"]) == HELD


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """Run an OTLP endpoint over HTTP; yield its address and the bodies that it receives."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class names it so
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", bodies
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@every_world
def test_an_otlp_collector_receives_the_content(world: str) -> None:
    """The real exporter writes spans that a collector can read, with the content of two calls."""
    otlp = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # noqa: PLC0415  comes with the exporter
        ExportTraceServiceRequest,
    )

    with collector() as (address, bodies), simulator() as vendor:
        vendor.script(Text({"vendor": 1}), ACME)
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(otlp.OTLPSpanExporter(endpoint=address)))
        options: dict[str, Any] = {"model": MODEL, "on_event": to_otel(tracers, capture_content=True)}
        if world == "sync":
            emit(SCHEMA, "Who?", client=vendor.client(MODEL), **options)
        else:
            asyncio.run(_aemit(vendor.client(MODEL, asynchronous=True), options))
        tracers.shutdown()

    spans = [
        span
        for body in bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    calls = [{each.key: each.value.string_value for each in span.attributes} for span in spans if span.kind == 3]
    assert len(calls) == 2
    assert CANARY in calls[1]["gen_ai.output.messages"]
    assert all(json.loads(call["gen_ai.input.messages"])[0]["role"] == "user" for call in calls)


async def _aemit(client: Any, options: dict[str, Any]) -> None:
    async with client:
        await aemit(SCHEMA, "Who?", client=client, **options)
