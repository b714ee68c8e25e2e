"""Export events as OpenTelemetry spans and metrics. Requires the extra ``otel``.

``to_otel`` returns a sink. Sinks for JSON Lines files and logging are in ``emitter.telemetry.sinks``.
"""

from emitter.telemetry.sinks import OtelSink as OtelSink
from emitter.telemetry.sinks import to_otel as to_otel
