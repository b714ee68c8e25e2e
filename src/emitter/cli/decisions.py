"""List the decisions that wait in a store for an answer, the oldest first, each with its findings.

STORE is the SQLite file of a `Ledger` or an `Authority`; none is ever made here. Answer one with `emitter resolve
--store STORE` at the terminal, or with `emitter serve --store STORE` on a local page; the call that waited for it then
goes on when it is made again under its id.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.authority.records.form import written
from emitter.cli.document import write
from emitter.cli.stored import opened
from emitter.render.line import line, quoted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from emitter.ledger import Pending
    from emitter.wire import Json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("store", metavar="STORE", help="the file of a store")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(asked: Namespace) -> int:
    """List them."""
    with opened(asked.store) as stored:
        found = stored.authority.ledger.pending()
    if asked.json:
        write({"decisions": [_json(each) for each in found]})
    else:
        sys.stdout.write("".join(f"{each}\n" for pending in found for each in _lines(pending)))
    return 0


def _json(pending: Pending) -> dict[str, Json]:
    question = pending.moment.question
    return {
        "decision_id": pending.decision_id,
        "digest": pending.digest,
        "agent": pending.agent,
        "opened_at": written(pending.opened_at),
        "expires_at": None if pending.expires_at is None else written(pending.expires_at),
        "synopsis": pending.moment.synopsis,
        "findings": list(pending.moment.findings),
        "stem": question.stem,
        "options": [each.label for each in question.options],
    }


def _lines(pending: Pending) -> Iterator[str]:
    until = "" if pending.expires_at is None else f", until {written(pending.expires_at)}"
    asked = f"{quoted(pending.agent)} asks {quoted(pending.moment.question.stem)}"
    yield f"{quoted(pending.decision_id)}: {asked} (since {written(pending.opened_at)}{until})"
    yield from (f"  {line(each)}" for each in pending.moment.findings)
