"""The version of the library, which ``emitter.__version__`` repeats."""

from __future__ import annotations

__version__ = "0.1.0"
