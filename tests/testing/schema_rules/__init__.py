"""The vendors' published rules for schemas, written a second time and sharing nothing with the library."""
