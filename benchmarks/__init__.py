"""Measurements beside peers: ``python -m benchmarks.validation``, ``.compiling`` and ``.peers``.

Nothing here is installed with the library. The peers come from the dependency group ``peers``; the corpora stand
beside the checkout, or are named on the command line.
"""
