"""Drawing a decision: every surface shows the same eight slots."""
