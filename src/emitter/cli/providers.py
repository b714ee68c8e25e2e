"""List the vendors this library has facts about."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from emitter import profile
from emitter.cli.document import write

if TYPE_CHECKING:
    import argparse

    from emitter.profile import Profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="show all facts of one vendor, with their sources")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(asked: argparse.Namespace) -> int:
    """Print the vendors, or all facts of one."""
    if asked.name is not None:
        write(profile.load(asked.name).model_dump(mode="json", exclude_none=True))
        return 0
    profiles = [profile.load(name) for name in profile.vendors()]
    if asked.json:
        write([_summary(each) for each in profiles])
        return 0
    for each in profiles:
        key = "key found" if _has_key(each) else f"set {' or '.join(each.client.key_env) or 'no key'}"
        sys.stdout.write(f"{each.name:<18} {each.title:<26} {', '.join(each.wires):<32} {key}\n")
    return 0


def _summary(facts: Profile) -> dict[str, object]:
    return {
        "name": facts.name,
        "title": facts.title,
        "wires": [each.value for each in facts.wires],
        "keyEnv": list(facts.client.key_env),
        "keyFound": _has_key(facts),
    }


def _has_key(facts: Profile) -> bool:
    return not facts.client.key_required or any(os.environ.get(name) for name in facts.client.key_env)
