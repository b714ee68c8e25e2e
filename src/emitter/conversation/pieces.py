"""What one message says, piece by piece, as text.

Each form is shown or refused. What a tool returned is fenced, and taints. So does a call that the vendor ran itself,
and a text that names its sources: what came back is in the text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from emitter.conversation.forms import (
    ANSWERS,
    ARGUMENTS,
    CALLS,
    HOSTED_CALLS,
    MEDIA,
    RESULTS,
    RUN_BY_VENDORS,
    TEXTS,
    THOUGHTS,
    Table,
    cites,
    first,
    form,
    table,
    word,
)
from emitter.errors import InputError
from emitter.kinds import Trust
from emitter.prompt import Material, material
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.prompt import Prompts

TOOL_ROLES = ("tool", "function")

_SAYS = frozenset({"content", "parts", "refusal", "tool_calls", "function_call", "audio", "reasoning_content"})
_DESCRIBE = "Describe it in words instead."
_HAND_OVER = "Put its text into materials=, and say whether it is trusted."
_LEAVE_OUT = "Leave it out: what the agent may use says nothing about the decision."
_HINTS = {
    "document": _HAND_OVER,
    "search_result": _HAND_OVER,
    "item_reference": "Pass the item itself.",
    "additional_tools": _LEAVE_OUT,
    "tool_addition": _LEAVE_OUT,
}


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of one message."""

    text: str
    trust: Trust = Trust.TRUSTED


def pieces(message: Table, prompts: Prompts, where: str) -> list[Said]:
    """Return what the message says, in order; raises ``InputError`` on what is not text."""
    try:
        said = list(_Reader(prompts, where).message(message))
    except RecursionError as error:
        raise InputError(f"{where} is nested too deeply to be shown as text.") from error
    return [replace(each, trust=Trust.UNTRUSTED) for each in said] if cites(message) else said


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one message; ``where`` names it in errors."""

    prompts: Prompts
    where: str

    def message(self, message: Table) -> Iterator[Said]:
        kind = message.get("type")
        if kind not in (None, "message"):
            yield from self.item(message, kind)
        elif _SAYS.isdisjoint(message):
            raise self.error("holds neither content nor parts")
        elif message.get("role") in TOOL_ROLES:
            yield from self.tool_message(message)
        else:
            yield from self.agent_message(message)

    def item(self, item: Table, kind: object) -> Iterator[Said]:
        """Read an item of OpenAI Responses that is no message."""
        if word(kind) not in THOUGHTS | CALLS | RESULTS:
            raise self.refusal(kind)
        yield from self.part(item)

    def tool_message(self, message: Table) -> Iterator[Said]:
        if message.get("content") is not None:
            yield self.result(message)
        yield from self.parts(message.get("parts"))

    def agent_message(self, message: Table) -> Iterator[Said]:
        yield from self.parts(message.get("content"))
        yield from self.parts(message.get("parts"))
        if message.get("refusal") is not None:
            yield self.text(message["refusal"])
        if message.get("audio") is not None:
            raise self.refusal("audio")
        calls = [*self.listed(message.get("tool_calls")), message.get("function_call")]
        for each in (table(call) for call in calls if call is not None):
            held = first(each or {}, ("function", "custom"))
            yield from self.call(table(held) or each or {}, "function_call")

    def parts(self, content: object) -> Iterator[Said]:
        for each in [content] if isinstance(content, str) else self.listed(content):
            if isinstance(each, str):
                yield Said(each)
            else:
                yield from self.part(each)

    def part(self, given: object) -> Iterator[Said]:
        part = table(given)
        if part is None:
            raise self.error(f"holds a part of type {type(given).__name__}, which is not text")
        kind, held = form(part)
        if kind in CALLS:
            yield from self.call(held, kind)
        elif kind in RESULTS:
            yield self.result(held)
        elif kind in TEXTS and not part.get("thought"):
            said = self.text(held.get("text"))
            yield replace(said, trust=Trust.UNTRUSTED) if cites(part) else said
        elif kind == "refusal":
            yield self.text(held.get("refusal"))
        elif kind not in TEXTS | THOUGHTS:
            raise self.refusal(kind)

    def text(self, value: object) -> Said:
        if not isinstance(value, str):
            raise self.error(f"holds a value of type {type(value).__name__} where text belongs")
        return Said(value)

    def call(self, held: Table, kind: str) -> Iterator[Said]:
        """Show a call, and what came back where the vendor ran the tool itself."""
        name = word(held.get("name")) or HOSTED_CALLS.get(kind)
        if name is None:
            raise self.error("holds a tool call without a name")
        arguments = first(held, ARGUMENTS)
        trust = Trust.UNTRUSTED if kind in RUN_BY_VENDORS else Trust.TRUSTED
        yield Said(f"(called the tool {name} with {self.as_json({} if arguments is None else arguments)})", trust)
        if first(held, ANSWERS) is not None:
            yield self.result({**held, "name": name})

    def result(self, held: Table) -> Said:
        """Fence what a tool returned."""
        if held.get("parts"):
            raise self.refusal("functionResponse.parts")
        answer, response = first(held, ANSWERS), held.get("response")
        text = self.shown(answer) if response is None else self.as_json(response)
        name = word(held.get("name"))
        source = f"result of the tool {name}" if name else "tool result"
        told = f"(the tool failed)\n{text}" if held.get("is_error") is True else text
        return Said(material(self.prompts, Material(told, source, Trust.UNTRUSTED)), Trust.UNTRUSTED)

    def shown(self, answer: object) -> str:
        """Return an answer as text: a list of text parts joined, anything else as JSON."""
        plain: object = self.plain("" if answer is None else answer)
        texts = [_text_of(each) for each in sequence(plain)]
        if not isinstance(plain, list) or None in texts:
            return self.as_json(cast("object", plain))
        return "\n\n".join(each for each in texts if each is not None)

    def plain(self, value: object) -> object:
        """Return a value without what only its vendor can read; raises on pictures, sound and files."""
        if isinstance(value, list | tuple):
            return [self.plain(each) for each in cast("list[object]", value)]
        held = table(value)
        if held is None:
            return value
        if word(held.get("type")) in MEDIA:
            raise self.refusal(held["type"])
        return {name: self.plain(each) for name, each in held.items() if not str(name).startswith("encrypted_")}

    def as_json(self, value: object) -> str:
        if isinstance(value, str):
            return value
        try:
            return json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise self.error("holds a value that is not JSON") from error

    def listed(self, value: object) -> list[object]:
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self.error("has content that is neither text nor a list of parts")
        return list(cast("list[object]", value))

    def error(self, sentence: str) -> InputError:
        return InputError(f"{self.where} {sentence}.")

    def refusal(self, kind: object) -> InputError:
        hint = _HINTS.get(str(kind), _DESCRIBE)
        return InputError(f"{self.where} holds a part of type {kind!r}, which is not text.", hint=hint)


def _text_of(value: object) -> str | None:
    part = table(value) or {}
    text = part.get("text") if word(part.get("type")) in TEXTS else None
    return text if isinstance(text, str) else None
