"""Read the results of a batch row by row, as they arrive.

A row is the response of one call, and is read as strictly as one. The rows may come to more than fits in memory, so
none is kept.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.response_decoding import make_protocol_fault, with_usage
from emitter.adapters.sse import JSON_DECODER
from emitter.adapters.transport import HttpRequest, ResponseRejected, send_request
from emitter.bulk.batches.exchanges import exchange
from emitter.bulk.batches.vendor_api import BatchItemResult
from emitter.messages import Fault, FaultKind, as_mapping
from emitter.strict_json import DuplicateKeyError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from emitter.bulk.batches.row_splitters import Row, RowSplitter
    from emitter.bulk.batches.vendor_api import BatchConnection, SubmittedBatch
    from emitter.messages import CallResult, ExpectedAnswer


_MAX_PIECE = 1 << 16
"""The most bytes that are split before other tasks run."""


async def iter_rows(
    connection: BatchConnection, request: HttpRequest, splitter: RowSplitter, size: int
) -> AsyncGenerator[Row]:
    """Yield the rows of a response as they arrive.

    The response has the results of ``size`` requests. Each row has the time and the size of the response of one call.
    """
    limit, max_bytes = _RowLimit(size), connection.policy.max_response_bytes * max(size, 1)
    deadline = connection.deadline.narrow(connection.policy.timeout)
    async with exchange(connection, max_bytes) as client:
        async with asyncio.timeout(deadline.timeout()):
            response = await send_request(client, request, deadline.remaining())
        async with aclosing(response), aclosing(_iter_pieces(response)) as pieces:
            while True:
                async with asyncio.timeout(deadline.timeout()):
                    piece = await anext(pieces, None)
                for row in splitter.end() if piece is None else splitter.feed(piece):
                    limit.count()
                    yield row
                    deadline = connection.deadline.narrow(connection.policy.timeout)
                if piece is None:
                    return


async def _iter_pieces(response: Any) -> AsyncGenerator[bytes]:
    """Yield the body in pieces so small that the event loop is not blocked while one is split."""
    async for piece in response.aiter_bytes():
        for start in range(0, len(piece), _MAX_PIECE):
            yield piece[start : start + _MAX_PIECE]
            await asyncio.sleep(0)


class _RowLimit:
    """Counts the rows of results. A vendor that repeats results without end is stopped."""

    _ROWS_A_REQUEST, _SPARE_ROWS = 2, 100

    def __init__(self, size: int) -> None:
        self._left = self._ROWS_A_REQUEST * size + self._SPARE_ROWS

    def count(self) -> None:
        """Count a row; raise ``ResponseRejected`` if there are too many."""
        self._left -= 1
        if self._left < 0:
            raise ResponseRejected(
                Fault(FaultKind.RESPONSE_TOO_LARGE, "The batch has many more results than requests.")
            )


def read_result(
    row: Row,
    id_path: tuple[str, ...],
    decode: Callable[[Mapping[str, Any], ExpectedAnswer], CallResult],
    batch: SubmittedBatch,
) -> BatchItemResult:
    """Return the outcome in one row of results.

    A row that is not strict JSON in UTF-8 is a fault of its request, and unreadable if it does not name its request.

    Args:
        row: The row, or None if it is too long.
        id_path: The members in which the row has the id of its request.
        decode: Returns the outcome in the members of a row, as the answer that is expected.
        batch: The batch, which has what the answer to each request must match.
    """
    members, problem = _parse_row(row or b"")
    custom_id = _find_id(members, id_path)
    if custom_id is None:
        return BatchItemResult(None)
    answer = None
    try:
        answer = decode(as_mapping(members), batch.expect(custom_id)) if isinstance(members, dict) else None
    except Exception as error:  # noqa: BLE001  odd members may break their decoding, as in the response of a call
        problem = problem or f"the result cannot be decoded ({type(error).__name__})"
    if problem is not None:
        answer = with_usage(make_protocol_fault(problem), None if answer is None else answer.usage)
    return BatchItemResult(custom_id, answer)


def _parse_row(row: bytes) -> tuple[Any, str | None]:
    """Return the members of a row, and what is wrong with it.

    If it names members twice or goes on after its end, its members are pairs.
    """
    try:
        text, problem = row.decode(), None
    except UnicodeDecodeError:
        text, problem = row.decode("utf-8", "replace"), "the result is not UTF-8"
    try:
        return JSON_DECODER.decode(text.removeprefix("\ufeff")), problem
    except DuplicateKeyError:
        problem = "the result names a member twice, with different values"
    except (ValueError, RecursionError):
        problem = "the result is not JSON"
    try:
        return _PAIRS_DECODER.raw_decode(text.lstrip())[0], problem
    except (ValueError, RecursionError):
        return None, problem


_PAIRS_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str)
"""Keeps members that are repeated, and reads an integer of any length."""


def _find_id(members: Any, path: tuple[str, ...]) -> str | None:
    """Return the string under a path of members, or None if it is missing or ambiguous."""
    for name in path:
        pairs = cast("dict[str, Any]", members).items() if isinstance(members, dict) else members
        found = cast("tuple[tuple[str, Any], ...]", pairs) if isinstance(members, dict | tuple) else ()
        values = [value for key, value in found if key == name]
        if len(values) != 1:
            return None
        members = values[0]
    return members if isinstance(members, str) else None
