"""Receive events: in JSON Lines files, in logging, or as OpenTelemetry spans and metrics (with the extra ``otel``)."""

from emitter.telemetry.sinks import OtelSink as OtelSink
from emitter.telemetry.sinks import blocking as blocking
from emitter.telemetry.sinks import on as on
from emitter.telemetry.sinks import to_all as to_all
from emitter.telemetry.sinks import to_jsonl as to_jsonl
from emitter.telemetry.sinks import to_logging as to_logging
from emitter.telemetry.sinks import to_otel as to_otel
