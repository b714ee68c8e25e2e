"""OpenTelemetry: what an emission tells, as spans and metrics."""
