"""Forms of output that an emission can ask for."""
