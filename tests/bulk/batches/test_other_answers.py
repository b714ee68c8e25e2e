"""A result of a batch is an answer only to its own request: a call of another tool is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter.attempts import Verdict
from emitter.bulk.batches import Batch
from emitter.core.verdicts import OTHER_TOOL
from tests.bulk.asking import asked_of, task
from tests.bulk.batches.asking import Setting, ran, vendor

if TYPE_CHECKING:
    from pathlib import Path

TOOL_MODELS = {
    "responses": "openai/gpt-4o-2024-05-13",
    "chat": "openai/gpt-4o-2024-05-13 chat",
    "anthropic": "anthropic/claude-sonnet-4-20250514",
}
every_wire = pytest.mark.parametrize("model", TOOL_MODELS.values(), ids=TOOL_MODELS.keys())
TASKS = [task(n) for n in range(3)]


class Renaming(httpx2.AsyncHTTPTransport):
    """A way to the vendor on which the first results call another tool than the one that was offered."""

    def __init__(self, name: bytes, other: bytes) -> None:
        super().__init__(verify=False)
        self._name, self._other = name, other

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. The name in the first file of results is another one."""
        response = await super().handle_async_request(request)
        body = await response.aread()
        if self._name in body and request.method == "GET":
            body, self._name = body.replace(self._name, self._other), b"nothing more"
        headers = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-length"]
        return httpx2.Response(response.status_code, headers=headers, content=body)


def name_of_tool(body: Any) -> bytes:
    """Return the tool that a request offered, as it stands in its answer."""
    tool = body["tools"][0]
    return json.dumps(tool.get("name") or tool["function"]["name"]).encode()


def name_at(model: str) -> bytes:
    """Return the tool that a run offers."""
    with vendor() as (running, _):
        ran(running.url, TASKS[:1], Setting(model=model))
        return name_of_tool(running.calls[0].body)


@every_wire
def test_the_offered_tool_is_the_answer(model: str) -> None:
    """As it is in a single call."""
    with vendor() as (running, _):
        came = ran(running.url, TASKS, Setting(model=model))
    assert [came.outcome(f"k{n}").value.n for n in range(3)] == [0, 1, 2]


@every_wire
def test_another_tool_is_not(model: str) -> None:
    """Each emission is corrected in the next batch."""
    transport = Renaming(name_at(model), b'"delete_all"')
    with vendor() as (running, _):
        came = ran(running.url, TASKS, Setting(model=model, transport=transport))

    assert [came.outcome(f"k{n}").value.n for n in range(3)] == [0, 1, 2]
    for n in range(3):
        first, second = came.outcome(f"k{n}").attempts
        assert (first.verdict, first.violations) == (Verdict.MALFORMED, (OTHER_TOOL,))
        assert second.verdict is Verdict.COMPLETE


@every_wire
def test_a_run_that_goes_on_knows_what_was_offered(model: str, tmp_path: Path) -> None:
    """The tools are in the journal, for requests whose emissions are not part of the run that collects them."""
    left = Setting(model=model, how=Batch(timeout=1.0, poll=1.0), journal=tmp_path / "journal")
    with vendor() as (running, desk):
        desk.batches.polls = 5
        ran(running.url, TASKS, left)
        desk.batches.polls = 0
        goes_on = Setting(model=model, journal=tmp_path / "journal")
        ran(running.url, TASKS[:1], goes_on)
        came = ran(running.url, TASKS, goes_on)
        assert sum(asked_of(running).values()) == 3

    assert [came.outcome(f"k{n}").value.n for n in range(3)] == [0, 1, 2]
