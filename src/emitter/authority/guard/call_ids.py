"""The ids under which agent frameworks make guarded calls.

A model's server chooses the ids of its tool calls. Some count them from the beginning in each turn, and some send the
same one always, so an id alone says nothing about which call is meant. ``make_call_id`` joins it with the conversation,
the message that makes the call, and the call's position in that message: things that are the same if a run is resumed
or a graph is replayed, and others if the model makes a new call.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from emitter.decisions.canonical_json import digest_of
from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority.journal import Journal

MAX_CALL_ID_LENGTH: Final = 256


@dataclass(frozen=True, slots=True)
class CallId:
    """The id of a tool call in an agent framework. ``make_call_id`` makes one."""

    value: str
    earlier: str | None = None
    """The id that the call had in releases that relied on the id of the model's server alone."""


def make_call_id(
    scope: tuple[object, ...], message: object, call: object, *, position: object = 0, earlier: bool = True
) -> CallId:
    """Return the id of a tool call.

    Args:
        scope: The framework, and what is unique there and survives a replay: a thread, a conversation, a session.
        message: What identifies the message that makes the call within the scope, such as a digest of the messages
            before it.
        call: The id that the model's server gave the call.
        position: Where the call is in its message.
        earlier: Whether earlier releases made calls under the scope and the server's id.

    Raises:
        InputError: An id is missing, so the call could not be recognised when it is repeated.
    """
    parts = (*scope, message, call)
    if not all(isinstance(part, str) and part for part in parts):
        raise InputError(
            "The framework gave this tool call no id, so it could not be made exactly once.",
            hint="Run the agent with a thread or conversation id, and a model that gives its tool calls ids.",
        )
    value, prefix = _join(*parts, str(position)), scope_prefix(*scope)
    if not value.startswith(prefix) and len(prefix) + len(value) <= MAX_CALL_ID_LENGTH:  # a digest
        value = f"{prefix}{value}"
    return CallId(value, _join(*scope, call) if earlier else None)


def scope_prefix(*scope: object) -> str:
    """Return the beginning of the ids of all calls of a scope, unless the scope itself is too long for an id."""
    return "".join(f"{quote(str(part), safe=':@')}/" for part in scope)


def _join(*parts: object) -> str:
    joined = scope_prefix(*parts)[:-1]
    return joined if len(joined) <= MAX_CALL_ID_LENGTH else digest_of([str(part) for part in parts])


def digest_history(items: object) -> str:
    """Return a digest of what was said before a message, from plain values in their order."""
    text = json.dumps(items, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def call_key(call_id: str) -> str:
    """Return the name under which a proposed call is stored."""
    return f"call:{call_id}"


@dataclass(frozen=True, slots=True)
class CallIds:
    """Finds the calls that the ids of a store stand for."""

    journal: Journal

    def exists(self, call_id: str) -> bool:
        """Return True if a call was proposed under an id."""
        return self.journal.get_value(call_key(call_id)) is not None

    def choose(self, call_id: CallId, continues: Callable[[str], bool]) -> str:
        """Return the id to make a call under: its own, or that of the same call if an earlier release left it open.

        A call of an earlier release belongs to the first message that makes it again. Any later message that uses the
        server's id makes another call.
        """
        earlier, claim = call_id.earlier, f"call-id:{call_id.earlier}"
        if earlier is None or not self.exists(earlier):
            return call_id.value
        owner = self.journal.get_value(claim)
        if owner is None and continues(earlier):
            owner = self.journal.put_once(claim, call_id.value)
        return earlier if owner == call_id.value else call_id.value

    def count_uses(self, place: str, run_id: str | None) -> int:
        """Return how many other runs were at a place of a conversation before this one, which is noted.

        Without ``run_id``, which some histories lose, it is the latest run that is meant.
        """
        count = 0
        while run_id is None or self.journal.put_once(f"use:{place}:{count}", run_id) != run_id:
            if run_id is None and self.journal.get_value(f"use:{place}:{count}") is None:
                return count - 1
            count += 1
        return count
