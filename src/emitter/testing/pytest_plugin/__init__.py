"""The parts of the pytest plugin; each is imported only by a test that uses it."""
