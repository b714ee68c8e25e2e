"""The situation as the caller has it: one text, or the agent's own message list of any vendor's form.

Read are the message forms of OpenAI Chat and Responses, Anthropic Messages and Google generateContent, as
JSON or as the objects of the vendors' SDKs. What a tool returned is kept, fenced, and counts as untrusted, and so does
a text that was written with a tool of the vendor's own, such as web search.
The agent's private thinking is left out; anything else that cannot be shown as text is refused, not dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from emitter.conversation.forms import RESULTS, Table, table, word
from emitter.conversation.pieces import TOOL_ROLES, pieces
from emitter.errors import InputError
from emitter.kinds import Trust
from emitter.wire import Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.prompt import Prompts

Situation: TypeAlias = str | Iterable[object]
"""A text, or messages: JSON objects, or objects of a vendor's SDK."""

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "model": Role.ASSISTANT}
_SYSTEM_ROLES = ("system", "developer")
_WANTED = "Pass a text or a list of messages."
_SAY = "Say what there is to decide, or to work from."


@dataclass(frozen=True, slots=True)
class Conversation:
    """What leads to the request: system texts, turns, and whether all of it is trusted."""

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    trust: Trust


def read(situation: Situation, prompts: Prompts, *, headed: bool = True) -> Conversation:
    """Return the conversation in ``situation``; raises ``InputError`` on what cannot be shown as text.

    ``headed`` puts a situation that is one text under a heading; without it the text stands as it is.
    """
    if isinstance(situation, str):
        return _of_text(situation, prompts, headed=headed)
    system: list[str] = []
    turns: list[Message] = []
    trusts: list[Trust] = []
    for where, message in _messages(situation):
        role = _role(message, where)
        said = pieces(message, prompts, where)
        text = "\n\n".join(each.text for each in said if each.text.strip())
        trusts.extend(each.trust for each in said)
        if text and role is None:
            system.append(text)
        elif text and role is not None:
            turns.append(Message(role, text))
    if not turns:
        raise InputError("The situation holds no message.", hint=_SAY)
    return Conversation(tuple(system), tuple(turns), meet(trusts))


def meet(trusts: Iterable[Trust]) -> Trust:
    """Return the trust of several inputs together: one untrusted input taints."""
    return Trust.UNTRUSTED if Trust.UNTRUSTED in trusts else Trust.TRUSTED


def _of_text(situation: str, prompts: Prompts, *, headed: bool) -> Conversation:
    if not situation or situation.isspace():
        raise InputError("The situation is empty.", hint=_SAY)
    text = prompts.fill("situation", situation=situation) if headed else situation.strip()
    return Conversation((), (Message(Role.USER, text),), Trust.TRUSTED)


def _messages(situation: object) -> Iterator[tuple[str, Table]]:
    if isinstance(situation, Mapping) or table(situation) is not None:
        raise InputError("The situation is one object.", hint=_WANTED)
    if isinstance(situation, bytes | bytearray) or not isinstance(situation, Iterable):
        raise InputError(f"The situation is of type {type(situation).__name__}.", hint=_WANTED)
    for index, each in enumerate(cast("Iterable[object]", situation)):
        where, message = f"situation[{index}]", table(each)
        if message is None:
            raise InputError(f"{where} is of type {type(each).__name__}, not a message with role and content.")
        yield where, message


def _role(message: Table, where: str) -> Role | None:
    """Return who speaks, or None for the system."""
    role, kind = message.get("role"), word(message.get("type"))
    if role is None:
        role = _unnamed(message, kind)
    if role in _SYSTEM_ROLES:
        return None
    if role in TOOL_ROLES:
        return Role.USER
    if word(role) in _ROLES:
        return _ROLES[word(role)]
    known = ", ".join(sorted({*_ROLES, *_SYSTEM_ROLES, *TOOL_ROLES}))
    raise InputError(f"{where}.role is {role!r}; it must be one of {known}.")


def _unnamed(message: Table, kind: str) -> str | None:
    """Return the role of what bears none: an item of OpenAI Responses, or a turn of Google's."""
    if kind not in ("", "message"):
        return "tool" if kind in RESULTS else "assistant"
    return "user" if "parts" in message else None
