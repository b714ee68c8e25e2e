"""Measure accepting: ``python -m benchmarks.accepting [--rounds N] [--check]``.

What it costs to take an envelope through all steps, beside bare pydantic that validates the same one with its payload
typed. The envelope is the library's own binding moment of 2 KB, the same each time but for its correlation id where
a store would otherwise remember it. Times are processor time, the median of rounds in which all take turns, so that
what SQLite waits for the disk is not in them. ``--check`` exits with 1 where accepting without a store takes
longer than the target says.
"""

from __future__ import annotations

import argparse
import json
import random
import string
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from benchmarks.page import NONE, markdown, note, number, released, say
from benchmarks.timing import loops
from benchmarks.turns import DOCUMENT
from emitter.host import STANDARD, Acceptor, AIEnvelope, EnvelopeContext, HostConfig, Secrets
from emitter.models import BINDING_MOMENT, BindingMoment
from emitter.stores import MemoryStore, SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TARGET = 4.0
"""Times the bare validation that an accept without a store may take."""
MICRO = 1e6
BARE, ACCEPT = "pydantic, payload typed", "accept, no store"
CONTEXT = EnvelopeContext("run", "node")
LETTERS = string.ascii_letters + string.digits
FOUND = "sk-live-4f9a8b7c6d5e4f3a"


class Payload(BaseModel):
    """What the payload of a binding moment is."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    reasoning: str = ""
    binding_moment: BindingMoment


class Whole(AIEnvelope):
    """The envelope as a pydantic user writes it: no host, no kinds, one payload."""

    payload: Payload


def envelope() -> dict[str, Any]:
    """Return the benchmarks' document as the envelope that the library makes of it."""
    turn = DOCUMENT["turn"]
    question = {**turn["question"], "hatches": {"free_text": True, "dialogue": True}}
    slots = {name: turn[name] for name in ("synopsis", "findings", "recommendations", "offer")}
    meta = {name: turn[name] for name in ("calibration_note", "decision_class")}
    return {
        "type": BINDING_MOMENT,
        "schemaVersion": STANDARD.versions[BINDING_MOMENT],
        "envelopeId": "01980b5e-7c1a-7f2e-9d3b-5a6c7d8e9f01",
        "correlationId": "run:node:0:5f2b6c1e",
        "nodeId": CONTEXT.node_id,
        "payload": {
            "reasoning": DOCUMENT["reasoning"],
            "binding_moment": {**slots, "question": question, "meta": meta},
        },
        "meta": {"source": "ai-generation", "ts": "2027-01-31T12:00:00Z", "contentTrust": "trusted"},
    }


def secrets(number_of: int) -> Secrets:
    """Return a registry of values like keys."""
    chance = random.Random(number_of)  # noqa: S311  they are the same each time
    return Secrets.of({f"key-{at}": "".join(chance.choices(LETTERS, k=32)) for at in range(number_of)})


def contestants(file: SqliteStore) -> dict[str, Callable[[], object]]:
    """Return what is measured; all but the refused and the known are accepted anew each time."""
    given = envelope()
    telling, refused = _with(given, f"The key is {FOUND}."), _with(given, 7)
    none = Acceptor(store=None)
    known = Acceptor(store=MemoryStore())
    known.accept(given, CONTEXT)
    return {
        BARE: lambda: Whole.model_validate(given, by_name=False),
        ACCEPT: lambda: none.accept(given, CONTEXT),
        "accept, 5 secrets": _accepting(given, secrets(5)),
        "accept, 1,000 secrets": _accepting(given, secrets(1_000)),
        "accept, 1 secret struck out": _accepting(telling, Secrets.of({"stripe": FOUND})),
        "accept, MemoryStore": _anew(Acceptor(store=MemoryStore()), given),
        "accept, SqliteStore": _anew(Acceptor(store=file), given),
        "accept, known to a MemoryStore": lambda: known.accept(given, CONTEXT),
        "pydantic, refused": lambda: _refused(refused),
        "accept, refused": lambda: none.accept(refused, CONTEXT),
    }


def _with(given: Mapping[str, Any], offer: object) -> dict[str, Any]:
    """Return the envelope with another offer in it."""
    payload = given["payload"]
    return {**given, "payload": {**payload, "binding_moment": {**payload["binding_moment"], "offer": offer}}}


def _accepting(given: dict[str, Any], registry: Secrets) -> Callable[[], object]:
    host = Acceptor(HostConfig(secrets=registry), store=None)
    return lambda: host.accept(given, CONTEXT)


def _anew(host: Acceptor, given: dict[str, Any]) -> Callable[[], object]:
    numbers = count()
    return lambda: host.accept({**given, "correlationId": f"run:node:{next(numbers)}:5f2b6c1e"}, CONTEXT)


def _refused(given: dict[str, Any]) -> None:
    with suppress(ValidationError):
        Whole.model_validate(given, by_name=False)


def sound(runs: Mapping[str, Callable[[], object]]) -> None:
    """Raise ``AssertionError`` where what is measured is not what it is called."""
    expected = {"accept, refused": "invalid"}
    for name, run in runs.items():
        if name.startswith("accept"):
            found: Any = run()
            status = expected.get(name, "accepted")
            if (found.status, found.cached, bool(found.redactions)) != (status, "known" in name, "struck" in name):
                raise AssertionError(name)


def table(times: Mapping[str, float]) -> None:
    """Write the table."""
    rows = [
        (
            f"{released('pydantic')}{name.removeprefix('pydantic')}" if name.startswith("pydantic") else name,
            number(spent * MICRO),
            number(spent / times[BARE], 2),
            number(1 / spent, 0) if name.startswith("accept") else NONE,
        )
        for name, spent in times.items()
    ]
    for line in markdown(("what", "µs", "x pydantic", "accepts a second"), rows):
        say(line)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accepting", description=__doc__)
    add = parser.add_argument
    add("--rounds", metavar="N", type=int, default=15, help="rounds of which the median counts (default: %(default)s)")
    add("--check", action="store_true", help=f"exit with 1 where it takes more than {TARGET:g} times the validation")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds must be more than 0")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the table, and compare."""
    options = _options(arguments)
    with TemporaryDirectory() as folder, SqliteStore(Path(folder) / "log.db") as file:
        runs = contestants(file)
        sound(runs)
        times = loops(runs, options.rounds)
    say(f"An envelope of {len(json.dumps(envelope()).encode()):,} bytes:\n")
    table(times)
    ratio = times[ACCEPT] / times[BARE]
    within = ratio <= TARGET
    say(f"\n{ACCEPT}: {ratio:.2f} x pydantic, {'within' if within else 'beyond'} the target of {TARGET:g}.")
    if options.check and not within:
        note(f"accepting takes {ratio:.2f} times the bare validation; it may take {TARGET:g}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
