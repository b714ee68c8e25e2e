"""Counting tokens: exactly, and by estimates that hold."""
