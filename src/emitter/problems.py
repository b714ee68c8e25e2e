"""Warn of a problem after something happened that must not be lost, such as an answer that was paid for.

A filter can turn a warning into an exception, such as that of ``python -W error``. It would end
the work that the warning is only about, so it is never raised from here. Wrong arguments, on the other hand, are warned
of with ``warnings.warn`` before anything is sent, where a strict filter may end the call.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress


def warn_of_problem(message: str) -> None:
    """Issue a ``RuntimeWarning``. If that raises, the message is logged to ``emitter`` in its place."""
    try:
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    except Exception:  # noqa: BLE001  the filter's, or that of a showwarning() of the caller's
        with suppress(Exception):  # a filter of the logger's may raise, too
            logging.getLogger("emitter").warning("%s", message)
