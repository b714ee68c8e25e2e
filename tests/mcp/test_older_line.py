"""The 1.30 line of the SDK: all but the extension works there as it does on 2.x, over the protocol of 2025-11-25."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp import tools
from tests.mcp.asking import ANSWERS
from tests.mcp.emitting import SPIKE, conventional, emitting
from tests.mcp.talking import called
from tests.mcp.tools import TOOLS, payload

if TYPE_CHECKING:
    from emitter.messages import Json

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv" / "mcp1" / "bin" / "python"

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the 1.30 line of mcp is not installed: make mcp1")


@pytest.fixture(scope="module")
def older() -> dict[str, Any]:
    """Return what came of the conversations that the older line held."""
    command = [str(PYTHON), "-m", "tests.mcp.older_line"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    assert found["modern"] is False
    return found


@pytest.mark.parametrize("name", TOOLS)
def test_any_tool_hands_over_a_decision(name: str, older: dict[str, Any]) -> None:
    """Beside what the tool itself hands over there, which is not touched."""
    before, after = (older["tools"][name][each]["result"] for each in ("conventional", "emitting"))
    members = dict(after["structuredContent"])

    assert members.pop("binding_moment") == VALID_MOMENT.to_json()
    assert json.dumps(members) == json.dumps(payload(before, untyped=name == "untyped"))
    assert after["content"][:-2] == before["content"]
    assert json.loads(after["content"][-1]["text"]) == {"binding_moment": VALID_MOMENT.to_json()}
    assert older["tools"][name]["emitting"]["emits"] == {name: True}


def test_a_decision_is_read_from_the_result_itself(older: dict[str, Any]) -> None:
    """The line keeps such a member on its wire (section 7.1)."""
    payload = {"content": [{"type": "text", "text": "Conventional.", "annotations": None, "_meta": None}]}
    assert older["literal"] == {"moment": VALID_MOMENT.to_json(), "payload": payload}


def test_what_is_added_is_the_same_on_both_lines(older: dict[str, Any]) -> None:
    """The two blocks, and the member."""
    newer = called(emitting(tools.says), "legacy", "says", SPIKE)
    found = older["says"]["result"]

    assert found["content"] == newer["content"]
    assert json.dumps(found["structuredContent"]) == json.dumps(newer["structuredContent"])


@pytest.mark.parametrize("flag", ["false", "off", "off here"])
def test_it_stands_behind_a_flag(flag: str, older: dict[str, Any]) -> None:
    """Section 7.3: off, the result is the conventional one, to the byte."""
    assert json.dumps(older["flags"][flag]["result"]) == json.dumps(older["tools"]["closed"]["conventional"]["result"])
    assert older["flags"][flag]["emits"] == {"closed": flag != "false"}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_tool_goes_on_with_the_answer(name: str, older: dict[str, Any]) -> None:
    """Section 6.3: as on the other line, by the same form."""
    _, reported, done = ANSWERS[name]
    found = older["asking"][name]

    assert found["result"]["structuredContent"] == reported
    assert (found["done"], found["made"]) == (done, 1)
    assert found["asked"][0]["mode"] == "form"


def test_an_answer_that_is_none_is_an_error_result(older: dict[str, Any]) -> None:
    """Nothing is done."""
    found = older["asking"]["none of these"]

    assert found["result"]["isError"]
    assert found["done"] == []


def test_without_elicitation_the_decision_is_handed_over(older: dict[str, Any]) -> None:
    """To be resolved by the next call."""
    found = older["asking"]["nobody"]["result"]["structuredContent"]

    assert found["status"] == "pending"
    assert found["binding_moment"] == VALID_MOMENT.to_json()


def test_the_principal_is_sent_to_a_page_of_their_own(older: dict[str, Any]) -> None:
    """Section 11.4: by the client where it can, by the server's own means where not; the address is in no result."""
    page: Json = older["page"]

    assert page["accept"]["asked"][0]["mode"] == "url"
    assert page["accept"]["asked"][0]["url"].endswith("/token")
    assert page["accept"]["result"]["structuredContent"]["status"] == "pending"
    assert page["nobody"]["result"]["structuredContent"]["status"] == "pending"
    assert "token" not in json.dumps([page["accept"]["result"], page["nobody"]["result"]])
    assert page["reported"] == ["reported"]


@pytest.mark.parametrize("transport", ["over_stdio", "over_http"])
def test_the_round_trip(transport: str, older: dict[str, Any]) -> None:
    """Between that line's own client and ``emitter mcp``, run with that line."""
    found = older[transport]
    if found is None:
        pytest.skip("the demonstration needs a vendor's SDK beside the 1.30 line: make mcp1")

    assert found["emitted"]["structuredContent"]["status"] == "bound"
    assert found["resolved"]["structuredContent"]["continuation"] == "act"
    assert found["resolved"]["structuredContent"]["option"]["index"] == 1


def test_a_server_ends_with_its_client(older: dict[str, Any]) -> None:
    """That line closes the stream it serves on; nothing comes of it."""
    assert older["ending"] == {"status": 0, "out": "", "err": ""}


def test_there_is_no_extension(older: dict[str, Any]) -> None:
    """What is missing is said, and what to do instead."""
    assert "need mcp 2" in older["extension"]
    assert "decorate" in older["extension"]


def test_tools_are_reported_as_on_the_other_line(older: dict[str, Any]) -> None:
    """A conventional result of the one line is that of the other: what the decorator starts from is the SDK's own."""
    for name, function in TOOLS.items():
        if name not in ("block", "untyped"):  # 1.30 makes structure of these, and 2.x does not
            newer = called(conventional(function), "legacy", name, SPIKE)
            assert older["tools"][name]["conventional"]["result"]["content"] == newer["content"], name
