"""OpenAI's background responses as a server: they are kept, and finished after some polls.

Source: developers.openai.com/docs/guides/background; openai 3.52.0, ``types/responses/response_status.py``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from emitter.messages import as_mapping
from emitter.testing.wires.common import dump_compact

if TYPE_CHECKING:
    from emitter.testing.handler import RawRequest, SimulatedResponse

_PATH: Final = re.compile(r"(?:/[^?]*)?/responses/(?P<id>[^/?]+)(?:\?.*)?")
_POLLS: Final = 2
"""How often a response is looked at before it is finished."""
_STATUSES: Final = ("queued", "in_progress")


@dataclass(slots=True)
class _StoredResponse:
    finished: SimulatedResponse
    polls: int = 0


class BackgroundResponses:
    """The responses that a vendor writes in the background, by id."""

    def __init__(self) -> None:
        self._stored: dict[str, _StoredResponse] = {}

    def start(self, response: SimulatedResponse) -> SimulatedResponse:
        """Keep a finished response, and return the one that confirms the request."""
        body = dict(as_mapping(json.loads(response.body)))
        self._stored[str(body["id"])] = _StoredResponse(replace(response, body=_write(body)))
        return _unfinished(response, body, _STATUSES[0])

    def poll(self, request: RawRequest) -> SimulatedResponse | None:
        """Return a kept response as it stands, or None if the request is about something else."""
        match = _PATH.fullmatch(request.path) if request.method == "GET" else None
        stored = None if match is None else self._stored.get(match["id"])
        if stored is None:
            return None
        stored.polls += 1
        if stored.polls >= _POLLS:
            return stored.finished
        return _unfinished(stored.finished, dict(as_mapping(json.loads(stored.finished.body))), _STATUSES[1])

    def clear(self) -> None:
        """Forget all responses, as the vendor does after some time."""
        self._stored.clear()


def _unfinished(response: SimulatedResponse, body: dict[str, object], status: str) -> SimulatedResponse:
    pending: dict[str, object] = {
        **body,
        "status": status,
        "output": [],
        "usage": None,
        "incomplete_details": None,
        "error": None,
    }
    return replace(response, body=_write(pending), text="")


def _write(body: dict[str, object]) -> bytes:
    return dump_compact({**body, "background": True}).encode()
