"""`emitter capabilities`: one document, built from what was asked for and what this machine has."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.cli import host
from emitter.host import STANDARD, HostConfig, HostLimits
from emitter.host.capabilities import CapabilitySettings
from emitter.host.capabilities import build_capabilities as document
from emitter.profiles import load_profile, profile_names
from tests.models.openwop import errors, needs_schemas

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

NOTE = "vendor.acme.note"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
KIND = ["--kind", f"{NOTE}@3=note.schema.json"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a schema, without any key."""
    monkeypatch.chdir(tmp_path)
    for variable in {each for name in profile_names() for each in load_profile(name).client.key_env}:
        monkeypatch.delenv(variable, raising=False)
    files = {"note.schema.json": json.dumps(SCHEMA).encode(), "text": b"hello", "binary": b"\xff\xfe", "list": b"[1]"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)


def printed(run: Run, *arguments: str) -> dict[str, Any]:
    """Return the document."""
    ran = run(["capabilities", *arguments])
    assert (ran.status, ran.err) == (0, "")
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_it_prints_the_document_of_a_host_as_it_comes(run: Run) -> None:
    """The same as the library builds, but for the vendors, which are this machine's."""
    found = printed(run)
    here = found.pop("aiProviders", None)
    plain = document(CapabilitySettings(HostConfig()))
    plain.pop("aiProviders", None)

    assert found == plain
    assert found["supportedEnvelopes"] == list(STANDARD.ids)
    assert here is None or here["supported"]
    assert printed(run, "--json").pop("limits") == found["limits"]


SET: dict[str, tuple[list[str], dict[str, Any]]] = {
    "strict": (["--strict"], {"envelopeStrictness": "strict"}),
    "contracts": (["--contracts"], {"envelopeContracts": {"advertised": True}}),
    "limits": (
        ["--envelopes-per-turn", "4", "--schema-rounds", "2", "--clarification-rounds", "7"],
        {"limits": {"envelopesPerTurn": 4, "schemaRounds": 2, "clarificationRounds": 7}},
    ),
}


@pytest.mark.parametrize(("arguments", "members"), SET.values(), ids=SET.keys())
def test_what_is_asked_for_is_said(run: Run, arguments: list[str], members: dict[str, Any]) -> None:
    """Each option where the protocol looks for it, and nothing else is changed."""
    found, plain = printed(run, *arguments), printed(run)

    assert {name: found.get(name) for name in members} == members
    assert {name: each for name, each in found.items() if name not in members} == {
        name: each for name, each in plain.items() if name not in members
    }


@pytest.mark.parametrize(
    ("kind", "version"), [(f"{NOTE}@3", 3), (NOTE, 1), (f"{NOTE}@0", 0)], ids=["version 3", "none named", "version 0"]
)
def test_a_kind_of_ones_own_is_said(run: Run, kind: str, version: int) -> None:
    """With its version; and that a schema which leaves the portable subset is warned of, as ``register_kind`` does."""
    found, plain = printed(run, "--kind", f"{kind}=note.schema.json"), printed(run)
    changed = {name for name in found.keys() | plain.keys() if found.get(name) != plain.get(name)}

    assert changed == {"supportedEnvelopes", "schemaVersions", "envelopes"}
    assert found["supportedEnvelopes"] == [*STANDARD.ids, NOTE]
    assert found["schemaVersions"] == {**STANDARD.versions, NOTE: version}
    assert found["envelopes"] == {**plain["envelopes"], "tierOneSubsetCompliance": "warn"}
    assert plain["envelopes"]["tierOneSubsetCompliance"] == "off"


def test_optional_kinds_are_said_with_their_cap(run: Run) -> None:
    """Media with the bytes that may stand inline; none without them."""
    found, plain = printed(run, "--media", "--a2ui"), printed(run)
    added = [each for each in found["supportedEnvelopes"] if each not in plain["supportedEnvelopes"]]

    assert added == ["media.image", "media.audio", "media.file", "ui.a2ui-surface"]
    assert "maxInlineMediaBytes" in json.dumps(found)
    assert "maxInlineMediaBytes" not in json.dumps(plain)


def test_two_steps_are_said_among_the_events(run: Run) -> None:
    """An event that is not reported is not listed."""
    listed = [printed(run, *more)["envelopes"]["reliability"]["events"] for more in (["--nl-to-format"], [])]

    assert set(listed[0]) - set(listed[1]) == {"envelope.nlToFormat.engaged"}


def test_a_vendor_is_said_where_its_key_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the key is not."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    ran = run(["capabilities"])

    assert "openai" in json.loads(ran.out)["aiProviders"]["supported"]
    assert "openai" not in printed_without_key(run, monkeypatch)
    assert "sk-very-secret" not in ran.out + ran.err


def printed_without_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the vendors that are said where there is no key."""
    monkeypatch.delenv("OPENAI_API_KEY")
    found: list[str] = printed(run).get("aiProviders", {"supported": []})["supported"]
    return found


@needs_schemas
@pytest.mark.parametrize(
    "arguments",
    [[], ["--media", "--a2ui", "--strict", "--contracts", "--nl-to-format", *KIND], SET["limits"][0]],
    ids=["nothing", "everything", "limits"],
)
def test_the_protocols_schema_takes_it(run: Run, arguments: list[str]) -> None:
    """Whatever is asked for."""
    assert errors(printed(run, *arguments), "capabilities.schema.json") == []


def test_it_is_in_ascii(run: Run) -> None:
    """So that every encoding can carry it."""
    assert run(["capabilities", *KIND]).out.isascii()


BAD: dict[str, tuple[list[str], str]] = {
    "kind, no file": (["--kind", NOTE], "must have the form ID=FILE or ID@VERSION=FILE"),
    "kind, missing file": (["--kind", f"{NOTE}=absent"], "absent cannot be read: No such file"),
    "kind, folder": (["--kind", f"{NOTE}=."], ". cannot be read: Is a directory"),
    "kind, binary": (["--kind", f"{NOTE}=binary"], "binary is not UTF-8 text"),
    "kind, no JSON": (["--kind", f"{NOTE}=text"], "text is not JSON"),
    "kind, no schema": (["--kind", f"{NOTE}=list"], "A JSON Schema must be an object or a boolean"),
    "kind, empty stdin": (["--kind", f"{NOTE}=-"], "standard input is not JSON"),
    "kind, no namespace": (["--kind", "note=note.schema.json"], "note has no namespace. Use vendor."),
    "kind, reserved": (["--kind", "media.image=note.schema.json"], "is reserved"),
    "kind, twice": ([*KIND, *KIND], f"already has a kind {NOTE}"),
    "kind, long version": (["--kind", f"{NOTE}@{'9' * 5000}=note.schema.json"], "must have the form ID=FILE or"),
}


@pytest.mark.parametrize(("arguments", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_usage_gets_one_sentence(run: Run, arguments: list[str], reported: str) -> None:
    """Status 2, nothing on standard output, and what to do on one line of standard error."""
    ran = run(["capabilities", *arguments])

    assert reported in ran.err
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("emitter: ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--schema-rounds"], ["file"], ["--bogus"]], ids=" ".join)
def test_what_cannot_be_parsed_shows_the_usage(
    run: Run, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """As of every command."""
    with pytest.raises(SystemExit) as ended:
        run(["capabilities", *arguments])
    reported = capsys.readouterr()

    assert (ended.value.code, reported.out) == (2, "")
    assert reported.err.startswith("usage: emitter")


LIMITS = ("--envelopes-per-turn", "--schema-rounds", "--clarification-rounds")


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "", "9" * 5000], ids=["word", "below 0", "part", "empty", "long"])
@pytest.mark.parametrize("option", LIMITS)
def test_a_bad_limit_is_reported_by_its_option(
    run: Run, option: str, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who is on a command line knows no ``envelopes_per_turn``."""
    with pytest.raises(SystemExit) as ended:
        run(["capabilities", option, given])
    reported = capsys.readouterr()

    assert (ended.value.code, reported.out) == (2, "")
    assert reported.err.endswith(f"argument {option}: {given!r} is not a whole number, 0 or more\n")


# odd surroundings


SURROUNDINGS = {
    "a SOCKS proxy": ("ALL_PROXY", "socks5://acme.test:1080", True),
    "an address that is none": ("OPENAI_BASE_URL", "::", False),
}


@pytest.mark.parametrize(("name", "value", "supported"), SURROUNDINGS.values(), ids=SURROUNDINGS.keys())
def test_odd_surroundings_are_no_crash(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str, *, supported: bool
) -> None:
    """No client is made to see whether its vendor could be reached."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv(name, value)

    assert ("openai" in printed(run)["aiProviders"]["supported"]) is supported


def test_every_argument_explains_itself() -> None:
    """--help says what each is for."""
    parser = argparse.ArgumentParser()
    host.add_capabilities_arguments(parser)

    assert [each.dest for each in parser._actions if not each.help] == []


def test_it_takes_the_limits_of_the_library(run: Run) -> None:
    """Where none are named."""
    usual = HostLimits()

    assert printed(run)["limits"] == {
        "clarificationRounds": usual.clarification_rounds,
        "schemaRounds": usual.schema_rounds,
        "envelopesPerTurn": usual.envelopes_per_turn,
    }


def test_without_schema_rounds_no_retry_is_advertised(run: Run) -> None:
    """The limits bind the host's own emissions, and the document says what they come to."""
    reported = printed(run, "--schema-rounds", "0")["envelopes"]["reliability"]

    assert reported["maxRetryAttempts"] == 1
    assert "envelope.retry.attempted" not in reported["events"]


def test_it_says_that_answers_to_schemas_are_counted(run: Run) -> None:
    """As every host of this library does."""
    assert printed(run)["aiEnvelope"] == {"schemaResponseCounterPolicy": "counted"}
