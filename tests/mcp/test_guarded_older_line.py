"""The 1.30 line of the SDK: tools are guarded there as on 2.x, over the protocol of 2025-11-25."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.mcp.guarding import MAIL, SENT
from tests.mcp.mailing import MOM, ROOT, SEND, Mailing
from tests.mcp.talking import called
from tests.mcp.test_older_line import PYTHON
from tests.mcp.tools import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the 1.30 line of mcp is not installed: make mcp1")

OUTCOMES: dict[str, tuple[str | None, str | None]] = {
    "approve": (None, None),
    "refuse": ("refused", "not_approved"),
    "object": ("refused", "not_approved"),
    "decline": ("undecided", "approval_pending"),
    "cancel": ("undecided", "approval_pending"),
    "none of these": ("error", "no_such_option"),
    "nobody": ("approval_pending", "approval_pending"),
}


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what came of the conversations that the older line held."""
    folder: Path = tmp_path_factory.mktemp("older")
    command = [str(PYTHON), "-m", "tests.mcp.guarded_older_line", str(folder)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    assert found["modern"] is False
    return found


@pytest.mark.parametrize("name", TOOLS)
def test_what_a_tool_returns_is_not_touched(name: str, older: dict[str, Any]) -> None:
    """Neither when it ran nor when it is asked for again."""
    found = older["tools"][name]
    before, after, again = (each["result"] for each in (found["before"][1], found["after"][1], found["again"]))

    assert json.dumps(after) == json.dumps(before)
    assert again == before


@pytest.mark.parametrize("name", TOOLS)
def test_what_did_not_run_is_no_malformed_result(name: str, older: dict[str, Any]) -> None:
    """It is delivered as an error with its structure, for which the published schema has room."""
    found = older["tools"][name]
    waits, other = (found[each]["result"] for each in ("waits", "other"))
    published = found["after"][0].get("outputSchema")

    assert (waits["isError"], other["isError"]) == (True, True)
    assert waits["structuredContent"]["binding_moment"]["recommendations"]
    assert other["structuredContent"]["code"] == "other_call"
    for each in (waits, other):
        jsonschema.validate(each["structuredContent"], published or {})


@pytest.mark.parametrize(("person", "reported"), OUTCOMES.items(), ids=OUTCOMES)
def test_a_call_is_made_where_it_was_approved(
    person: str, reported: tuple[str | None, str | None], older: dict[str, Any]
) -> None:
    """And nowhere else; another call under its id is refused."""
    found = older["asking"][person]
    first = found["first"]["result"]

    assert (first["structuredContent"].get("status"), first["structuredContent"].get("code")) == reported
    assert first["isError"] is (person != "approve")
    assert found["sent"] == ([list(MAIL)] if person == "approve" else [])
    assert found["swapped"]["result"]["structuredContent"]["code"] == (
        "approval_pending" if person == "approve" else "other_call"
    )


def test_what_waits_is_reported_as_on_the_other_line(older: dict[str, Any]) -> None:
    """But for the ids, which are new."""
    newer = called(Mailing().server(), "legacy", SEND, MOM)
    found = older["asking"]["nobody"]["first"]["result"]

    assert found["content"][1:] == newer["content"][1:]
    assert found["structuredContent"].keys() == newer["structuredContent"].keys()


def test_it_is_listed_with_its_advert(older: dict[str, Any]) -> None:
    """And with the mode of access."""
    listed = older["tools"]["model"]["after"][0]

    assert listed["advertises"]
    assert listed["_meta"]["aauth.dev/access-mode"] == "per-call"
    assert listed["inputSchema"]["required"] == ["name"]


def test_what_did_not_run_is_not_held_to_the_tools_own_rules(older: dict[str, Any]) -> None:
    """That line holds errors to the tool's type, where it is let."""
    assert older["picky"]["result"]["structuredContent"]["status"] == "approval_pending"


def test_a_function_that_is_not_async_runs_in_a_thread(older: dict[str, Any]) -> None:
    """Though that line itself lets all others wait for it."""
    assert older["thread"]["result"]["structuredContent"] == {"result": "main: False"}


@pytest.mark.parametrize("transport", ["over_stdio", "over_http"])
def test_the_whole_way(transport: str, older: dict[str, Any]) -> None:
    """Handed over, resolved by the next call, refused to another call, done, and done once."""
    reported, swapped, done, again = older[transport]["found"]

    assert reported["status"] == "approval_pending"
    assert swapped["structuredContent"]["code"] == "other_call"
    assert (done["structuredContent"], again["structuredContent"]) == (SENT, SENT)
    assert older[transport]["sent"] == [MAIL[0]]
