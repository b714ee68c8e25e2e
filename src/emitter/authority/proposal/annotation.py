"""What an MCP tool's ``_meta`` tells an agent before its first call: the credential it needs, and whether it costs.

Source: draft-hardt-aauth-r3-02, section 5. An agent plans by it; it is no grant, and nothing is
enforced by it (section 11.5).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.wire import Json

ACCESS_MODE: Final = "aauth.dev/access-mode"
BUDGET: Final = "aauth.dev/budget"


class AccessMode(str, Enum):
    """What an agent presents to call an operation."""

    AGENT_TOKEN = "agent-token"  # noqa: S105  the name of a kind of token
    PERSON_TOKEN = "person-token"  # noqa: S105
    AUTH_TOKEN = "auth-token"  # noqa: S105
    PER_CALL = "per-call"
    """An auth token obtained for that one call, from its proposal."""


_WITHOUT_BUDGET: Final = frozenset({AccessMode.AGENT_TOKEN, AccessMode.PERSON_TOKEN})


def access_annotations(access_mode: AccessMode | str | None, budget: bool | None = None) -> dict[str, Json]:  # noqa: FBT001
    """Return the entries of a tool's ``_meta``; what is None is left to what the resource says of all its tools.

    Raises ``InputError`` for another mode, ``session-token`` among them, and for a budget that no token would carry.
    """
    mode = None if access_mode is None else _mode(access_mode)
    if budget and mode in _WITHOUT_BUDGET:
        raise InputError(
            "An operation that draws on a budget needs at least an auth token, which carries it.",
            hint="Annotate it with auth-token or per-call, or without a mode.",
        )
    told: dict[str, Json] = {} if mode is None else {ACCESS_MODE: mode.value}
    return told if budget is None else {**told, BUDGET: _flag(budget)}


def _mode(given: object) -> AccessMode:
    try:
        return AccessMode(given)
    except ValueError:
        known = ", ".join(each.value for each in AccessMode)
        raise InputError(f"The access mode of an operation is one of {known}.", hint=_SESSION) from None


def _flag(given: object) -> bool:
    if not isinstance(given, bool):
        raise InputError("An operation draws on a budget or does not: True or False.")
    return given


_SESSION: Final = "A resource with sessions of its own says session-token of itself, never of an operation."
