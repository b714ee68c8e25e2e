"""Builds the documentation site: ``python -m website.build``, or ``make docs``."""
