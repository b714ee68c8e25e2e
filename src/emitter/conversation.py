"""Convert a prompt or a vendor's message list to messages.

Accepts messages of OpenAI Chat and Responses, Anthropic Messages, Google generateContent and Interactions, and Bedrock
Converse, as JSON or as SDK objects. Tool results and cited text are kept, fenced and marked untrusted. Images,
documents and audio are kept in the user's turns and in tool results. Private thinking is dropped. Anything else that
cannot be shown to the model raises ``InputError``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from emitter.arguments import check_text
from emitter.errors import InputError
from emitter.grounding import (
    IGNORED_MEMBERS,
    MEDIA_PARTS,
    TEXT_PARTS,
    THINKING_PARTS,
    JsonObject,
    as_json_object,
    is_grounded,
    snake_case,
)
from emitter.messages import MEDIUM_NAMES, MediaPart, Message, Role, as_list
from emitter.models import Trust
from emitter.prompts import Material, Media, redact_media, redact_name, render_material, render_media

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.prompts import PromptTemplates

Messages: TypeAlias = str | Media | Iterable[object]
"""A prompt: a text, media, or a list of both. Or messages as JSON objects or SDK objects."""
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "model": Role.ASSISTANT}
_STEP_ROLES = {"user_input": "user", "model_output": "assistant"}
"""The steps of Interactions that are messages."""
_SYSTEM_ROLES = ("system", "developer")
_MAX_NAME_LENGTH = 255
_MESSAGES_HINT = "Pass a text or a list of messages."
_EMPTY_HINT = "Describe the task."


@dataclass(frozen=True, slots=True)
class Conversation:
    """The system texts and turns of a conversation, and the materials and history to show after them.

    ``trust`` applies to all of them.
    """

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    trust: Trust
    shown: tuple[str | MediaPart, ...] = ()

    def with_answer(self, answer: str, trust: Trust) -> list[dict[str, Any]]:
        """Return the conversation with its answer as messages that ``parse_conversation`` reads."""
        turns = append_parts(self.messages, self.shown) if self.shown else self.messages
        parts: list[tuple[str, tuple[str | MediaPart, ...]]] = [("system", (text,)) for text in self.system]
        parts += [(turn.role.value, turn.parts or (turn.text,)) for turn in turns]
        parts.append((Role.ASSISTANT.value, (answer,)))
        return [{"role": role, "content": _to_content(content, trust)} for role, content in parts]


def _to_content(parts: tuple[str | MediaPart, ...], trust: Trust) -> object:
    if trust is Trust.TRUSTED and len(parts) == 1 and isinstance(parts[0], str):
        return parts[0]
    mark = {"trust": trust.value} if trust is Trust.UNTRUSTED else {}
    return [
        {"type": "text", "text": part, **mark} if isinstance(part, str) else Media(part, "", Trust.TRUSTED)
        for part in parts
    ]


def append_parts(turns: tuple[Message, ...], parts: tuple[str | MediaPart, ...]) -> tuple[Message, ...]:
    """Return the turns with more parts of the user. They are added to the last turn if it is the user's."""
    *before, last = turns
    if last.role is Role.ASSISTANT:
        return (*turns, Message.from_parts(Role.USER, parts))
    content = last.parts or ((last.text,) if last.text else ())
    return (*before, Message.from_parts(last.role, (*content, *parts)))


def parse_conversation(
    messages: Messages,
    prompts: PromptTemplates,
    *,
    has_heading: bool = True,
    redact: Callable[[str], str] | None = None,
) -> Conversation:
    """Parse the conversation in ``messages``. Raises ``InputError`` for content that cannot be shown.

    If ``has_heading`` is true, the text of a prompt is put under a heading. ``redact`` removes secrets from the names
    and sources of media.
    """
    if isinstance(messages, str):
        return _conversation_from_text(messages, prompts, has_heading=has_heading)
    messages = [messages] if isinstance(messages, Media) else messages
    if isinstance(messages, list | tuple) and any(isinstance(item, Media) for item in cast("list[object]", messages)):
        message = _message_from_prompt(cast("list[object]", messages), prompts, has_heading=has_heading)
        return parse_conversation([message], prompts, redact=redact)
    system: list[str] = []
    turns: list[Message] = []
    trusts: list[Trust] = []
    location = ""
    for location, message in _iter_messages(messages):
        role = _role_of(message, location)
        parts = message_parts(message, prompts, location, redact)
        trusts.extend(part.trust for part in parts)
        for part in parts:
            check_text(f"A text of {location}", part.text)
        turn = _make_turn(role, parts, location)
        if role is None and turn.text:
            system.append(turn.text)
        elif turn.text or turn.parts:
            turns.append(turn)
    if not turns:
        raise _no_turns_error(has_messages=bool(location), has_system=bool(system))
    return Conversation(tuple(system), tuple(turns), combine_trust(trusts))


def _no_turns_error(*, has_messages: bool, has_system: bool) -> InputError:
    """Return the error for messages without a turn that can be sent."""
    if has_system:
        return InputError("messages has system texts only.", hint="Add a turn of the user, or pass instructions=.")
    reason = "holds no text in any turn" if has_messages else "is an empty list"
    return InputError(f"messages {reason}.", hint=_EMPTY_HINT)


def _make_turn(role: Role | None, parts: list[MessagePart], location: str) -> Message:
    """Return the turn of these parts. Raises ``InputError`` for media that are not in a turn of the user."""
    if all(part.media is None for part in parts):
        return Message(role or Role.USER, "\n\n".join(part.text for part in parts if part.text.strip()))
    media = next(part.media for part in parts if part.media is not None)
    if role is not Role.USER:
        speaker = "system" if role is None else role.value
        raise InputError(
            f"{location} holds {MEDIUM_NAMES[media.medium]} in a turn of the {speaker}.",
            hint="Put it into a turn of the user, or into materials=.",
        )
    return Message.from_parts(role, [part.media or part.text for part in parts if part.media or part.text.strip()])


def _message_from_prompt(content: list[object], prompts: PromptTemplates, *, has_heading: bool) -> JsonObject:
    """Return the message of a prompt that has media."""
    unknown = next((item for item in content if not isinstance(item, str | Media)), None)
    if unknown is not None:
        raise InputError(
            f"The prompt holds a value of type {type(unknown).__name__} beside its media.",
            hint='Pass texts and media, or messages such as {"role": "user", "content": [...]}.',
        )
    texts = [item for item in content if isinstance(item, str) and item.strip()]
    if has_heading and texts:
        first = content.index(texts[0])
        content = [*content[:first], prompts.fill("situation", situation=texts[0]), *content[first + 1 :]]
    return {"role": "user", "content": content}


def combine_trust(trusts: Iterable[Trust]) -> Trust:
    """Return the trust of several inputs: one untrusted input makes all untrusted."""
    return Trust.UNTRUSTED if Trust.UNTRUSTED in trusts else Trust.TRUSTED


def _conversation_from_text(prompt: str, prompts: PromptTemplates, *, has_heading: bool) -> Conversation:
    if not prompt or prompt.isspace():
        raise InputError("The prompt is empty.", hint=_EMPTY_HINT)
    check_text("The prompt", prompt)
    text = prompts.fill("situation", situation=prompt) if has_heading else prompt.strip()
    return Conversation((), (Message(Role.USER, text),), Trust.TRUSTED)


def _iter_messages(messages: object) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(messages, Mapping) or as_json_object(messages) is not None:
        raise InputError("messages is a single object.", hint=_MESSAGES_HINT)
    if isinstance(messages, bytes | bytearray) or not isinstance(messages, Iterable):
        raise InputError(f"messages is of type {type(messages).__name__}.", hint=_MESSAGES_HINT)
    for index, item in enumerate(cast("Iterable[object]", messages)):
        location, message = f"messages[{index}]", as_json_object(item)
        if message is None:
            raise _no_message_error(cast("Iterable[object]", messages), index, item)
        yield location, message


def _no_message_error(messages: Iterable[object], index: int, item: object) -> InputError:
    """Return the error for an item that is not a message.

    A text is valid beside media, so the error names the first item that is neither, if there is one.
    """
    hint = _MESSAGES_HINT
    if isinstance(item, str):
        items = list(enumerate(messages)) if isinstance(messages, list | tuple) else []
        others = [(at, each) for at, each in items if not isinstance(each, str)]
        if odd := [(at, each) for at, each in others if as_json_object(each) is None]:
            index, item = odd[0]
        elif others:
            hint = 'Pass it as {"role": "user", "content": "..."}.'
        else:
            index, item = next(((at, each) for at, each in items if _file_hint(each)), (index, item))
            hint = _file_hint(item) or "Pass one text, or several prompts to emit_many."
    if isinstance(item, bytes) or hasattr(item, "__fspath__"):
        hint = "Wrap it in Image(...), Document(...) or Audio(...) of emitter.media."
    return InputError(
        f"messages[{index}] is of type {type(item).__name__}, not a message with role and content.", hint=hint
    )


def _file_hint(item: object) -> str:
    """Return a hint for a string that is the file name of an image, a document or a recording, or an empty string."""
    from emitter.media.parts import CLASS_NAMES, media_type_of_name, medium_of  # noqa: PLC0415  only an error needs it

    if not isinstance(item, str) or "." not in item or len(item) > _MAX_NAME_LENGTH:
        return ""
    medium = medium_of(media_type_of_name(item))
    return "" if medium is None else f"Pass {CLASS_NAMES[medium]}({item!r}) of emitter.media."


def _role_of(message: JsonObject, location: str) -> Role | None:
    """Return the role of a message, or None for the system role."""
    role, kind = message.get("role"), text_or_empty(message.get("type"))
    if role is None:
        role = _infer_role(message, kind)
    if role in _SYSTEM_ROLES:
        return None
    if role in TOOL_ROLES:
        return Role.USER
    if text_or_empty(role) in _ROLES:
        return _ROLES[text_or_empty(role)]
    known = ", ".join(sorted({*_ROLES, *_SYSTEM_ROLES, *TOOL_ROLES}))
    raise InputError(f"{location}.role is {role!r}; it must be one of {known}.")


def _infer_role(message: JsonObject, kind: str) -> str | None:
    """Return the role of a message without one: an item of OpenAI Responses, a step or a turn of Google."""
    if kind in _STEP_ROLES:
        return _STEP_ROLES[kind]
    if kind not in ("", "message"):
        return "tool" if kind in TOOL_RESULTS else "assistant"
    return "user" if "parts" in message else None


_TRUST_VALUES = tuple(trust.value for trust in Trust)
TOOL_ROLES = ("tool", "function")
_CONTENT_KEYS = frozenset({"content", "parts", "refusal", "tool_calls", "function_call", "audio", "reasoning_content"})
_DESCRIBE_HINT = "Describe it in words instead."
_MATERIALS_HINT = "Put its text into materials=, and say whether it is trusted."
_LEAVE_OUT_HINT = "Leave it out: what the agent may use says nothing about the decision."
_PART_HINTS = {
    "search_result": _MATERIALS_HINT,
    "item_reference": "Pass the item itself.",
    "additional_tools": _LEAVE_OUT_HINT,
    "tool_addition": _LEAVE_OUT_HINT,
}


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of one message: a text, or ``media``."""

    text: str
    trust: Trust = Trust.TRUSTED
    media: MediaPart | None = None


def message_parts(
    message: JsonObject, prompts: PromptTemplates, location: str, redact: Callable[[str], str] | None = None
) -> list[MessagePart]:
    """Return the parts of a message in order. Raises ``InputError`` for a part that cannot be shown."""
    try:
        parts = list(_MessageParser(prompts, location, redact).parse_message(message))
    except RecursionError as error:
        raise InputError(f"{location} is nested too deeply to be shown as text.") from error
    return [replace(part, trust=Trust.UNTRUSTED) for part in parts] if is_grounded(message) else parts


@dataclass(frozen=True, slots=True)
class _MessageParser:
    """Parses one message. ``location`` names it in errors."""

    prompts: PromptTemplates
    location: str
    redact: Callable[[str], str] | None = None

    def parse_message(self, message: JsonObject) -> Iterator[MessagePart]:
        kind = message.get("type")
        if kind not in (None, "message", *_STEP_ROLES):
            yield from self.parse_item(message, kind)
        elif _CONTENT_KEYS.isdisjoint(message):
            raise self.make_error("holds neither content nor parts")
        elif message.get("role") in TOOL_ROLES:
            yield from self.parse_tool_message(message)
        else:
            yield from self.parse_agent_message(message)

    def parse_item(self, item: JsonObject, kind: object) -> Iterator[MessagePart]:
        """Parse an item of OpenAI Responses that is not a message."""
        if text_or_empty(kind) not in THINKING_PARTS | TOOL_CALLS | TOOL_RESULTS:
            raise self.unsupported_part(kind)
        yield from self.parse_part(item)

    def parse_tool_message(self, message: JsonObject) -> Iterator[MessagePart]:
        if message.get("content") is not None:
            yield from self.parse_result(message)
        yield from self.parse_parts(message.get("parts"))

    def parse_agent_message(self, message: JsonObject) -> Iterator[MessagePart]:
        yield from self.parse_parts(message.get("content"))
        yield from self.parse_parts(message.get("parts"))
        if message.get("refusal") is not None:
            yield self.parse_text(message["refusal"])
        if message.get("audio") is not None:
            raise self.unsupported_part("audio")
        calls = [*self.as_list(message.get("tool_calls")), message.get("function_call")]
        for item in (as_json_object(call) for call in calls if call is not None):
            named = first_member(item or {}, ("function", "custom"))
            yield from self.parse_call(as_json_object(named) or item or {}, "function_call")

    def parse_parts(self, content: object) -> Iterator[MessagePart]:
        for part in [content] if isinstance(content, str | Media) else self.as_list(content):
            if isinstance(part, str):
                yield MessagePart(part)
            elif isinstance(part, Media):
                yield from self.parse_media(part)
            else:
                yield from self.parse_part(part)

    def parse_media(self, media: Media) -> Iterator[MessagePart]:
        """Yield a media part. An untrusted part is fenced by two texts."""
        media = media if self.redact is None else redact_media(media, self.redact)
        if media.trust is Trust.TRUSTED:
            yield MessagePart("", media=media.part)
        else:
            shown = render_media(self.prompts, media.part, media.source, media.trust)
            yield from (_to_message_part(part, media.trust) for part in shown)

    def parse_part(self, value: object) -> Iterator[MessagePart]:
        part = as_json_object(value)
        if part is None:
            raise self.make_error(f"holds a part of type {type(value).__name__}, which is not text")
        kind, members = part_kind(part)
        if kind in TOOL_CALLS:
            yield from self.parse_call(members, kind)
        elif kind in TOOL_RESULTS:
            yield from self.parse_result(members)
        elif kind in TEXT_PARTS and not part.get("thought"):
            yield self.parse_text_part(part, members)
        elif kind == "refusal":
            yield self.parse_text(members.get("refusal"))
        elif kind in MEDIA_PARTS:
            yield from self.parse_vendor_media(kind, members)
        elif kind not in TEXT_PARTS | THINKING_PARTS | {"cache_point"}:
            raise self.unsupported_part(kind, f"Use one of {', '.join(sorted(TEXT_PARTS | MEDIA_PARTS))}.")

    def parse_text_part(self, part: JsonObject, members: JsonObject) -> MessagePart:
        """Parse a text. It is untrusted if it is marked as untrusted."""
        text, trust = self.parse_text(members.get("text")), part.get("trust", Trust.TRUSTED)
        if trust not in _TRUST_VALUES:
            raise self.make_error(f"holds a text whose trust is {trust!r}, not one of {', '.join(_TRUST_VALUES)}")
        return replace(text, trust=Trust.UNTRUSTED) if trust == Trust.UNTRUSTED else text

    def parse_vendor_media(self, kind: str, members: JsonObject) -> Iterator[MessagePart]:
        """Yield a vendor's own image, document or audio part, and the texts that come with it."""
        for part in self.read_media(kind, members):
            if isinstance(part, MediaPart) and self.redact is not None:
                yield MessagePart("", media=redact_name(part, self.redact))
            else:
                yield _to_message_part(part, Trust.TRUSTED)

    def read_media(self, kind: str, members: JsonObject) -> tuple[str | MediaPart, ...]:
        """Read a vendor's own media part. The location of the message is added to an error."""
        from emitter.media.spellings import read_media_part  # noqa: PLC0415  few messages have media

        try:
            return read_media_part(kind, members)
        except InputError as error:
            raise InputError(f"{self.location} cannot be read. {error.args[0]}", hint=error.hint) from error

    def parse_text(self, value: object) -> MessagePart:
        if not isinstance(value, str):
            raise self.make_error(f"holds a value of type {type(value).__name__} where text belongs")
        return MessagePart(value)

    def parse_call(self, call: JsonObject, kind: str) -> Iterator[MessagePart]:
        """Render a tool call, and its result if the vendor ran the tool itself."""
        name = text_or_empty(call.get("name")) or HOSTED_TOOL_CALLS.get(kind)
        if name is None:
            raise self.make_error("holds a tool call without a name")
        arguments = first_member(call, ARGUMENT_KEYS)
        yield MessagePart(f"(called the tool {name} with {self.dump_json({} if arguments is None else arguments)})")
        if first_member(call, RESULT_KEYS) is not None:
            yield from self.parse_result({**call, "name": name})

    def parse_result(self, result: JsonObject) -> Iterator[MessagePart]:
        """Render the result of a tool in a fence."""
        if result.get("parts"):
            raise self.unsupported_part("functionResponse.parts")
        answer, response = first_member(result, RESULT_KEYS), result.get("response")
        answer, media = self.split_media(answer)
        text = self.render_result(answer) if response is None else self.dump_json(response)
        name = text_or_empty(result.get("name"))
        source = f"result of the tool {name}" if name else "tool result"
        shown = f"(the tool failed)\n{text}" if result.get("is_error") is True else text
        if shown or not media:
            yield MessagePart(render_material(self.prompts, Material(shown, source, Trust.UNTRUSTED)), Trust.UNTRUSTED)
        for part in media:
            fenced = render_media(self.prompts, part, source, Trust.UNTRUSTED)
            yield from (_to_message_part(each, Trust.UNTRUSTED) for each in fenced)

    def split_media(self, answer: object) -> tuple[object, list[MediaPart]]:
        """Take the media out of a result that is a list of parts."""
        if not isinstance(answer, list | tuple):
            return answer, []
        rest, media = list[object](), list[MediaPart]()
        for item in cast("list[object]", answer):
            members = as_json_object(item)
            kind, members = ("", None) if members is None else _result_part(members)
            if members is None or kind not in MEDIA_PARTS or kind == "file":
                rest.append(item)
                continue
            for part in self.read_media(kind, members):
                if isinstance(part, str):
                    rest.append({"type": "text", "text": part})
                else:
                    media.append(part)
        return rest, media

    def render_result(self, answer: object) -> str:
        """Return a result as text: text parts joined, anything else as JSON."""
        plain: object = self.readable_value("" if answer is None else answer)
        texts = [_part_text(item) for item in as_list(plain)]
        if not isinstance(plain, list) or None in texts:
            return self.dump_json(cast("object", plain))
        return "\n\n".join(item for item in texts if item is not None)

    def readable_value(self, value: object) -> object:
        """Remove encrypted members. Raises ``InputError`` for images, audio and files."""
        if isinstance(value, list | tuple):
            return [self.readable_value(item) for item in cast("list[object]", value)]
        members = as_json_object(value)
        if members is None:
            return value
        if text_or_empty(members.get("type")) in UNREADABLE_PARTS:
            raise self.unsupported_part(members["type"])
        return {
            name: self.readable_value(item) for name, item in members.items() if not str(name).startswith("encrypted_")
        }

    def dump_json(self, value: object) -> str:
        if isinstance(value, str):
            return value
        try:
            return json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise self.make_error("holds a value that is not JSON") from error

    def as_list(self, value: object) -> list[object]:
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self.make_error("has content that is neither text nor a list of parts")
        return list(cast("list[object]", value))

    def make_error(self, sentence: str) -> InputError:
        return InputError(f"{self.location} {sentence}.")

    def unsupported_part(self, kind: object, hint: str = _DESCRIBE_HINT) -> InputError:
        hint = _PART_HINTS.get(str(kind), hint)
        return InputError(f"{self.location} holds a part of type {kind!r}, which is not text.", hint=hint)


def _to_message_part(part: str | MediaPart, trust: Trust) -> MessagePart:
    return MessagePart(part, trust) if isinstance(part, str) else MessagePart("", trust, part)


def _part_text(value: object) -> str | None:
    part = as_json_object(value) or {}
    text = part.get("text") if text_or_empty(part.get("type")) in TEXT_PARTS else None
    return text if isinstance(text, str) else None


NAMED_TOOL_CALLS = frozenset(
    {"custom_tool_call", "function_call", "mcp_call", "mcp_tool_use", "server_tool_use", "tool_use"}
)
HOSTED_TOOL_CALLS = {
    "apply_patch_call": "apply_patch",
    "code_interpreter_call": "code_interpreter",
    "executable_code": "code",
    "file_search_call": "file_search",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "tool_search_call": "tool_search",
    "web_search_call": "web_search",
}
"""Calls of the vendors' own tools, which carry no name, with the name to show."""
TOOL_CALLS = NAMED_TOOL_CALLS | set(HOSTED_TOOL_CALLS)
ARGUMENT_KEYS = ("arguments", "input", "args", "action", "operation", "queries", "code")
"""Members that hold the arguments of a call."""
TOOL_RESULTS = frozenset(
    {
        "apply_patch_call_output",
        "bash_code_execution_tool_result",
        "code_execution_result",
        "code_execution_tool_result",
        "custom_tool_call_output",
        "function_call_output",
        "function_result",
        "function_response",
        "local_shell_call_output",
        "mcp_tool_result",
        "shell_call_output",
        "text_editor_code_execution_tool_result",
        "tool_result",
        "tool_search_output",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
UNREADABLE_PARTS = frozenset({*MEDIA_PARTS, "base64", "computer_screenshot"} - {"document"})
"""Parts of a result that are not text."""
RESULT_KEYS = ("output", "content", "result", "results", "outputs", "tools", "error")
"""Members that hold the result of a call. Google uses ``response``."""


def part_kind(part: JsonObject) -> tuple[str, JsonObject]:
    """Return a part's kind and its members. The kind is its ``type``, or the name of Google's only member."""
    kind = part.get("type")
    if isinstance(kind, str):
        return kind, part
    names = [name for name in part if snake_case(name) not in IGNORED_MEMBERS]
    if len(names) != 1:
        return ", ".join(map(str, names)) or "nothing", part
    member = part[names[0]]
    return snake_case(names[0]), cast("JsonObject", member) if isinstance(member, Mapping) else part


def _result_part(part: JsonObject) -> tuple[str, JsonObject]:
    """Return the kind of a part of a tool's result, and its members. A media part of Converse has a ``source``."""
    if "type" not in part and len(part) == 1:
        kind, members = part_kind(part)
        return (kind, members) if isinstance(members.get("source"), Mapping) else ("", part)
    return text_or_empty(part.get("type")), part


def first_member(members: JsonObject, names: tuple[str, ...]) -> Any:
    """Return the first of these members that is not null, or None."""
    return next((members[name] for name in names if members.get(name) is not None), None)


def text_or_empty(value: object) -> str:
    """Return the value if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""
