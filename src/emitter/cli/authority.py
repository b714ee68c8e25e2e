"""The commands ``stop``, ``resume``, ``revoke``, ``settle`` and ``forget``, which control agents through a store."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from emitter.authority import Authority, Effects, Result, StopRequest
from emitter.authority.records import TakeoverMode
from emitter.cli.arguments import add_json_argument, add_sign_argument, add_store_argument, to_number
from emitter.cli.input_output import print_json
from emitter.cli.stores import load_signer, open_store
from emitter.errors import InputError, UnsignedLine
from emitter.messages import as_mapping
from emitter.render.safe_text import quote

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Generator

    from emitter.authority.records import Intent
    from emitter.messages import Json

_SECONDS_A_DAY: Final = 24 * 60 * 60.0


def add_stop_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_store_argument(parser)
    parser.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id: see `emitter receipts list`")
    parser.add_argument("--step", metavar="STEP", help="stop only this step")
    modes = [mode.value for mode in TakeoverMode]
    parser.add_argument(
        "--takeover-mode", choices=modes, help="who takes over (default: nobody, and the stop is final)"
    )
    parser.add_argument("--delegate-to", metavar="AGENT", help="the agent that takes over")
    parser.add_argument("--reason", metavar="TEXT", help="why, for the record")
    parser.add_argument(
        "--request-id",
        metavar="ID",
        help="the stop's id; the same id stops once, however often it is sent (default: a new id)",
    )
    _add_record_arguments(parser)


def run_stop(args: Namespace) -> int:
    """Stop a workflow, or one of its steps, in every process that shares the store.

    No further action starts. Running actions cannot be interrupted; the command lists those that may still run. A stop
    with --takeover-mode pause or human can be lifted with `emitter resume`.
    """
    names = ("workflow", "step", "takeover_mode", "delegate_to", "reason", "request_id")
    with _open_authority(args) as authority:
        known = authority.workflows()
        stopped = authority.stop(StopRequest(*(getattr(args, name) for name in names)))
    record = stopped.stop
    if record.workflow_id not in known:
        others = ", ".join(map(quote, known)) or "none"
        sys.stderr.write(f"emitter: {quote(record.workflow_id)} has no records yet; known workflows: {others}\n")
    if args.json:
        print_json({"stop": record.to_json(), "unfinished": [each.to_json() for each in stopped.unfinished_intents]})
        return 0
    sys.stdout.write(f"stopped {quote(record.workflow_id)}, by the request {quote(record.request_id)}\n")
    sys.stdout.write("".join(map(_unfinished_line, stopped.unfinished_intents)))
    return 0


def _unfinished_line(intent: Intent) -> str:
    act = f"{quote(intent.action)} on {quote(intent.target)}"
    return f"  may still run: {act} (intent {quote(intent.intent_id)}, since {intent.timestamp})\n"


def add_resume_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_store_argument(parser)
    parser.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    parser.add_argument("request_id", metavar="REQUEST", help="the id of the stop: see `emitter receipts list`")
    _add_record_arguments(parser)


def run_resume(args: Namespace) -> int:
    """Lift a pause or a human takeover.

    Approvals from before the stop stay invalid. One that was given meanwhile counts, if it is still valid. Each stop is
    lifted by itself: after two, resume twice.
    """
    with _open_authority(args) as authority:
        record = authority.resume(args.workflow, args.request_id)
    return _print_record(args, record, f"resumed {quote(record.workflow_id)}")


def add_revoke_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_store_argument(parser)
    parser.add_argument("confirm_id", metavar="CONFIRM", help="the approval's id: see `emitter receipts verify`")
    parser.add_argument("--reason", metavar="TEXT", help="why, for the record")
    _add_record_arguments(parser)


def run_revoke(args: Namespace) -> int:
    """Revoke an approval, so that no further action starts under it.

    A guarded call that is approved and has not run has no CONFIRM yet: its program takes it back with the guarded
    tool's revoke(), or you stop the workflow.
    """
    with _open_authority(args) as authority:
        record = authority.revoke(args.confirm_id, reason=args.reason)
    return _print_record(args, record, f"revoked {quote(record.confirm_id)}")


def add_settle_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_store_argument(parser)
    parser.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    parser.add_argument("intent_id", metavar="INTENT", help="the action's id: see `emitter receipts list --unfinished`")
    results = [result.value for result in Result]
    parser.add_argument("--result", required=True, choices=results, help="the result of the action")
    parser.add_argument("--side-effects", metavar="JSON", help="its side effects, as a JSON object")
    parser.add_argument(
        "--evidence", action="append", default=[], metavar="REF", help="a reference to evidence; repeatable"
    )
    parser.add_argument("--error", metavar="TEXT", help="what went wrong")
    _add_record_arguments(parser)


def run_settle(args: Namespace) -> int:
    """Write the receipt of an action that started and never ended, once you have found out what it did.

    An action never ends if its process is killed. Its call is not repeated, neither before nor after it is settled. To
    act again, make a new call with a new id.
    """
    effects = Effects(Result(args.result), _parse_object(args.side_effects), tuple(args.evidence), args.error)
    with _open_authority(args) as authority:
        receipt = authority.resolve_unfinished(args.workflow, args.intent_id, effects)
    return _print_record(args, receipt, f"settled {quote(args.intent_id)} as {receipt.result.value}")


def _parse_object(text: str | None) -> dict[str, Json] | None:
    if text is None:
        return None
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError("--side-effects is not a JSON object.", hint="""Write --side-effects '{"rows": 3}'.""")
    return dict(as_mapping(value))


def add_forget_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_store_argument(parser)
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument(
        "--older-than", type=to_number, metavar="DAYS", help="delete words written more than DAYS days ago"
    )
    chosen.add_argument("--decision", metavar="ID", help="delete the words about this decision")
    add_json_argument(parser)


def run_forget(args: Namespace) -> int:
    """Delete what people wrote about decisions: their free texts, objections and requests for detail.

    The kind of each answer stays, with a hash that recognizes the same answer. Words expire anyway, after a week by
    default; run this command regularly to delete them earlier.
    """
    with open_store(args.store) as stored:
        ledger = stored.authority.ledger
        if args.decision is None:
            count = ledger.delete_old_words(args.older_than * _SECONDS_A_DAY)
        else:
            count = ledger.delete_words(args.decision)
    if args.json:
        print_json({"deleted": count})
    else:
        sys.stdout.write(f"deleted {count} {'text' if count == 1 else 'texts'}\n")
    return 0


def _add_record_arguments(parser: ArgumentParser) -> None:
    add_sign_argument(parser, "sign the record")
    add_json_argument(parser, "print the record as JSON")


@contextmanager
def _open_authority(args: Namespace) -> Generator[Authority]:
    """Open the store's authority, which signs its records if ``--sign`` names a key."""
    sign = load_signer(args.sign)
    with open_store(args.store) as stored:
        try:
            yield Authority(stored.store, ledger=stored.authority.ledger, sign=sign)
        except UnsignedLine as error:
            raise InputError("The workflow's chain is signed.", hint="Sign the record with --sign KEY.") from error


def _print_record(args: Namespace, record: Any, summary: str) -> int:
    if args.json:
        print_json(record.to_json())
    else:
        sys.stdout.write(f"{summary}\n")
    return 0
