"""The scripted scenarios: what the vendors answer, and how the cassettes are written."""
