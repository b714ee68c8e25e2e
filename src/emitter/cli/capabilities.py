"""Print what a host of this configuration can do, as OpenWOP's capability document.

It is built from what is really there: the kinds, limits and policy that are asked for, and the vendors whose SDK
and key this machine has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.accept import Rules, Strictness
from emitter.accept.capabilities import Configured, capabilities, usable_providers
from emitter.accept.catalogue import Posture
from emitter.cli.document import write
from emitter.cli.hosting import add_kinds, add_limits, catalogue, limits
from emitter.policy import Policy

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_kinds(parser)
    add_limits(parser)
    parser.add_argument("--strict", action="store_true", help="an older schema version is refused")
    parser.add_argument("--contracts", action="store_true", help="nodes declare which kinds they may emit")
    parser.add_argument("--nl-to-format", action="store_true", help="emissions may seek the form in two steps")
    parser.add_argument("--json", action="store_true", help="the only form: one JSON document")


def run(asked: argparse.Namespace) -> int:
    """Print the document."""
    strictness = Strictness.STRICT if asked.strict else Strictness.WARN
    rules = Rules(catalogue=catalogue(asked), limits=limits(asked), strictness=strictness)
    configured = Configured(
        rules,
        asked.contracts,
        posture=Posture.WARN if asked.kind else Posture.OFF,
        policy=Policy(nl_to_format=asked.nl_to_format),
        providers=usable_providers(),
    )
    write(capabilities(configured))
    return 0
