"""The emission engine: pure functions and values, with no I/O, clock or randomness."""
