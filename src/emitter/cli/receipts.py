"""List, export and verify the chains of records that say what was done, and by whose authority.

STORE is the SQLite file that an `emitter.authority.Authority` keeps its records in; none is ever made here. A chain
holds where no line was changed, moved or left out, and where each act had a live authority that covered it. That its
end was not cut off can be told by the hash of a line that was noted elsewhere (--head); a store's own log of events is
such a note. Who wrote the lines can be told where they are signed (--key).
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from argparse import ArgumentTypeError, RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from emitter.authority.export import export, read_lines, report
from emitter.cli.chains import Broken, Done, listed_json, listed_lines, verified_json, verified_lines
from emitter.cli.document import write
from emitter.cli.source import read_text
from emitter.cli.stored import is_store, opened, readable
from emitter.errors import InputError, Tampered
from emitter.render.line import line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Iterator

    from emitter.authority.export import Report
    from emitter.authority.signing import Checker
    from emitter.cli.stored import Stored

T = TypeVar("T")

_STATUS: Final = "Exit status: 0 all holds, 1 something does not, 2 bad usage."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the subcommands and their arguments."""
    parser.epilog = f"{_STATUS} SUBCOMMAND --help tells more."
    subcommands = parser.add_subparsers(required=True, metavar="SUBCOMMAND", help="what to do")
    for name, act, declare, told in (
        ("list", _list, _list_arguments, "list receipts, and acts that have none"),
        ("export", _export, _export_arguments, "write a workflow's chain as lines of canonical JSON"),
        ("verify", _verify, _verify_arguments, "say whether chains hold, and what they come to"),
        ("key", _key, _key_arguments, "make a key that signs chains"),
    ):
        sub = subcommands.add_parser(name, help=told, formatter_class=RawDescriptionHelpFormatter, epilog=_STATUS)
        sub.description = inspect.getdoc(act)
        declare(sub)
        sub.set_defaults(act=act)


def run(asked: Namespace) -> int:
    """Do what the subcommand says; 1 where a chain does not hold."""
    try:
        status: int = asked.act(asked)
    except Tampered as error:
        sys.stderr.write(f"emitter: {line(str(error))}\n")
        return 1
    return status


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("store", metavar="STORE", help="the file of a store")
    parser.add_argument("--workflow", metavar="W", help="only this workflow's")
    parser.add_argument("--unfinished", action="store_true", help="only acts that have no receipt")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def _list(asked: Namespace) -> int:
    """List each workflow's receipts, and the acts that began and have none: nobody saw how they ended.

    Of a workflow whose chain does not hold only that is told, and the exit status is 1.
    """
    with opened(asked.store) as stored:
        found = [_told(each, partial(_done, stored, each, asked)) for each in stored.workflows(asked.workflow)]
    if asked.json:
        write(listed_json(found))
    else:
        _say(told for each in found for told in listed_lines(each))
    return _status(found)


def _done(stored: Stored, workflow_id: str, asked: Namespace) -> Done:
    place, authority = f"a line of workflow {workflow_id}", stored.authority
    receipts = () if asked.unfinished else readable(place, lambda: authority.receipts(workflow_id))
    return Done(workflow_id, receipts, readable(place, lambda: authority.unfinished(workflow_id)))


def _export_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("store", metavar="STORE", help="the file of a store")
    parser.add_argument("workflow", metavar="WORKFLOW", help="whose chain")
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file; standard output where it is left out")


def _export(asked: Namespace) -> int:
    """Write a workflow's chain as it stands in the store: a record a line, in canonical JSON (RFC 8785).

    What does not hold is written all the same, as evidence; it is told, and the exit status is 1. The hash of the last
    line goes to standard error: keep it elsewhere, and verify with --head.
    """
    with opened(asked.store) as stored:
        (workflow_id,) = stored.workflows(asked.workflow)
        head = stored.noted_head(workflow_id)
        lines = list(stored.lines(workflow_id))
    _save(b"".join(export(lines)), asked.output)
    found = report(lines, head=head, workflow_id=workflow_id, max_skew=math.inf)
    sys.stderr.write(f"emitter: {found.lines} lines; the head is {found.head}\n")
    return 0


def _save(text: bytes, name: str | None) -> None:
    if name is None:
        sys.stdout.buffer.write(text)
        return
    try:
        with Path(name).open("xb") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}.", hint="Name a new file.") from None


def _verify_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE|STORE", help="an exported chain, or a store; - is standard input")
    parser.add_argument("--workflow", metavar="W", help="whose chain it must be; of a store, the only one to look at")
    parser.add_argument(
        "--key", action="append", default=[], metavar="PUBLIC.jwk", help="who may have signed; may be repeated"
    )
    parser.add_argument(
        "--principal", action="append", default=[], metavar="PUBLIC.jwk", help="whose answers count; may be repeated"
    )
    parser.add_argument("--head", metavar="HASH", help="the hash of a line that was the last when it was noted")
    parser.add_argument(
        "--max-skew",
        type=_skew,
        default=0.0,
        metavar="S",
        help="by how many seconds clocks were allowed to differ, as Authority(max_skew=) had it (default: 0)",
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def _verify(asked: Namespace) -> int:
    """Say whether each line is what was written, follows on the one before, and was allowed where it stands.

    Told are also how much of each authority was spent, why it ended, and which acts have no receipt. Without --key
    nobody looks at signatures; with one, each line must be signed by one of the keys. Each act rests on an answer, and
    with --principal each of these must be signed by one of the principals; it is told whose it is. In a store, what is
    retained beside a receipt must be what the receipt says that the act returned.
    """
    names = _named(asked.principal)
    found = list(_verified(asked))
    if asked.json:
        write({"holds": _status(found) == 0, "chains": [verified_json(each, names) for each in found]})
    else:
        how = {"checked": bool(asked.key), "headed": asked.head is not None or is_store(asked.file)}
        _say(told for each in found for told in verified_lines(each, names, **how))
    return _status(found)


def _status(found: Iterable[object]) -> int:
    return int(any(isinstance(each, Broken) for each in found))


def _verified(asked: Namespace) -> Iterator[Report | Broken]:
    principals = _checker(asked.principal)
    answers = None if principals is None else principals.answered_by
    read = partial(report, check=_checker(asked.key), max_skew=asked.max_skew, answers=answers)
    if not is_store(asked.file):
        lines = read_lines(read_text(asked.file))
        yield _told(asked.workflow, lambda: read(lines, head=asked.head, workflow_id=asked.workflow))
        return
    with opened(asked.file) as stored:
        for each in _chosen(stored, asked):
            yield _told(each, partial(_in_store, stored, each, asked.head, read))


def _in_store(stored: Stored, workflow_id: str, head: str | None, read: Callable[..., Report]) -> Report:
    found = read(stored.lines(workflow_id), head=stored.noted_head(workflow_id), workflow_id=workflow_id)
    stored.check_kept(workflow_id)
    return found if head is None else read(stored.lines(workflow_id), head=head, workflow_id=workflow_id)


def _told(workflow_id: str | None, read: Callable[[], T]) -> T | Broken:
    try:
        return read()
    except Tampered as error:
        return Broken(workflow_id, error.place, str(error))


def _chosen(stored: Stored, asked: Namespace) -> tuple[str, ...]:
    names = stored.workflows(asked.workflow)
    if not names:
        raise InputError("The store has no record of any workflow: there is nothing to verify.")
    if asked.head is not None and len(names) > 1:
        raise InputError("--head is of one chain, and the store has several.", hint="Say which with --workflow.")
    return names


def _key_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="NEW_FILE", help="where the private key is kept: only its owner may read it")


def _key(asked: Namespace) -> int:
    """Make a key that signs chains, and print its public part, as a JWK, for those who verify them.

    Authority(sign=emitter.authority.signing.signer(emitter.authority.signing.load_key(NEW_FILE))) signs with it.
    """
    signing = importlib.import_module("emitter.authority.signing")  # which needs an extra
    key = signing.new_key()
    signing.save_key(key, asked.file)
    write(signing.public(key))
    return 0


def _checker(files: list[str]) -> Checker | None:
    if not files:
        return None
    signing = importlib.import_module("emitter.authority.signing")  # which needs an extra
    check: Checker = signing.checker(*map(signing.load_key, files))
    return check


def _named(files: list[str]) -> dict[str, str]:
    """Return the files that were named, by the thumbprints of their keys."""
    if not files:
        return {}
    signing = importlib.import_module("emitter.authority.signing")
    return {signing.load_key(each).thumbprint(): each for each in files}


def _skew(given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise ArgumentTypeError(f"{given!r} is no number of seconds, 0 or more")
    return seconds


def _say(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{each}\n" for each in lines))
