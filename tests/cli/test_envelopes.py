"""The commands about a decision in a file: render, lint-moment and digest, with whatever the file may hold."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from emitter.cli import main
from emitter.decisions import digest
from emitter.models import OPEN_HATCHES, BindingMoment, binding_moment
from emitter.render import FORMATS
from tests.scenarios.answers import BOUND

if TYPE_CHECKING:
    from pathlib import Path

asked = binding_moment.parse_turn(BOUND, OPEN_HATCHES, None)
assert isinstance(asked, BindingMoment)
MOMENT = asked
WIRE = MOMENT.to_json()
HEDGED = {**WIRE, "synopsis": "It depends on the lock."}
TORN = {"binding_moment": {**WIRE, "question": None}, "rows": [1, 2]}

HELD: dict[str, Any] = {
    "the envelope": WIRE,
    "a tool's result": {"rows": [1], "binding_moment": WIRE},
    "an MCP result": {"content": [], "structuredContent": {"rows": [1], "binding_moment": WIRE}},
    "a member of an MCP result": {"content": [{"type": "text", "text": "Rows."}], "binding_moment": WIRE},
    "an MCP result's text": {"content": [{"type": "text", "text": json.dumps({"binding_moment": WIRE})}]},
    "an AIEnvelope": {"type": "vendor.emitter.binding-moment", "payload": {"binding_moment": WIRE}},
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command; return its status and what it wrote to standard output and to standard error."""
    status = main(arguments)
    reported = capsys.readouterr()
    return status, reported.out, reported.err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file to write into."""
    return tmp_path / "moment.json"


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_the_digest_is_the_envelopes_in_any_wrapping(
    capsys: pytest.CaptureFixture[str], file: Path, held: dict[str, Any]
) -> None:
    """One line, the same for all."""
    file.write_text(json.dumps(held))

    assert run(capsys, "digest", str(file)) == (0, f"{digest(MOMENT)}\n", "")
    assert json.loads(run(capsys, "digest", "--json", str(file))[1]) == {"digest": digest(MOMENT)}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_drawn(capsys: pytest.CaptureFixture[str], file: Path, name: str) -> None:
    """Every format there is, with the synopsis in it, and JSON where JSON is asked for."""
    file.write_text(json.dumps(WIRE))

    status, out, err = run(capsys, "render", "--to", name, str(file))
    as_json = run(capsys, "render", "--json", "--to", name, str(file))[1]

    assert (status, err) == (0, "")
    assert "partition 62" in re.sub(r"\\u00a0", " ", out)
    assert json.loads(as_json)


def test_an_unknown_format_is_bad_usage(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """And the formats there are are named."""
    file.write_text(json.dumps(WIRE))

    status, out, err = run(capsys, "render", "--to", "pdf", str(file))

    assert (status, out) == (2, "")
    assert all(each in err for each in FORMATS)


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_a_malformed_envelope_falls_back(capsys: pytest.CaptureFixture[str], file: Path, as_json: list[str]) -> None:
    """The tool's own payload is shown, and why; no part of the decision is."""
    file.write_text(json.dumps(TORN))

    status, out, err = run(capsys, "render", *as_json, str(file))

    assert status == 1
    assert json.loads(out) == {"rows": [1, 2]}
    assert "discarded as malformed" in err
    assert "partition" not in out + err


def test_a_result_without_an_envelope_is_shown_as_it_is(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Nothing is amiss with it."""
    file.write_text(json.dumps({"content": [], "structuredContent": {"rows": [1]}}))

    status, out, err = run(capsys, "render", str(file))

    assert (status, json.loads(out)) == (1, {"rows": [1]})
    assert "The input holds no decision." in err


def test_what_is_no_envelope_is_shown_as_it_is(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """An object with none of an envelope's members is a tool's own payload."""
    file.write_text(json.dumps({"rows": [1]}))

    status, out, err = run(capsys, "render", str(file))

    assert (status, json.loads(out)) == (1, {"rows": [1]})
    assert "The input holds no decision." in err


def test_findings_are_listed(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Each with severity, pointer, rule and message. One that asks the model again, or refuses, is status 1."""
    file.write_text(json.dumps(HEDGED))

    status, out, _ = run(capsys, "lint-moment", str(file))

    assert status == 1
    assert re.match(r"retry +/synopsis +synopsis-defers: .* \(section 5\.1\)\n", out)
    found = json.loads(run(capsys, "lint-moment", "--json", str(file))[1])["findings"]
    assert found[0]["rule"] == "synopsis-defers"


def test_nothing_found_is_said(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """A good envelope is status 0."""
    file.write_text(json.dumps(WIRE))

    assert run(capsys, "lint-moment", str(file)) == (0, "nothing found\n", "")


def test_a_rule_is_softened(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """A warning is listed and is no failure; a rule that is off is not checked."""
    file.write_text(json.dumps(HEDGED))

    warned = run(capsys, "lint-moment", "--rule", "synopsis-defers=warning", str(file))
    off = ["--rule", "synopsis-defers=off"]

    assert warned[0] == 0
    assert warned[1].startswith("warning")
    assert run(capsys, "lint-moment", *off, str(file))[:2] == (0, "nothing found\n")


BAD = {
    "no severity": (["lint-moment", "--rule", "synopsis-defers"], "has no severity"),
    "no such rule": (["lint-moment", "--rule", "x=warning"], "The rules are"),
    "no such severity": (["lint-moment", "--rule", "synopsis-defers=loud"], "It is one of error, retry, warning, off"),
}


@pytest.mark.parametrize(("arguments", "reported"), BAD.values(), ids=BAD)
def test_bad_usage_is_said(capsys: pytest.CaptureFixture[str], file: Path, arguments: list[str], reported: str) -> None:
    """What is asked for is none of what there is."""
    file.write_text(json.dumps(WIRE))

    status, _, err = run(capsys, *arguments, str(file))

    assert status == 2
    assert reported in err


UNREADABLE = {
    "empty": "",
    "cut": '{"binding_moment": {',
    "said twice": '{"binding_moment": 1, "binding_moment": 2}',
    "too deep": "[" * 200 + "]" * 200,
    "not a number": '{"binding_moment": NaN}',
    "withheld": '{"type": "vendor.emitter.deliberation", "payload": {"state": "s"}}',
    "malformed": json.dumps(TORN),
    "a list": "[]",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("command", ["digest", "lint-moment"])
def test_what_holds_no_envelope_is_bad_usage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, text: str
) -> None:
    """One sentence, and no traceback."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    status, out, err = run(capsys, command)

    assert (status, out) == (2, "")
    assert err.startswith("emitter: standard input")
