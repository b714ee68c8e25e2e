"""The kinds of a host, as commands name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.accept.catalogue import A2UI_KIND, STANDARD, media_kinds, register_kind
from emitter.cli.schemas import read_schema
from emitter.errors import InputError

if TYPE_CHECKING:
    import argparse

    from emitter.accept.catalogue import Catalogue

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


def catalogue(asked: argparse.Namespace) -> Catalogue:
    """Return the kinds that were asked for, beside the standard ones."""
    kinds = STANDARD.with_kinds(*media_kinds()) if asked.media else STANDARD
    kinds = kinds.with_kinds(A2UI_KIND) if asked.a2ui else kinds
    for given in asked.kind:
        name, _, file = given.partition("=")
        kind, _, version = name.partition("@")
        if not file or not (version or "1").isdecimal():
            raise InputError(f"--kind {given} is not of the form {_FORM}.")
        kinds = register_kind(kind, read_schema(file), int(version or "1"), into=kinds)
    return kinds
