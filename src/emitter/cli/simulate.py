"""Run a simulated vendor on this machine until interrupted: a real server that speaks OpenAI, Anthropic and Google.

Prints the environment variables that lead the vendors' SDKs to it. Answers are drawn by constrained decoding of
the schema in each request; --answer has it do something else, once in so many times where weights are given.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from emitter import testing
from emitter.errors import InputError
from emitter.testing import simulator

if TYPE_CHECKING:
    import argparse

    from emitter.testing import Behaviour


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        f"ANSWER is one of {', '.join(_behaviours())}, or a mixture such as decoded=8,overloaded=1,cut=1. "
        "In a shell: emitter simulate > vendor.env & then, when it listens, . ./vendor.env"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="where to listen (default: a free port)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same answers")
    parser.add_argument("--answer", default="decoded", metavar="ANSWER", help="what it answers (default: decoded)")
    parser.add_argument("--pace", type=float, metavar="N", help="tokens a second (default: at once)")


def run(asked: argparse.Namespace) -> int:
    """Serve until interrupted, and say what came."""
    answers = _mixture(asked.answer)
    with simulator(seed=asked.seed, answers=answers, tokens_per_second=asked.pace, port=asked.port, keep=1) as vendor:
        for name, value in vendor.environment().items():
            sys.stdout.write(f"export {name}={value}\n")
        sys.stdout.flush()
        sys.stderr.write(f"emitter: a simulated vendor listens at {vendor.url}; Ctrl-C ends it\n")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
        billed = vendor.billed
    sys.stderr.write(f"\nemitter: the vendor would bill {billed.input} tokens in, {billed.output} out\n")
    return 0


def _behaviours() -> dict[str, Behaviour]:
    """Return the behaviours that need nothing said, by their name in lower case."""
    found: dict[str, Behaviour] = {}
    for name in dir(testing):
        kind = getattr(testing, name)
        if isinstance(kind, type) and kind.__module__ in _HOMES:
            with suppress(TypeError):
                found[name.lower()] = kind()
    return found


_HOMES = ("emitter.testing.answers", "emitter.testing.faults")


def _mixture(asked: str) -> dict[Behaviour, float]:
    known, weights = _behaviours(), dict[str, float]()
    for each in asked.split(","):
        name, _, weight = each.strip().partition("=")
        if name not in known:
            raise InputError(f"--answer has {name!r}.", hint=f"It knows {', '.join(known)}.")
        try:
            weights[name] = float(weight or 1)
        except ValueError as error:
            raise InputError(f"--answer has {each!r}.", hint="Write a name, or name=weight.") from error
    return {known[name]: weight for name, weight in weights.items()}
