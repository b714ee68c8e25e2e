"""Say what a host makes of AI envelopes: accepted, gated, invalid or breached, and why.

Each file holds one envelope, an array of them, or a model's text with envelopes in fenced blocks; all of them
are one turn of one node, in the order given. Secrets are struck out of everything that is printed. With a
store, an envelope that was accepted before is not accepted again: it has the outcome that it had.

Exit status: 0 if every envelope was accepted, 1 if one was not, 2 on bad usage.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.accept import (
    Accepted,
    Acceptor,
    Context,
    EnvelopeContract,
    RefusalMode,
    Rules,
    Strictness,
    extract,
)
from emitter.cli.document import write
from emitter.cli.hosting import add_kinds, catalogue
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

    from emitter.accept import Acceptance
    from emitter.store.log import Store
    from emitter.wire import Json

_CONTRACT = 'Name kinds, apart by commas, or a file that holds {"accepts": [...], "refusalMode": "fail-node"}.'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="ENVELOPE", help="a file; - is standard input")
    parser.add_argument("--contract", metavar="KINDS", help="the kinds that the node may emit, or a file that says so")
    parser.add_argument("--secrets", metavar="FILE", help='a file of {"id": "value"}: what is struck out')
    add_kinds(parser)
    parser.add_argument("--strict", action="store_true", help="refuse an older schema version, rather than warn")
    parser.add_argument("--untrusted", action="store_true", help="the node worked from untrusted content")
    parser.add_argument("--approving", action="store_true", help="an approval gate would advance on the envelope")
    parser.add_argument("--store", metavar="FILE", help="remember what was accepted, in this SQLite file")
    parser.add_argument("--events", metavar="FILE", help="append every event to this file, one a line")
    parser.add_argument("--run-id", default="run", metavar="ID", help="the run (default: run)")
    parser.add_argument("--node-id", default="node", metavar="ID", help="the node (default: node)")
    parser.add_argument("--json", action="store_true", help="print the outcomes as a JSON array")


def run(asked: argparse.Namespace) -> int:
    """Accept and print."""
    envelopes = [each for file in asked.files for each in _envelopes(file)]
    context = Context(
        asked.run_id,
        asked.node_id,
        contract=_contract(asked.contract),
        inputs=Trust.UNTRUSTED if asked.untrusted else Trust.TRUSTED,
        approving=asked.approving,
    )
    rules = Rules(
        catalogue=catalogue(asked),
        strictness=Strictness.STRICT if asked.strict else Strictness.WARN,
        secrets=_secrets(asked.secrets),
    )
    sink = None if asked.events is None else to_jsonl(asked.events)
    with ExitStack() as stack:
        store: Store = MemoryStore() if asked.store is None else stack.enter_context(SqliteStore(asked.store))
        turn = Acceptor(rules, store=store, sink=sink).turn(context)
        done = [turn.accept(each) for each in envelopes]
    if asked.json:
        write([{**each.outcome.to_json(), "cached": each.cached} for each in done])
    else:
        sys.stdout.write("".join(f"{_told(each)}\n" for each in done))
    return 0 if all(each.status == Accepted.status for each in done) else 1


def _envelopes(file: str) -> list[Json]:
    """Return what the file holds; a text that holds no document is refused as it stands, like any other."""
    text = read_text(file)
    return [each.value for each in extract(text)] or [text]


def _told(acceptance: Acceptance) -> str:
    outcome, envelope = acceptance.outcome, acceptance.envelope
    if not isinstance(outcome, Accepted):
        return line(f"{outcome.status}  {outcome.reason}")
    kind = "" if envelope is None else envelope.type
    notes = [f"events: {', '.join(each.type for each in acceptance.events)}"] if acceptance.events else []
    notes += ["accepted before"] if acceptance.cached else []
    notes += [f"secrets struck out: {acceptance.redactions}"] if acceptance.redactions else []
    notes += [f"schema version below {acceptance.drift}"] if acceptance.drift is not None else []
    return line("  ".join([outcome.status, kind, outcome.envelope_id, *notes, *acceptance.warnings]))


def _contract(given: str | None) -> EnvelopeContract:
    if given is None:
        return EnvelopeContract()
    if not Path(given).is_file():
        return EnvelopeContract(frozenset(each.strip() for each in given.split(",") if each.strip()))
    declared = mapping(read_json(given))
    accepts, mode = sequence(declared.get("accepts")), declared.get("refusalMode", RefusalMode.FAIL_NODE.value)
    known = [each.value for each in RefusalMode]
    if not all(isinstance(each, str) for each in accepts) or "accepts" not in declared or mode not in known:
        raise InputError(f"{given} is no contract.", hint=f"{_CONTRACT} refusalMode is one of {', '.join(known)}.")
    return EnvelopeContract(frozenset(map(str, accepts)), RefusalMode(mode))


def _secrets(file: str | None) -> Secrets:
    return NO_SECRETS if file is None else Secrets.of(read_json(file))
