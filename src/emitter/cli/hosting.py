"""The kinds of a host, as commands name them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from emitter.accept import DEFAULT_LIMITS, Limits
from emitter.accept.catalogue import A2UI_KIND, STANDARD, media_kinds, register_kind
from emitter.cli.schemas import read_schema
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.accept.catalogue import Catalogue

_DIGITS = 9
_FORM = "ID=FILE or ID@VERSION=FILE"


def add_kinds(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say which kinds a host takes."""
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar=_FORM.partition(" ")[0],
        help=f"a kind of your own, and the JSON Schema of its payload ({_FORM}; version 1 where none is named)",
    )
    parser.add_argument("--media", action="store_true", help="take media.image, media.audio and media.file")
    parser.add_argument("--a2ui", action="store_true", help="take ui.a2ui-surface")


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say what a host allows."""
    for name, (field, what) in _LIMITS.items():
        usual = getattr(DEFAULT_LIMITS, field)
        parser.add_argument(
            name, dest=field, type=_count, default=usual, metavar="N", help=f"{what} (default: {usual})"
        )


_LIMITS = {
    "--envelopes-per-turn": ("envelopes_per_turn", "envelopes that a turn may have"),
    "--schema-rounds": ("schema_rounds", "rounds in which a model may mend an envelope"),
    "--clarification-rounds": ("clarification_rounds", "clarifications that a node may ask for"),
}


def _count(given: str) -> int:
    if not given.isdecimal() or len(given) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{given!r} is no whole number, 0 or more")
    return int(given)


def limits(asked: argparse.Namespace) -> Limits:
    """Return what was asked for."""
    return Limits(asked.envelopes_per_turn, asked.schema_rounds, asked.clarification_rounds)


def catalogue(asked: argparse.Namespace) -> Catalogue:
    """Return the kinds that were asked for, beside the standard ones."""
    kinds = STANDARD.with_kinds(*media_kinds()) if asked.media else STANDARD
    kinds = kinds.with_kinds(A2UI_KIND) if asked.a2ui else kinds
    for given in asked.kind:
        name, _, file = given.partition("=")
        kind, _, version = name.partition("@")
        if not file or not (version or "1").isdecimal() or len(version) > _DIGITS:
            raise InputError(f"--kind {given} is not of the form {_FORM}.")
        kinds = register_kind(kind, read_schema(file), int(version or "1"), into=kinds)
    return kinds
