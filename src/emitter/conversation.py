"""The situation as the caller has it: one text, or the agent's own message list of any vendor's form.

Read are the message forms of OpenAI Chat and Responses, Anthropic Messages and Google generateContent.
What a tool returned is kept and counts as untrusted; what cannot be shown as text is refused, not dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from emitter.errors import InputError
from emitter.kinds import Trust
from emitter.prompt import Material, Prompts, material
from emitter.wire import Message, Role, mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Situation: TypeAlias = str | Iterable[Mapping[str, Any]]

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "model": Role.ASSISTANT}
_SYSTEM_ROLES = frozenset({"system", "developer"})
_TOOL_ROLES = frozenset({"tool", "function"})
_SILENT = frozenset({"thinking", "redacted_thinking", "reasoning"})


@dataclass(frozen=True, slots=True)
class Conversation:
    """What leads to the request: system texts, turns, and whether all of it is trusted."""

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    trust: Trust


@dataclass(frozen=True, slots=True)
class _Said:
    """A piece of one message."""

    text: str
    trust: Trust = Trust.TRUSTED


def read(situation: Situation, prompts: Prompts) -> Conversation:
    """Return the conversation in ``situation``; raises ``InputError`` on what cannot be shown as text."""
    if isinstance(situation, str):
        return _of_text(situation, prompts)
    system: list[str] = []
    turns: list[Message] = []
    trusts: list[Trust] = []
    for index, each in enumerate(_messages(situation)):
        pieces = list(_pieces(each, prompts, f"situation[{index}]"))
        text = "\n\n".join(piece.text for piece in pieces if piece.text.strip())
        trusts.extend(piece.trust for piece in pieces)
        if text and each.get("role") in _SYSTEM_ROLES:
            system.append(text)
        elif text:
            turns.append(Message(_role(each, f"situation[{index}]"), text))
    if not turns:
        raise InputError("The situation holds no message.", hint="Say what there is to decide.")
    return Conversation(tuple(system), tuple(turns), meet(trusts))


def meet(trusts: Iterable[Trust]) -> Trust:
    """Return the trust of several inputs together: one untrusted input taints."""
    return Trust.UNTRUSTED if Trust.UNTRUSTED in set(trusts) else Trust.TRUSTED


def _of_text(situation: str, prompts: Prompts) -> Conversation:
    if not situation.strip():
        raise InputError("The situation is empty.", hint="Say what there is to decide.")
    text = prompts.fill("situation", situation=situation)
    return Conversation((), (Message(Role.USER, text),), Trust.TRUSTED)


def _messages(situation: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    if isinstance(situation, Mapping):
        raise InputError("The situation is one message.", hint="Pass a text or a list of messages.")
    for index, each in enumerate(cast("Iterable[object]", situation)):
        if not isinstance(each, Mapping):
            raise InputError(f"situation[{index}] is a {type(each).__name__}, not a message with role and content.")
        yield cast("Mapping[str, Any]", each)


def _role(message: Mapping[str, Any], where: str) -> Role:
    role = message.get("role")
    if role in _ROLES:
        return _ROLES[role]
    if role in _TOOL_ROLES or message.get("type") == "function_call_output":
        return Role.USER
    if message.get("type") == "function_call":
        return Role.ASSISTANT
    known = ", ".join(sorted({*_ROLES, *_SYSTEM_ROLES, *_TOOL_ROLES}))
    raise InputError(f"{where}.role is {role!r}; it must be one of {known}.")


def _pieces(message: Mapping[str, Any], prompts: Prompts, where: str) -> Iterator[_Said]:
    """Yield what one message says, in order."""
    untrusted = message.get("role") in _TOOL_ROLES
    content = message.get("content", message.get("parts"))
    parts = [content] if isinstance(content, str) else content or []
    if not isinstance(parts, Iterable):
        raise InputError(f"{where}.content is neither text nor a list of parts.")
    for part in cast("Iterable[Any]", parts):
        said = _part({"text": part} if isinstance(part, str) else part, prompts, where)
        yield _result(said.text, prompts) if untrusted else said
    if "type" in message and message["type"] != "message":
        yield _part(message, prompts, where)
    for call in message.get("tool_calls") or ():
        yield _called(call.get("function", {}), prompts)


def _part(part: Any, prompts: Prompts, where: str) -> _Said:
    if not isinstance(part, Mapping):
        raise InputError(f"{where}: a part is a {type(part).__name__}, not text.")
    table = cast("Mapping[str, Any]", part)
    kind = table.get("type")
    if kind in _SILENT or table.get("thought"):
        return _Said("")
    if isinstance(table.get("text"), str):
        return _Said(table["text"])
    key = kind if kind in _PARTS else next((each for each in _PARTS if each in table), None)
    if key is None:
        told = kind or ", ".join(sorted(table)) or "empty"
        raise InputError(f"{where}: a part of type {told!r} is not text.", hint="Describe it in words instead.")
    return _PARTS[key](mapping(table.get(key)) or table, prompts)


def _called(call: Mapping[str, Any], _prompts: Prompts) -> _Said:
    given = call.get("arguments", call.get("input", call.get("args", {})))
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return _Said(f"(called the tool {call.get('name', '')} with {arguments})")


def _returned(result: Mapping[str, Any], prompts: Prompts) -> _Said:
    given = result.get("output", result.get("content", result.get("response", "")))
    return _result(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False), prompts)


def _result(text: str, prompts: Prompts) -> _Said:
    fenced = material(prompts, Material(text, "tool result", Trust.UNTRUSTED))
    return _Said(fenced, Trust.UNTRUSTED)


_PARTS: Mapping[str, Callable[[Mapping[str, Any], Prompts], _Said]] = {
    "tool_use": _called,
    "function_call": _called,
    "functionCall": _called,
    "tool_result": _returned,
    "function_call_output": _returned,
    "functionResponse": _returned,
    "function_response": _returned,
}
"""What the vendors call a tool's call and its result."""
