"""Emissions by way of the vendors' batches."""
