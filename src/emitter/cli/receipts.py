"""The command ``receipts``: list, export and verify chains of records.

Names in a chain come from other parties, so they are printed in quotation marks and cannot control the
terminal.
"""

from __future__ import annotations

import importlib
import inspect
import math
import os
import sys
from argparse import RawDescriptionHelpFormatter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from emitter.authority.audit import export_lines, read_lines, report_chain
from emitter.authority.records import LINE_VERSION
from emitter.cli.arguments import add_json_argument, add_store_argument, parse_number
from emitter.cli.input_output import print_json, read_text
from emitter.cli.stores import is_store, open_store, read_or_tampered
from emitter.decisions.resolution import signing_key_id
from emitter.errors import InputError, Tampered
from emitter.files import check_path, private_opener
from emitter.render.safe_text import quote, to_single_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emitter.authority import Intent, Receipt
    from emitter.authority.audit import ChainReport
    from emitter.authority.records import Amount, Stop
    from emitter.authority.rules import GrantState
    from emitter.authority.signing import SignatureVerifier
    from emitter.cli.stores import OpenStore
    from emitter.messages import Json

T = TypeVar("T")
_EXAMPLES: Final = {
    "list": "agents.db --unfinished",
    "export": "agents.db deploy -o deploy.jsonl",
    "verify": "deploy.jsonl --key public.jwk",
    "key": "private.jwk > public.jwk",
}
_EXIT_STATUS_HELP: Final = "Exit status: 0 every chain holds, 1 a chain does not hold, 2 bad usage."


def add_receipts_arguments(parser: ArgumentParser) -> None:
    """Add the subcommands and their arguments."""
    parser.epilog = f"{_EXIT_STATUS_HELP}\nRun `emitter receipts SUBCOMMAND --help` for details."
    subcommands = parser.add_subparsers(required=True, metavar="SUBCOMMAND", help="what to do")
    for name, run, add_arguments, summary in (
        ("list", _run_list, _add_list_arguments, "list receipts, actions without one, and stops in force"),
        ("export", _run_export, _add_export_arguments, "write a workflow's chain as lines of canonical JSON"),
        ("verify", _run_verify, _add_verify_arguments, "verify chains, and report what they allowed"),
        ("key", _run_key, _add_key_arguments, "make a key that signs chains, or print the public part of one"),
    ):
        epilog = f"example:\n  emitter receipts {name} {_EXAMPLES[name]}\n\n{_EXIT_STATUS_HELP}"
        sub = subcommands.add_parser(name, help=summary, formatter_class=RawDescriptionHelpFormatter, epilog=epilog)
        sub.description = inspect.getdoc(run)
        add_arguments(sub)
        sub.set_defaults(run_subcommand=run)


def run_receipts(args: Namespace) -> int:
    """List, export and verify the chains of records of what was done, and by whose authority.

    STORE is the store of an `emitter.authority.Authority`, and is never created. A chain holds if no line was changed,
    moved or left out, and a valid authority covered each action. A missing end is detected by the hash of a last line:
    a store notes it in its event log, and for a file you pass one that you noted elsewhere (--head). To verify who
    wrote signed lines, pass their public keys (--key).
    """
    try:
        status: int = args.run_subcommand(args)
    except Tampered as error:
        sys.stderr.write(f"emitter: {to_single_line(str(error))}\n")
        return 1
    return status


def _add_list_arguments(parser: ArgumentParser) -> None:
    add_store_argument(parser)
    parser.add_argument("--workflow", metavar="WORKFLOW", help="list only this workflow")
    parser.add_argument("--unfinished", action="store_true", help="list only actions without a receipt")
    add_json_argument(parser)


def _run_list(args: Namespace) -> int:
    """List the receipts of each workflow, the actions that started but have no receipt, and the stops in force.

    `emitter resume STORE WORKFLOW REQUEST` lifts a stop whose mode is pause or human.

    A workflow whose chain does not hold is reported without its records, and the exit status is 1.
    """
    with open_store(args.store) as stored:
        workflows = [
            _catch_tampered(workflow_id, partial(_read_workflow, stored, workflow_id, args))
            for workflow_id in stored.workflows(args.workflow)
        ]
    if args.json:
        print_json(workflows_json(workflows))
    else:
        _print_lines(line for workflow in workflows for line in workflow_lines(workflow))
    return _exit_status(workflows)


def _read_workflow(stored: OpenStore, workflow_id: str, args: Namespace) -> WorkflowRecords:
    place, authority = f"a line of workflow {workflow_id}", stored.authority
    receipts = None if args.unfinished else read_or_tampered(place, lambda: authority.receipts(workflow_id))
    unfinished = read_or_tampered(place, lambda: authority.unfinished_actions(workflow_id))
    stops = () if args.unfinished else read_or_tampered(place, lambda: authority.stops(workflow_id))
    return WorkflowRecords(workflow_id, receipts, unfinished, stops)


def _add_export_arguments(parser: ArgumentParser) -> None:
    add_store_argument(parser)
    parser.add_argument("workflow", metavar="WORKFLOW", nargs="?", help="the workflow's id")
    parser.add_argument("--workflow", dest="named", metavar="WORKFLOW", help="the same")
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file (default: standard output)")


def _run_export(args: Namespace) -> int:
    """Write a workflow's chain unchanged: one record per line, in canonical JSON (RFC 8785).

    A chain that does not hold is written too, as evidence, and the exit status is 1. The hash of the last line is
    printed on standard error: keep it elsewhere, and pass it to `verify --head`.
    """
    with open_store(args.store) as stored:
        names = stored.workflows(args.named or args.workflow)
        if len(names) != 1:
            raise InputError(f"The store holds {len(names)} workflows.", hint="Name one: see `emitter receipts list`.")
        (workflow_id,) = names
        head = stored.noted_head(workflow_id)
        lines = list(stored.lines(workflow_id))
    _write_new_file(b"".join(export_lines(lines)), args.output)
    report = report_chain(lines, head=head, workflow_id=workflow_id, max_skew=math.inf)
    sys.stderr.write(f"emitter: {report.lines} lines; the head is {report.head}\n")
    return 0


def _write_new_file(text: bytes, name: str | None) -> None:
    if name is None:
        sys.stdout.buffer.write(text)
        return
    try:
        with open(check_path("--output", name), "xb", opener=private_opener) as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}.", hint="Pass the name of a new file.") from error


def _add_verify_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE|STORE", help="an exported chain, or a store; - is standard input")
    parser.add_argument(
        "--workflow", metavar="WORKFLOW", help="verify only this workflow of a store, or require it in FILE"
    )
    parser.add_argument(
        "--key", action="append", default=[], metavar="PUBLIC.jwk", help="a key that may sign lines; repeatable"
    )
    parser.add_argument(
        "--principal", action="append", default=[], metavar="PUBLIC.jwk", help="a key that may sign answers; repeatable"
    )
    parser.add_argument("--head", metavar="HASH", help="the hash of a line that the chain must contain")
    parser.add_argument(
        "--max-skew",
        type=_parse_skew,
        default=0.0,
        metavar="SECONDS",
        help="the most that clocks may differ, as in Authority(max_skew=) (default: 0)",
    )
    add_json_argument(parser)


def _run_verify(args: Namespace) -> int:
    """Check that each line is unchanged, follows the one before it, and was allowed at its place.

    The report says how much of each authority was spent, why it ended, and which actions have no receipt. With --key,
    each line must be signed by one of the keys; without it, signatures are not checked. With --principal, the answer
    behind each action must be signed by one of the principals, and the report names them. In a store, the results that
    are kept with receipts must match them.
    """
    names = _key_files(args.principal)
    chains = list(_verify_chains(args))
    status = _exit_status(chains)
    if args.json:
        print_json({"holds": status == 0, "chains": [verification_json(chain, names) for chain in chains]})
    else:
        checked, end = bool(args.key), _end_note(args)
        _print_lines(line for chain in chains for line in verification_lines(chain, names, checked=checked, end=end))
    return status


def _end_note(args: Namespace) -> str:
    if args.head is not None:
        return _HEAD_FOUND
    return _LOGGED_END if is_store(args.file) else _UNVERIFIED_END


def _exit_status(outcomes: Iterable[object]) -> int:
    return int(any(isinstance(outcome, BrokenChain) for outcome in outcomes))


def _verify_chains(args: Namespace) -> Iterator[ChainReport | BrokenChain]:
    principals = _load_checker(args.principal)
    answers = None if principals is None else principals.verify_answer
    read = partial(report_chain, check_line=_load_checker(args.key), max_skew=args.max_skew, check_answer=answers)
    if not is_store(args.file):
        lines = read_lines(read_text(args.file))
        yield _catch_tampered(args.workflow, lambda: read(lines, head=args.head, workflow_id=args.workflow))
        return
    with open_store(args.file) as stored:
        for workflow_id in _select_workflows(stored, args):
            yield _catch_tampered(workflow_id, partial(_verify_stored, stored, workflow_id, args.head, read))


def _verify_stored(
    stored: OpenStore, workflow_id: str, head: str | None, read: Callable[..., ChainReport]
) -> ChainReport:
    report = read(stored.lines(workflow_id), head=stored.noted_head(workflow_id), workflow_id=workflow_id)
    stored.check_retained(workflow_id)
    return report if head is None else read(stored.lines(workflow_id), head=head, workflow_id=workflow_id)


def _catch_tampered(workflow_id: str | None, read: Callable[[], T]) -> T | BrokenChain:
    try:
        return read()
    except Tampered as error:
        return BrokenChain(workflow_id, error.place, str(error))


def _select_workflows(stored: OpenStore, args: Namespace) -> tuple[str, ...]:
    names = stored.workflows(args.workflow)
    if not names:
        sys.stderr.write("emitter: the store holds no workflow yet, so there is nothing to verify\n")
    if args.head is not None and len(names) > 1:
        raise InputError("--head needs one chain, but the store has several.", hint="Select one with --workflow.")
    return names


def _add_key_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the private key; a new file is readable only by its owner")


def _run_key(args: Namespace) -> int:
    """Print the public part of a private key that signs chains, as a JWK for verifiers.

    If FILE does not exist, a key is made and saved there first. An existing file is never written.

    Sign with Authority(sign=make_signer(load_key(FILE))); both functions are in emitter.authority.signing.
    """
    signing = importlib.import_module("emitter.authority.signing")  # needs an extra
    if os.path.lexists(args.file):
        key = signing.load_key(args.file)
        if not key.is_private:
            raise InputError(f"{args.file} has a public key only.", hint="Name the file of the private key.")
    else:
        key = signing.new_key()
        signing.save_key(key, args.file)
    print_json(signing.public_jwk(key))
    return 0


def _load_checker(files: list[str]) -> SignatureVerifier | None:
    if not files:
        return None
    signing = importlib.import_module("emitter.authority.signing")  # needs an extra
    check: SignatureVerifier = signing.make_verifier(*map(signing.load_key, files))
    return check


def _key_files(files: list[str]) -> dict[str, str]:
    """Return the key files by the thumbprints of their keys."""
    if not files:
        return {}
    signing = importlib.import_module("emitter.authority.signing")  # needs an extra
    return {signing.load_key(file).thumbprint(): file for file in files}


def _parse_skew(text: str) -> float:
    return parse_number(text, lambda seconds: 0 <= seconds < math.inf, "a number of seconds, 0 or more")


def _print_lines(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


_HEAD_FOUND: Final = "checked: the chain contains the hash that --head names"
_LOGGED_END: Final = "checked against the store's own log; a hash that you noted elsewhere, with --head, proves more"
_UNVERIFIED_END: Final = "not checked: lines may be missing; pass a hash that you noted with --head"


@dataclass(frozen=True, slots=True)
class BrokenChain:
    """A chain that does not hold. ``workflow_id`` is None if no workflow was named."""

    workflow_id: str | None
    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorkflowRecords:
    """A workflow's receipts, its actions that have none, and its stops in force."""

    workflow_id: str
    receipts: Sequence[Receipt] | None
    unfinished: Sequence[Intent]
    stops: Sequence[Stop]


def verification_json(outcome: ChainReport | BrokenChain, names: Mapping[str, str] | None = None) -> dict[str, Json]:
    """Return a verification as JSON. ``names`` maps thumbprints to the principals' key files."""
    if isinstance(outcome, BrokenChain):
        workflow = {} if outcome.workflow_id is None else {"workflow_id": outcome.workflow_id}
        return {**workflow, "holds": False, "place": outcome.place, "reason": outcome.reason}
    return {
        "workflow_id": outcome.workflow_id,
        "holds": True,
        "lines": outcome.lines,
        "head": outcome.head,
        "signed": outcome.signed,
        "counts": dict(outcome.counts),
        "confirms": [_confirm_json(state, outcome, names or {}) for state in outcome.confirms],
        "unfinished": [intent.to_json() for intent in outcome.unfinished],
    }


def verification_lines(
    outcome: ChainReport | BrokenChain, names: Mapping[str, str], *, checked: bool, end: str
) -> Iterator[str]:
    """Yield a verification as lines of text.

    Args:
        outcome: The report, or the reason why the chain does not hold.
        names: The files of the principals' keys, by thumbprint.
        checked: Signatures were checked.
        end: Whether the end of the chain was checked, and against what.
    """
    if isinstance(outcome, BrokenChain):
        yield _broken_line(outcome)
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(outcome.counts.items()))
    yield f"holds: {quote(outcome.workflow_id)}, {outcome.lines} lines ({counts})"
    yield f"  head        {outcome.head}"
    yield f"  end         {end}"
    yield f"  signatures  {_signature_note(outcome, checked=checked)}"
    if outcome.newer_version:
        yield (
            f"  newer       written by a newer release, version {outcome.newer_version}; this release knows "
            f"{LINE_VERSION}, and did not check what those records allowed"
        )
    for state in outcome.confirms:
        yield _confirm_line(state)
        yield f"    answer    {_answer_note(state, outcome, names)}"
    yield from map(_intent_line, outcome.unfinished)


def workflows_json(workflows: Sequence[WorkflowRecords | BrokenChain]) -> dict[str, Json]:
    """Return the records of the workflows, and the chains that do not hold, as JSON."""
    return {
        "workflows": [_workflow_json(records) for records in workflows if isinstance(records, WorkflowRecords)],
        "broken": [verification_json(chain) for chain in workflows if isinstance(chain, BrokenChain)],
    }


def workflow_lines(workflow: WorkflowRecords | BrokenChain) -> Iterator[str]:
    """Yield the records of a workflow, or the reason why its chain does not hold, as lines of text."""
    if isinstance(workflow, BrokenChain):
        yield _broken_line(workflow)
        return
    counted = "" if workflow.receipts is None else f"receipts {len(workflow.receipts)}, "
    yield f"{quote(workflow.workflow_id)}: {counted}unfinished {len(workflow.unfinished)}"
    yield from map(_receipt_line, workflow.receipts or ())
    yield from map(_intent_line, workflow.unfinished)
    yield from map(_stop_line, workflow.stops)


def _workflow_json(records: WorkflowRecords) -> dict[str, Json]:
    return {
        "workflow_id": records.workflow_id,
        "receipts": [receipt.to_json() for receipt in records.receipts or ()],
        "unfinished": [intent.to_json() for intent in records.unfinished],
        "stops": [stop.to_json() for stop in records.stops],
    }


def _broken_line(chain: BrokenChain) -> str:
    prefix = "" if chain.workflow_id is None else f"{quote(chain.workflow_id)}: "
    return f"does not hold: {prefix}{to_single_line(chain.reason)}"


def _signature_note(report: ChainReport, *, checked: bool) -> str:
    if checked:
        return "valid on every line"
    if not report.signed:
        return "none"
    return f"{report.signed}, not checked: pass a public key with --key"


def _answer_note(confirm_state: GrantState, report: ChainReport, names: Mapping[str, str]) -> str:
    """Describe the answer behind a confirm, and its signatures."""
    key, granted = report.answered_by.get(confirm_state.confirm.confirm_id), confirm_state.confirm.granted_by
    by = f"by {quote(granted.principal)}, " if granted.principal else ""
    if granted.first_approval is not None:
        by += f"after {quote(granted.first_approval.principal)}, "
    if key is not None:
        first_key = None if granted.first_approval is None else signing_key_id(granted.first_approval.signature)
        after = "" if first_key is None else f", after {quote(names.get(first_key, ''))} (key {first_key})"
        return f"{by}signed by {quote(names.get(key, ''))} (key {key}){after}"
    if granted.signature is None:
        return f"{by}not signed: anyone who can write to the store could have recorded it"
    return f"{by}signed, not checked: pass a public key with --principal"


def _confirm_json(confirm_state: GrantState, report: ChainReport, names: Mapping[str, str]) -> dict[str, Json]:
    confirm = confirm_state.confirm
    key, first = report.answered_by.get(confirm.confirm_id), confirm.granted_by.first_approval
    return {
        "confirm_id": confirm.confirm_id,
        "answer": {
            "decision": confirm.granted_by.decision,
            "principal": confirm.granted_by.principal or None,
            "first_approval": None if first is None else first.principal,
            "first_key": None if key is None or first is None else signing_key_id(first.signature),
            "signed": confirm.granted_by.signature is not None,
            "key": key,
            "file": None if key is None else names.get(key),
        },
        "limits": _amounts_json(confirm.limits),
        "spent": _amounts_json(confirm_state.spent),
        "uses": confirm_state.uses,
        "ended": None if confirm_state.end is None else confirm_state.end.value,
    }


def _amounts_json(amounts: Mapping[str, Amount]) -> dict[str, Json]:
    """Return amounts as records hold them: fractions as text."""
    return {name: amount if isinstance(amount, int) else str(amount) for name, amount in amounts.items()}


def _confirm_line(confirm_state: GrantState) -> str:
    limits, spent = confirm_state.confirm.limits, confirm_state.spent
    amounts = [f"{name} {spent[name]} of {limits.get(name, 'any number')}" for name in sorted({*limits, *spent})]
    end = "no end recorded" if confirm_state.end is None else confirm_state.end.value
    notes = ", ".join([f"acts {confirm_state.uses}", *amounts, end])
    return f"  confirm     {quote(confirm_state.confirm.confirm_id)}: {notes}"


def _receipt_line(receipt: Receipt) -> str:
    error = "" if receipt.error is None else f", error {quote(receipt.error)}"
    ids = f"(receipt {quote(receipt.receipt_id)}, by {quote(receipt.authorization_ref)})"
    return f"  {receipt.result.value:<10}  {_describe_act(receipt)}{error} {ids}"


def _intent_line(intent: Intent) -> str:
    ids = f"(intent {quote(intent.intent_id)}, by {quote(intent.authorization_ref)})"
    return f"  unfinished  {_describe_act(intent)} {ids}"


def _stop_line(stop: Stop) -> str:
    mode = "final" if stop.takeover_mode is None else stop.takeover_mode.value
    step = "" if stop.step_id is None else f", step {quote(stop.step_id)}"
    reason = "" if stop.reason is None else f", reason {quote(stop.reason)}"
    return f"  stopped     {stop.timestamp}  {mode}{step}{reason} (request {quote(stop.request_id)})"


def _describe_act(record: Receipt | Intent) -> str:
    step = "" if record.step_id is None else f", step {quote(record.step_id)}"
    return f"{record.timestamp}  {quote(record.action)} on {quote(record.target)}{step}"
