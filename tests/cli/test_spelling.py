"""The command line spells the options that a message of the library names as flags, and facts as lines of TOML."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import emitter
from emitter import Policy, Profile
from emitter.cli.arguments import add_emission_arguments, build_policy, emission_options
from emitter.cli.spelling import with_flags
from emitter.errors import InputError
from emitter.messages import OutputMode
from emitter.testing import Cut, Text, UnknownStop, VendorWords, simulator
from emitter.testing.dialects import load_dialects
from tests.cli.jobs import command, write_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Behaviour

PYTHON = re.compile(r"Policy[.(]|\bpolicy=|\bprofile=|\bProfile\b|\boverride\(|\bextra_body=")
"""What only a Python program can write."""


def parser() -> argparse.ArgumentParser:
    """Return a parser with the options of an emission."""
    made = argparse.ArgumentParser()
    made.add_argument("--model")
    add_emission_arguments(made)
    return made


OPTIONS = vars(parser().parse_args([]))
SPELLED = {
    "Raise Policy.max_cost.": "Raise --max-cost.",
    "Pass Policy(output_tokens=20, max_output_tokens=20).": "Pass --output-tokens 20 --max-output-tokens 20.",
    "Pass policy=Policy(timeout=...).": "Pass --timeout SECONDS.",
    "by Policy(lower_effort=True).": "by --lower-effort.",
    "Pass Policy(prices=Prices(input=…, output=…)), in US dollars": "Pass --prices IN OUT, in US dollars",
    "Pass Policy(unknown=1).": "Pass Policy(unknown=1).",
    'Or pass wire="openai-chat".': "Or pass --wire openai-chat.",
    "Leave out profile=.": "Leave out --profile FILE.",
    "a Ledger(sign=...) signs": "a Ledger(sign=...) signs",
    "Pass extra_body={'a': {'b': False}}, or": """Pass --extra-body '{"a": {"b": false}}', or""",
    "an entry of extra_body=, the": "an entry of --extra-body, the",
    'profile=Profile.from_name(...).override(modes=["text"]).': (
        '--profile FILE with wires.API.output.modes = ["text"].'
    ),
    "Profile.from_name(...).override(stops={'a \"b': ...}), with": (
        '--profile FILE with wires.API.stops.reasons = {"a \\"b" = ...}, with'
    ),
    "profile=Profile.from_name(...).override(max_output=9).": (
        '--profile FILE with models = [{match = "*", max_output = 9}].'
    ),
    "an unclosed Policy(a=": "an unclosed Policy(a=",
    "Policy(no code here) stays": "Policy(no code here) stays",
}


@pytest.mark.parametrize(("message", "spelled"), SPELLED.items(), ids=SPELLED)
def test_an_option_is_spelled_as_a_flag(message: str, spelled: str) -> None:
    """What no flag stands for is left alone."""
    assert with_flags(message, OPTIONS) == spelled


def test_a_spelled_fact_is_toml() -> None:
    """It can be copied into the file, with the API that ``--wire`` names."""
    line = with_flags('Profile.from_name(...).override(modes=["text"], max_output=9)', OPTIONS)
    facts = line.removeprefix("--profile FILE with ").replace("API", "openai-chat").replace(" and ", "\n")
    server = Profile.from_toml(facts)
    assert tomllib.loads(facts)
    assert (server.model_limits("m").max_output, server.wires[server.default_wire].output.modes) == (
        9,
        (OutputMode.TEXT,),
    )


def hints() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each message of the library that names a policy or a profile."""
    root = Path(emitter.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in {"cli", "testing"}:
            yield from ((f"{path.relative_to(root)}: {text}", text) for text in _messages(ast.parse(path.read_text())))


def _messages(tree: ast.Module) -> Iterator[str]:
    bodies = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]  # type: ignore[attr-defined]
    ignored = {each.value for body in bodies for each in body if isinstance(each, ast.Expr)}
    ignored |= {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if node in ignored:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(each.value) if isinstance(each, ast.Constant) else "deadline" for each in node.values)
        else:
            text = str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if re.search(r"\s", text) and re.search(r"Policy[.(]|profile=|Profile\.from_name", text):
            yield text.replace("{{{!r}: ...}}", "{'stop': ...}")


HINTS = dict(hints())
ABOUT_PYTHON = (
    "client/options.py: ",  # an argument that a function does not have
    "client/routing.py: Pass Profile.from_toml",  # what profile= may be
    "prices.py: For a deployment",  # prices of another model, which no flag can name
)


@pytest.mark.parametrize("place", [place for place in HINTS if not place.startswith(ABOUT_PYTHON)])
def test_every_message_of_the_library_can_be_spelled(place: str) -> None:
    """A message that names an option in another form than the documented ones would speak Python to a shell."""
    assert not PYTHON.search(with_flags(HINTS[place], OPTIONS))


FAILURES: dict[str, Behaviour] = {
    **{name: VendorWords(name, 10**9 if each.kind == "cut" else 1) for name, each in load_dialects().items()},
    "cut": Cut(answer=Text({})),
    "looped": Cut(answer=Text("[" + '"again and again", ' * 4000)),
    "unknown stop": UnknownStop("halted"),
    "no stop": UnknownStop(""),
    "invalid": Text({}),
    "prose": Text("No."),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("attempts", ["1", "2"])
def test_no_failure_of_a_command_speaks_python(failure: str, attempts: str, tmp_path: Path) -> None:
    """Neither on standard error nor in JSON, whatever the server says."""
    write_files(tmp_path)
    model = "openai-compatible/m"
    with simulator(answers=lambda _: FAILURES[failure]) as vendor:
        server = ("--model", model, "--base-url", vendor.base_url(model))
        limits = ("--max-attempts", attempts, "--max-faults", "0")
        form = ("--schema", str(tmp_path / "invoice.json"), "--prompt", "Owed?", "--json")
        done = command(vendor, tmp_path, "emit", *server, *limits, *form)

    assert done.returncode == 1 or (attempts == "2" and done.returncode == 0), done.stdout
    assert not re.search(r"Policy\(|\bprofile=|\bProfile\.", done.stdout + done.stderr)


def test_every_limit_of_a_policy_has_a_flag() -> None:
    """The flags are made from the fields, and lead to them."""
    values: dict[str, Any] = {"prices": "1 4", "nl_to_format": "", "lower_effort": ""}
    flags = {each.name: values.get(each.name, "7") for each in fields(Policy)}
    line = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in flags.items())
    policy = build_policy(parser().parse_args(shlex.split(line)))

    assert (policy.lower_effort, policy.nl_to_format, policy.max_faults) == (True, True, 7)
    assert all(getattr(policy, each.name) != each.default for each in fields(Policy))
    assert build_policy(parser().parse_args([])) == Policy()
    assert emission_options(parser().parse_args(["--max-faults", "0"]))["policy"] == Policy(max_faults=0)
    with pytest.raises(InputError, match="truncation_multiplier"):
        build_policy(parser().parse_args(["--truncation-multiplier", "9"]))
