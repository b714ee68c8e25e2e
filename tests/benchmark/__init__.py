"""The benchmark: its notebook runs, and what it measures of this library holds."""
