"""Streams from the vendor to the caller."""
