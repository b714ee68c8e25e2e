"""The command ``inbox``. Needs the extra ``web``."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING

from emitter.cli import stores
from emitter.web import Address, Principal
from emitter.web.inbox_server import serve_inbox

if TYPE_CHECKING:
    import argparse


def add_inbox_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--store", metavar="STORE", required=True, help="the agents' store: an SQLite file, or postgresql://..."
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port to listen on (default: a free port)")
    parser.add_argument("--open", action="store_true", help="also open the inbox in a browser")
    parser.add_argument("--principal", metavar="NAME", help="who answers (default: the name of your account)")
    parser.add_argument("--sign", metavar="KEY", help="sign the answers with this key: see `emitter receipts key`")
    stores.add_words_arguments(parser)


def run_inbox(args: argparse.Namespace) -> int:
    """Serve the decisions of a store as an inbox on this machine, until interrupted.

    The inbox lists the open decisions of all agents, shows each one with its forms, and keeps the record of those that
    are closed, with the receipts of what was done. The address is printed on standard error. It signs one browser in;
    then an address for another browser is printed. Your service can mount the same inbox for many people: see
    docs/guides/inbox.md.
    """
    principal = Principal(args.principal or getpass.getuser())
    words, sign = stores.read_words_options(args), None if args.sign is None else stores.load_signer(args.sign)
    with stores.open_store(args.store, words, sign) as stored:
        serve_inbox(
            stored.authority,
            principal,
            on_address=_print_address,
            address=Address(port=args.port),
            open_browser=args.open,
        )
    return 0


def _print_address(address: str) -> None:
    sys.stderr.write(f"emitter: open {address}\n")
    sys.stderr.flush()
