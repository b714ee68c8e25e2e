"""OpenTelemetry, for those who have it: what an emission tells, as spans and metrics.

``to_otel`` returns a sink. Nothing is told here that the events do not hold, and of them only what a table allows:
numbers, ids and words of fixed vocabularies; never a message, a validator's sentence, or the fields of a log line.
Extra ``otel``.
"""

from emitter.otel.sink import OtelSink as OtelSink
from emitter.otel.sink import to_otel as to_otel
