"""What a host may call a kind of its own.

Source: ai-envelope.md, "Vendor-namespaced kinds", and host-extensions.md, "Canonical prefixes".
"""

from __future__ import annotations

import re
from typing import Final

from emitter.errors import InputError
from emitter.kinds.universal import LONGEST_KIND, UNIVERSAL

LEGACY: Final = frozenset({"prd.create", "theme.create", "tasks.create"})
"""Names from before OpenWOP 1.1 had namespaces; they may be kept, where that is said."""

_PART = "[A-Za-z0-9][A-Za-z0-9_-]*"
_SHAPE = re.compile(rf"{_PART}(?:\.{_PART})*")
_NAMESPACED = re.compile(
    r"(?:vendor|private)(?:\.[^.]+){2,}|(?:community|local)(?:\.[^.]+)+|x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*"
)
_RESERVED = ("openwop", "core", "host", "media", "ui", "vendor.emitter", *UNIVERSAL)
_NAMESPACES = "vendor.<org>.<name>, private.<host>.<name>, community.<name>, local.<name> or x-host-<host>-<name>"


def check_name(kind_id: object, *, legacy: bool) -> str:
    """Return the id of a host's own kind; raises ``InputError`` for one that it may not have.

    An id stands in a URL's path and in a file's name, so it is made of letters, digits, ``-`` and ``_``, in parts
    between single dots.
    """
    if not isinstance(kind_id, str) or len(kind_id) > LONGEST_KIND or not _SHAPE.fullmatch(kind_id):
        shown = kind_id[:40] if isinstance(kind_id, str) else kind_id
        raise InputError(
            f"{shown!r} is no id of a kind.",
            hint=f"Take ASCII letters, digits, - and _ in parts between dots, {LONGEST_KIND} characters at most.",
        )
    reserved = next((each for each in _RESERVED if kind_id == each or kind_id.startswith(f"{each}.")), None)
    if reserved is not None:
        raise InputError(f"{kind_id} is reserved: {reserved} is not a host's to name.", hint=f"Use {_NAMESPACES}.")
    if not _NAMESPACED.fullmatch(kind_id) and not (legacy and kind_id in LEGACY):
        hint = "Pass legacy=True to keep it, or use" if kind_id in LEGACY else "Use"
        raise InputError(f"{kind_id} has no namespace.", hint=f"{hint} {_NAMESPACES}.")
    return kind_id
