"""Print what a host of this configuration can do, as OpenWOP's capability document.

It is built from what is really there: the kinds, limits and policy that are asked for, and the vendors whose SDK
and key this machine has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.accept import Limits, Rules, Strictness
from emitter.accept.capabilities import Configured, capabilities, usable_providers
from emitter.cli.document import write
from emitter.cli.hosting import add_kinds, catalogue
from emitter.policy import Policy

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    usual = Limits()
    add_kinds(parser)
    parser.add_argument("--strict", action="store_true", help="an older schema version is refused")
    parser.add_argument("--contracts", action="store_true", help="nodes declare which kinds they may emit")
    parser.add_argument("--nl-to-format", action="store_true", help="emissions may seek the form in two steps")
    parser.add_argument("--envelopes-per-turn", type=int, default=usual.envelopes_per_turn, metavar="N")
    parser.add_argument("--schema-rounds", type=int, default=usual.schema_rounds, metavar="N")
    parser.add_argument("--clarification-rounds", type=int, default=usual.clarification_rounds, metavar="N")
    parser.add_argument("--json", action="store_true", help="the only form: one JSON document")


def run(asked: argparse.Namespace) -> int:
    """Print the document."""
    rules = Rules(
        catalogue=catalogue(asked),
        limits=Limits(asked.envelopes_per_turn, asked.schema_rounds, asked.clarification_rounds),
        strictness=Strictness.STRICT if asked.strict else Strictness.WARN,
    )
    policy = Policy(nl_to_format=asked.nl_to_format)
    write(capabilities(Configured(rules, asked.contracts, policy=policy, providers=usable_providers())))
    return 0
