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
from emitter.ledger import KeepWords, Unkept
from emitter.render.line import line, quoted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from emitter.ledger import DetailRequest, Pending
    from emitter.wire import Json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("store", metavar="STORE", help="the file of a store")
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    parser.add_argument("--words-key", metavar="FILE", help="decrypts what people ask for detail on: a JWK, or PEM")


def run(asked: Namespace) -> int:
    """List them."""
    words = KeepWords() if asked.words_key is None else KeepWords.with_key_file(asked.words_key)
    with opened(asked.store, words) as stored:
        ledger = stored.authority.ledger
        found = [(each, ledger.detail_requests(each.decision_id)) for each in ledger.pending()]
    if asked.json:
        write({"decisions": [_json(*each) for each in found]})
    else:
        sys.stdout.write("".join(f"{each}\n" for one in found for each in _lines(*one)))
    return 0


def _json(pending: Pending, details: Iterable[DetailRequest]) -> dict[str, Json]:
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
        "details": [{"number": each.number, "topic": _topic(each), "answer": each.answer} for each in details],
    }


def _topic(request: DetailRequest) -> str | None:
    return None if isinstance(request.topic, Unkept) else request.topic


def _lines(pending: Pending, details: Iterable[DetailRequest]) -> Iterator[str]:
    until = "" if pending.expires_at is None else f", until {written(pending.expires_at)}"
    asked = f"{quoted(pending.agent)} asks {quoted(pending.moment.question.stem)}"
    yield f"{quoted(pending.decision_id)}: {asked} (since {written(pending.opened_at)}{until})"
    yield from (f"  {line(each)}" for each in pending.moment.findings)
    for each in details:
        topic = _topic(each)
        about = "a detail" if topic is None else f"detail on {quoted(topic)}" if topic else "detail"
        yield f"  {each.number}. {about} is asked for{'' if each.is_open else ', and answered'}"
