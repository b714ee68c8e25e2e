"""Say what a host makes of AI envelopes: accepted, gated, invalid or breached, and why.

Each file holds one envelope, an array of them, or a model's text with envelopes in fenced blocks; all of them
are one turn of one node, in the order given. Secrets are struck out of everything that is printed. With a
store, an envelope that was accepted before is not accepted again: it has the outcome that it had.

What follows an envelope that fails the node is not looked at. With --json, an envelope is printed as it may leave
the host.

Exit status: 0 if every envelope was accepted, 1 if one was not, 2 on bad usage.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from emitter.accept import (
    Accepted,
    Acceptor,
    Context,
    EnvelopeContract,
    RefusalMode,
    Rules,
    Strictness,
    extract,
    follow_up,
)
from emitter.cli.document import write
from emitter.cli.hosting import add_kinds, add_limits, catalogue, limits
from emitter.cli.source import read_json, read_text
from emitter.errors import InputError
from emitter.kinds import Trust
from emitter.redact import NO_SECRETS, Secrets
from emitter.render.line import line
from emitter.sinks import to_jsonl
from emitter.store import MemoryStore, SqliteStore
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from emitter.accept import Acceptance
    from emitter.store.log import Store
    from emitter.wire import Json

_CONTRACT = 'Name kinds, apart by commas, or a .json file that holds {"accepts": [...], "refusalMode": "fail-node"}.'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="ENVELOPE", help="a file; - is standard input")
    parser.add_argument(
        "--contract", metavar="KINDS", help="the kinds that the node may emit, or a .json file that says so"
    )
    parser.add_argument("--secrets", metavar="FILE", help='a file of {"id": "value"}: what is struck out')
    add_kinds(parser)
    add_limits(parser)
    parser.add_argument("--strict", action="store_true", help="refuse an older schema version, rather than warn")
    parser.add_argument("--untrusted", action="store_true", help="the node worked from untrusted content")
    parser.add_argument("--approving", action="store_true", help="an approval gate would advance on the envelope")
    parser.add_argument("--store", metavar="FILE", help="remember what was accepted, in this SQLite file")
    parser.add_argument("--events", metavar="FILE", help="append every event to this file, one a line")
    parser.add_argument("--run-id", default="run", metavar="ID", help="the run (default: run)")
    parser.add_argument("--node-id", default="node", metavar="ID", help="the node (default: node)")
    parser.add_argument("--json", action="store_true", help="print what became of each as a JSON array")


def run(asked: argparse.Namespace) -> int:
    """Accept and print."""
    given = list(_envelopes(asked.files))
    context = Context(
        asked.run_id,
        asked.node_id,
        contract=_contract(asked.contract),
        inputs=Trust.UNTRUSTED if asked.untrusted else Trust.TRUSTED,
        approving=asked.approving,
    )
    rules = Rules(
        catalogue=catalogue(asked),
        limits=limits(asked),
        strictness=Strictness.STRICT if asked.strict else Strictness.WARN,
        secrets=NO_SECRETS if asked.secrets is None else Secrets.of(read_json(asked.secrets)),
    )
    sink = None if asked.events is None else to_jsonl(asked.events)
    if asked.store == "":
        raise InputError("--store is empty.", hint="Name a file, or leave it out.")
    with ExitStack() as stack:
        store: Store = MemoryStore() if asked.store is None else stack.enter_context(SqliteStore(asked.store))
        turn = Acceptor(rules, store=store, sink=sink).turn(context)
        done = turn.accept_all(each.value for each in given)
    _print(given, done, as_json=asked.json)
    return 0 if len(done) == len(given) and all(each.status == Accepted.status for each in done) else 1


class _Given(NamedTuple):
    """What stands in a file."""

    place: str
    value: Json


def _envelopes(files: list[str]) -> Iterator[_Given]:
    """Yield what the files hold; a text that holds no document is refused as it stands, like any other."""
    if files.count("-") > 1:
        raise InputError("Standard input is named more than once.", hint="It can be read once.")
    for file in files:
        text = read_text(file)
        found = [each.value for each in extract(text)] or [text]
        name = "standard input" if file == "-" else file
        for number, value in enumerate(found, 1):
            yield _Given(name if len(found) == 1 else f"{name}#{number}", value)


def _print(given: list[_Given], done: tuple[Acceptance, ...], *, as_json: bool) -> None:
    if as_json:
        write([{"file": each.place, **_whole(found)} for each, found in zip(given, done, strict=False)])
    else:
        for each, found in zip(given, done, strict=False):
            sys.stdout.write(f"{_told(found, '' if len(given) == 1 else each.place)}\n")
    left = len(given) - len(done)
    if left:
        sys.stderr.write(f"emitter: the node has failed; envelopes that were not looked at: {left}\n")


def _whole(found: Acceptance) -> dict[str, Json]:
    return {
        **found.outcome.to_json(),
        "cached": found.cached,
        "envelope": None if found.envelope is None else found.envelope.to_json(),
        "drift": found.drift,
        "redactions": found.redactions,
        "warnings": list(found.warnings),
        "events": [each.to_json() for each in found.events],
        "followUp": follow_up(found),
    }


def _told(found: Acceptance, place: str) -> str:
    outcome, envelope = found.outcome, found.envelope
    where = [place] if place else []
    if not isinstance(outcome, Accepted):
        return line("  ".join([outcome.status, *where, outcome.reason]))
    kind = "" if envelope is None else envelope.type
    notes = [f"events: {', '.join(each.type for each in found.events)}"] if found.events else []
    notes += ["accepted before"] if found.cached else []
    notes += [f"secrets struck out: {found.redactions}"] if found.redactions else []
    notes += [f"schema version below {found.drift}"] if found.drift is not None else []
    return line("  ".join([outcome.status, *where, kind, outcome.envelope_id, *notes, *found.warnings]))


def _is_place(given: str) -> bool:
    """Tell whether a contract is a file's name, though there may be none: kinds have no such names."""
    with suppress(OSError):  # the names of many kinds are longer than a file's may be
        return given.endswith(".json") or "/" in given or (given != "" and Path(given).exists())
    return False


def _contract(given: str | None) -> EnvelopeContract:
    if given is None:
        return EnvelopeContract()
    if not _is_place(given):
        return EnvelopeContract(frozenset(each.strip() for each in given.split(",") if each.strip()))
    declared: Json = read_json(given)
    accepts, mode = mapping(declared).get("accepts"), mapping(declared).get("refusalMode", RefusalMode.FAIL_NODE.value)
    known = [each.value for each in RefusalMode]
    if (
        not isinstance(accepts, list)
        or not all(isinstance(each, str) for each in sequence(accepts))
        or mode not in known
    ):
        raise InputError(f"{given} is no contract.", hint=f"{_CONTRACT} refusalMode is one of {', '.join(known)}.")
    return EnvelopeContract(frozenset(map(str, sequence(accepts))), RefusalMode(mode))
