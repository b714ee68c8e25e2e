"""The commands ``accept`` and ``capabilities`` of an OpenWOP host."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from emitter.cli.arguments import (
    add_events_argument,
    add_json_argument,
    add_secrets_argument,
    check_single_standard_input,
    to_count,
)
from emitter.cli.input_output import print_json, read_json, read_schema, read_text, source_name
from emitter.errors import InputError
from emitter.host import (
    DEFAULT_LIMITS,
    Accepted,
    Acceptor,
    EnvelopeContext,
    EnvelopeContract,
    HostConfig,
    HostLimits,
    RefusalMode,
    Strictness,
    build_follow_up,
    extract_documents,
)
from emitter.host.capabilities import CapabilitySettings, build_capabilities, list_usable_providers
from emitter.host.kinds import A2UI_KIND, STANDARD, media_kinds
from emitter.host.registry import Posture, register_kind
from emitter.messages import as_list, as_mapping
from emitter.models import Trust
from emitter.outside_values import parse_int
from emitter.policy import Policy
from emitter.redaction import NO_SECRETS, Secrets
from emitter.render.safe_text import to_single_line
from emitter.stores import MemoryStore, SqliteStore
from emitter.telemetry.sinks import to_jsonl

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from emitter.host import Acceptance
    from emitter.host.kinds import KindRegistry
    from emitter.messages import Json
    from emitter.stores.protocol import Store

_CONTRACT_HINT = 'Pass kinds separated by commas, or a .json file with {"accepts": [...], "refusalMode": "fail-node"}.'


def add_accept_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="ENVELOPE", help="a file, or - for standard input")
    parser.add_argument(
        "--contract",
        metavar="KINDS",
        help="the kinds that the node may emit, separated by commas, or a .json file (default: all)",
    )
    add_secrets_argument(parser)
    add_kind_arguments(parser)
    add_limit_arguments(parser)
    parser.add_argument("--strict", action="store_true", help="refuse older schema versions instead of warning")
    parser.add_argument("--untrusted", action="store_true", help="the node worked with untrusted content")
    parser.add_argument("--approving", action="store_true", help="an accepted envelope advances an approval gate")
    parser.add_argument("--store", metavar="FILE", help="remember accepted envelopes in this SQLite file")
    add_events_argument(parser)
    parser.add_argument("--run-id", default="run", metavar="ID", help="the run's id (default: run)")
    parser.add_argument("--node-id", default="node", metavar="ID", help="the node's id (default: node)")
    add_json_argument(parser, "print the results as a JSON array")
    parser.epilog = "Exit status: 0 if every envelope was accepted, 1 if one was not, 2 on bad usage."


def run_accept(args: argparse.Namespace) -> int:
    """Report whether a host accepts AI envelopes: accepted, gated, invalid or breached, and why.

    Each file holds one envelope, an array of envelopes, or a model's text with envelopes in fenced blocks. All of
    them form one turn of one node, in the given order. Secrets are redacted from all output. With --store, an
    envelope that was accepted before keeps its outcome. Envelopes after one that fails the node are not processed.
    --json prints the envelopes with secrets redacted.
    """
    envelopes = list(_read_envelopes(args.files))
    context = EnvelopeContext(
        args.run_id,
        args.node_id,
        contract=_parse_contract(args.contract),
        inputs=Trust.UNTRUSTED if args.untrusted else Trust.TRUSTED,
        approving=args.approving,
    )
    config = HostConfig(
        registry=build_registry(args),
        limits=build_limits(args),
        strictness=_strictness(args),
        secrets=NO_SECRETS if args.secrets is None else Secrets.of(read_json(args.secrets)),
    )
    on_event = None if args.events is None else to_jsonl(args.events)
    if args.store == "":
        raise InputError("--store is empty.", hint="Pass a file, or remove --store.")
    with ExitStack() as stack:
        store: Store = MemoryStore() if args.store is None else stack.enter_context(SqliteStore(args.store))
        turn = Acceptor(config, store=store, on_event=on_event).turn(context)
        results = turn.accept_all(envelope.value for envelope in envelopes)
    _print_results(envelopes, results, as_json=args.json)
    all_accepted = all(result.status == Accepted.status for result in results)
    return 0 if len(results) == len(envelopes) and all_accepted else 1


def _strictness(args: argparse.Namespace) -> Strictness:
    return Strictness.STRICT if args.strict else Strictness.WARN


class _InputEnvelope(NamedTuple):
    """A value in an input file."""

    source: str
    value: Json


def _read_envelopes(files: list[str]) -> Iterator[_InputEnvelope]:
    """Yield the documents in the files. A text without one is passed on as a whole, and the acceptor rejects it."""
    check_single_standard_input(files)
    for file in files:
        text = read_text(file)
        values = [document.value for document in extract_documents(text)] or [text]
        name = source_name(file)
        for number, value in enumerate(values, 1):
            yield _InputEnvelope(name if len(values) == 1 else f"{name}#{number}", value)


def _print_results(envelopes: list[_InputEnvelope], acceptances: tuple[Acceptance, ...], *, as_json: bool) -> None:
    results = list(zip(envelopes, acceptances, strict=False))
    if as_json:
        print_json([{"file": envelope.source, **_acceptance_json(acceptance)} for envelope, acceptance in results])
    else:
        for envelope, acceptance in results:
            sys.stdout.write(f"{_acceptance_line(acceptance, '' if len(envelopes) == 1 else envelope.source)}\n")
    skipped = len(envelopes) - len(acceptances)
    if skipped:
        sys.stderr.write(f"emitter: the node failed; envelopes not processed: {skipped}\n")


def _acceptance_json(acceptance: Acceptance) -> dict[str, Json]:
    return {
        **acceptance.outcome.to_json(),
        "cached": acceptance.cached,
        "envelope": None if acceptance.envelope is None else acceptance.envelope.to_json(),
        "drift": acceptance.drift,
        "redactions": acceptance.redactions,
        "warnings": list(acceptance.warnings),
        "events": [event.to_json() for event in acceptance.events],
        "followUp": build_follow_up(acceptance),
    }


def _acceptance_line(acceptance: Acceptance, source: str) -> str:
    outcome, envelope = acceptance.outcome, acceptance.envelope
    prefix = [outcome.status, *filter(None, [source])]
    if not isinstance(outcome, Accepted):
        return to_single_line("  ".join([*prefix, outcome.reason]))
    kind = "" if envelope is None else envelope.type
    notes = [f"events: {', '.join(event.type for event in acceptance.events)}"] if acceptance.events else []
    notes += ["accepted before"] if acceptance.cached else []
    notes += [f"secrets redacted: {acceptance.redactions}"] if acceptance.redactions else []
    notes += [f"schema version below {acceptance.drift}"] if acceptance.drift is not None else []
    return to_single_line("  ".join([*prefix, kind, outcome.envelope_id, *notes, *acceptance.warnings]))


def _is_file_name(text: str) -> bool:
    """Check whether a contract is the name of a file rather than a list of kinds."""
    with suppress(OSError):  # a long list of kinds exceeds the length of a file name
        return text.endswith(".json") or "/" in text or (text != "" and Path(text).exists())
    return False


def _parse_contract(text: str | None) -> EnvelopeContract:
    if text is None:
        return EnvelopeContract()
    if not _is_file_name(text):
        return EnvelopeContract(frozenset(kind.strip() for kind in text.split(",") if kind.strip()))
    contract = as_mapping(read_json(text))
    accepts, mode = contract.get("accepts"), contract.get("refusalMode", RefusalMode.FAIL_NODE.value)
    modes = [mode.value for mode in RefusalMode]
    kinds = as_list(accepts)
    if not isinstance(accepts, list) or not all(isinstance(kind, str) for kind in kinds) or mode not in modes:
        hint = f"{_CONTRACT_HINT} refusalMode is one of {', '.join(modes)}."
        raise InputError(f"{text} is not a contract.", hint=hint)
    return EnvelopeContract(frozenset(map(str, kinds)), RefusalMode(mode))


def add_capabilities_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_kind_arguments(parser)
    add_limit_arguments(parser)
    parser.add_argument("--strict", action="store_true", help="refuse older schema versions")
    parser.add_argument("--contracts", action="store_true", help="advertise that nodes declare the kinds they may emit")
    parser.add_argument(
        "--nl-to-format", action="store_true", help="advertise two-step emissions: free text, then the form"
    )
    add_json_argument(parser, "print one JSON document (always on)")


def run_capabilities(args: argparse.Namespace) -> int:
    """Print the capabilities of a host with this configuration, as OpenWOP's capability document.

    It contains the kinds, limits and policy that you pass, and the vendors whose SDK and key are available on this
    machine.
    """
    config = HostConfig(registry=build_registry(args), limits=build_limits(args), strictness=_strictness(args))
    settings = CapabilitySettings(
        config,
        args.contracts,
        posture=Posture.WARN if args.kind else Posture.OFF,
        policy=Policy(nl_to_format=args.nl_to_format),
        providers=list_usable_providers(),
    )
    print_json(build_capabilities(settings))
    return 0


"""Digits of a count or version. Python refuses to convert thousands of them."""
_KIND_FORM = "ID=FILE or ID@VERSION=FILE"


def add_kind_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the kinds that a host accepts."""
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar=_KIND_FORM.partition(" ")[0],
        help=f"add a kind with the JSON Schema of its payload: {_KIND_FORM} (default version: 1)",
    )
    parser.add_argument("--media", action="store_true", help="accept media.image, media.audio and media.file")
    parser.add_argument("--a2ui", action="store_true", help="accept ui.a2ui-surface")


def add_limit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for a host's limits."""
    for name, (field, description) in _LIMIT_OPTIONS.items():
        default = getattr(DEFAULT_LIMITS, field)
        parser.add_argument(
            name,
            dest=field,
            type=to_count,
            default=default,
            metavar="N",
            help=f"{description} (default: {default})",
        )


_LIMIT_OPTIONS = {
    "--envelopes-per-turn": ("envelopes_per_turn", "envelopes per turn"),
    "--schema-rounds": ("schema_rounds", "rounds in which a model may correct an envelope"),
    "--clarification-rounds": ("clarification_rounds", "clarifications that a node may request"),
}


def build_limits(args: argparse.Namespace) -> HostLimits:
    """Return the limits from the arguments."""
    return HostLimits(args.envelopes_per_turn, args.schema_rounds, args.clarification_rounds)


def build_registry(args: argparse.Namespace) -> KindRegistry:
    """Return the standard kinds and those from the arguments."""
    kinds = STANDARD.with_kinds(*media_kinds()) if args.media else STANDARD
    kinds = kinds.with_kinds(A2UI_KIND) if args.a2ui else kinds
    for declaration in args.kind:
        name, _, file = declaration.partition("=")
        kind, _, version = name.partition("@")
        number = parse_int(version or "1")
        if not file or number is None:
            raise InputError(f"--kind {declaration} must have the form {_KIND_FORM}.")
        kinds = register_kind(kind, read_schema(file), number, registry=kinds)
    return kinds
