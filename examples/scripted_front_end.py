"""Stand in for an AG-UI front end and its person: serve an agent on loopback, and answer what it asks."""

from __future__ import annotations

import json
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from emitter.decisions.resolution import resolution_to_json
from emitter.models import BindingMoment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions import Resolution


def use(endpoint: Any, answer: Callable[[BindingMoment], Resolution]) -> Any:
    """Run the agent until it is done, and return its result. Nobody answers with ``--away``."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/", endpoint, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, args=([listener],), daemon=True).start()
    url, resume = f"http://127.0.0.1:{listener.getsockname()[1]}/", list[dict[str, Any]]()
    while True:
        end = _run(url, resume)
        waiting = end.get("outcome", {}).get("interrupts", [])
        if not waiting or "--away" in sys.argv:
            return end.get("result", "The agent waits.")
        resume = [_entry(each, answer) for each in waiting]


def _run(url: str, resume: list[dict[str, Any]]) -> dict[str, Any]:
    """Run the agent once, and return the last of its events."""
    given = {"threadId": "1", "runId": "1", "messages": [], "resume": resume}
    lines = httpx2.post(url, json=given, timeout=60).raise_for_status().text.splitlines()
    return dict(json.loads([line for line in lines if line][-1].removeprefix("data: ")))


def _entry(interrupt: dict[str, Any], answer: Callable[[BindingMoment], Resolution]) -> dict[str, Any]:
    """Return what a front end sends of a person's answer."""
    moment = BindingMoment.model_validate(interrupt["metadata"]["binding_moment"])
    return {"interruptId": interrupt["id"], "status": "resolved", "payload": resolution_to_json(answer(moment))}
