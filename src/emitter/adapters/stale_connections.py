"""Recognise a request that was sent on a connection which the server had closed.

Some servers promise to keep a connection open, and close it after a streamed answer. If the request leaves before the
close arrives, it fails without a byte of an answer. A request that creates nothing is then sent again on a new
connection.

Sources: ``_sync/http11.py`` in httpcore2 2.16.2 and httpcore 1.0.9; ``_connection.py`` in h11 0.16.0;
RFC 9110, section 9.2.2, and RFC 9112, section 9.3.1.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from emitter.adapters.watchdog import was_cut

if TYPE_CHECKING:
    from types import FrameType

_READING = "_receive_response_headers"
"""The method of a connection that waits for the head of a response."""
_ERRORS = frozenset({"ReadError", "RemoteProtocolError", "WriteError"})


def was_closed_before(error: Exception) -> bool:
    """Return whether a request failed because its connection, which had served another one, was closed already.

    It is false once a part of an answer has arrived, because the server may then have begun its work, and after the
    deadline.
    """
    if type(error).__name__ not in _ERRORS or was_cut():
        return False
    cause: BaseException | None = error
    while cause is not None:
        for frame, _ in traceback.walk_tb(cause.__traceback__):
            if frame.f_code.co_name == _READING:
                return _is_reused_and_silent(frame)
        cause = cause.__cause__ or cause.__context__
    return False


def _is_reused_and_silent(frame: FrameType) -> bool:
    """Return whether a connection has served another request, and no byte of an answer to this one has arrived."""
    connection: Any = frame.f_locals.get("self")
    has_read = "event" in frame.f_locals  # an informational response
    with suppress(AttributeError, TypeError, ValueError):  # another version of the HTTP library
        received, _ = connection._h11_state.trailing_data  # noqa: SLF001  no public way leads to it
        return connection._request_count > 1 and not received and not has_read  # noqa: SLF001  as above
    return False
