"""The commands ``providers`` and ``simulate``."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from contextlib import suppress
from textwrap import fill
from typing import TYPE_CHECKING

from emitter import profiles as profile
from emitter.cli.arguments import add_json_argument, add_port_argument, find_facts, to_integer, to_number
from emitter.cli.input_output import print_json, read_text
from emitter.errors import InputError
from emitter.outside_values import parse_float
from emitter.profiles.model import Sdk

if TYPE_CHECKING:
    import argparse

    from emitter.profiles import Profile
    from emitter.testing import Behaviour


def add_providers_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="print all facts of this vendor, with their sources")
    add_json_argument(parser)


def run_providers(args: argparse.Namespace) -> int:
    """List the vendors that emitter has facts about, or print all facts of one with their sources."""
    if args.name is not None:
        print_json(find_facts(args.name).model_dump(mode="json", exclude_none=True))
        return 0
    profiles = [profile.load_profile(name) for name in profile.listed_profile_names()]
    if args.json:
        print_json([_summary(facts) for facts in profiles])
        return 0
    for facts in profiles:
        key = _describe_key(facts)
        sys.stdout.write(f"{facts.name:<18} {facts.title:<26} {', '.join(facts.wires):<32} {key}\n")
    return 0


def _summary(facts: Profile) -> dict[str, object]:
    return {
        "name": facts.name,
        "title": facts.title,
        "wires": [wire.value for wire in facts.wires],
        "keyEnv": list(facts.client.key_env),
        "keyFound": any(os.environ.get(name) for name in facts.client.key_env),
        "keyRequired": facts.client.key_required,
    }


def _describe_key(facts: Profile) -> str:
    """Describe the state of a vendor's key: found, to be set, or not needed."""
    names = " or ".join(facts.client.key_env)
    if any(os.environ.get(name) for name in facts.client.key_env):
        return "key found"
    if facts.client.key_required:
        return f"set {names}"
    need = "AWS credentials and region" if facts.client.sdk is Sdk.BEDROCK else "no key needed"
    return f"{need}, or {names}" if names else need


def add_simulate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    names = fill(", ".join(_named_behaviours()), 100, initial_indent="  ", subsequent_indent="  ")
    parser.epilog = (
        f"values of ANSWER, which can be mixed by weight:\n{names}\n\n"
        "To use it in a shell, run `emitter simulate > vendor.env &`, and `. ./vendor.env` once it listens."
    )
    add_port_argument(parser)
    parser.add_argument(
        "--seed", type=to_integer, default=0, metavar="N", help="makes the answers repeatable (default: 0)"
    )
    parser.add_argument(
        "--answer",
        default="decoded",
        metavar="ANSWER",
        help="the kind of answer (default: decoded), or the answer itself: a JSON object, or @FILE with its text",
    )
    parser.add_argument("--tokens-per-second", type=to_number, metavar="N", help="the speed (default: unlimited)")


def run_simulate(args: argparse.Namespace) -> int:
    """Run a simulated vendor on this machine until interrupted.

    It is a server that speaks the APIs of OpenAI, Anthropic, Google and Amazon Bedrock. The command prints the
    environment variables that point the vendors' SDKs to it. By default the server answers with documents whose values
    are drawn at random within the schema of each request. --answer selects other answers, and errors.
    """
    testing = importlib.import_module("emitter.testing")
    is_text = args.answer.startswith(("@", "{"))
    answers = testing.Text(_read_answer(args.answer)) if is_text else _parse_mixture(args.answer)
    with testing.simulator(
        seed=args.seed, answers=answers, tokens_per_second=args.tokens_per_second, port=args.port, keep=1
    ) as vendor:
        for name, value in vendor.environment().items():
            sys.stdout.write(f"export {name}={value}\n")
        sys.stdout.flush()
        sys.stderr.write(f"emitter: a simulated vendor listens at {vendor.url}; Ctrl-C ends it\n")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
        billed = vendor.billed
    sys.stderr.write(f"\nemitter: the vendor would bill {billed.input} tokens in, {billed.output} out\n")
    return 0


def _named_behaviours() -> dict[str, Behaviour]:
    """Return the behaviours that need no arguments, by their lower-case names."""
    testing = importlib.import_module("emitter.testing")  # loads an event loop, which `providers` does without
    behaviours: dict[str, Behaviour] = {}
    for name in dir(testing):
        kind = getattr(testing, name)
        if isinstance(kind, type) and kind.__module__ == "emitter.testing.behaviours":
            with suppress(TypeError):  # it needs an argument
                behaviours[name.lower()] = kind()
    return behaviours


def _read_answer(text: str) -> str:
    """Return the text that the vendor answers with, or that of a file after ``@``."""
    return read_text(text[1:]) if text.startswith("@") else text


def _parse_mixture(text: str) -> dict[Behaviour, float]:
    known, weights = _named_behaviours(), dict[str, float]()
    for part in text.split(","):
        name, _, weight = part.strip().partition("=")
        if name not in known:
            raise InputError(f"--answer does not know {name!r}.", hint=f"Use {', '.join(known)}.")
        share = parse_float(weight or "1")
        if share is None:
            raise InputError(f"--answer has a bad weight: {part!r}.", hint="Write a name, or name=weight.")
        weights[name] = share
    return {known[name]: weight for name, weight in weights.items()}
