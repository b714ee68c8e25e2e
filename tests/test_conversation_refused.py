"""What cannot be read as a situation, and the laws: any JSON is read whole or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.types import TextBlock
from google.genai import types as google
from hypothesis import given
from hypothesis import strategies as st

from emitter.conversation import Conversation, parse_conversation
from emitter.errors import InputError
from emitter.prompts import load

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPTS = load()
TRAFFIC = Path(__file__).parents[1] / ".." / "shared" / "vendor-traffic"


def user(content: Any) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": content}


REFUSED: dict[str, tuple[Any, str]] = {
    "empty text": ("", "The prompt is empty. Describe the task."),
    "blank text": (" \n\t", "The prompt is empty. Describe the task."),
    "no messages": ([], "is an empty list"),
    "only a system message": ([{"role": "system", "content": "x"}], "has system texts only. Add a turn of the user"),
    "only thinking": (
        [{"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}],
        "holds no text in any turn",
    ),
    "nothing": (None, "Pass a text or a list of messages"),
    "a number": (5, "messages is of type int. Pass a text or a list of messages"),
    "bytes": (b"Ship?", "messages is of type bytes. Pass a text or a list of messages"),
    "one message": (user("Ship?"), "Pass a text or a list of messages"),
    "one sdk object": (TextBlock(type="text", text="x"), "Pass a text or a list of messages"),
    "texts": (["Ship?"], "messages[0] is of type str, not a message with role and content. Pass one text, or several"),
    "a path beside a text": (["What?", Path("a.png")], "messages[1] is of type PosixPath, not a message with role and"),
    "a text after messages": (
        [user("x"), {"role": "assistant", "content": "y"}, "and again"],
        'messages[2] is of type str, not a message with role and content. Pass it as {"role": "user", "content":',
    ),
    "the name of a file beside a text": (
        ["What?", "receipt.png"],
        "messages[1] is of type str, not a message with role and content. Pass Image('receipt.png') of emitter.media.",
    ),
    "the names of files": (["a.pdf", "b.wav"], "Pass Document('a.pdf') of emitter.media."),
    "a number beside a text": (["What?", 5], "messages[1] is of type int, not a message with role and content. Pass a"),
    "an unknown part": (
        [user([{"type": "image_uri", "image_uri": "u"}])],
        "'image_uri', which is not text. Use one of audio, document, file, file_data, image, image_url,",
    ),
    "a path": ([Path("a.png")], "Wrap it in Image(...)"),
    "half a character": ("a\ud800", "The prompt contains a lone surrogate."),
    "half a character in a turn": ([user("a\ud800")], "A text of messages[0] contains a lone surrogate."),
    "an empty turn": ([user("")], "messages holds no text in any turn. Describe the task."),
    "nested": ([[user("Ship?")]], "messages[0] is of type list, not a message"),
    "no role": ([{"content": "x"}], "messages[0].role is None; it must be one of assistant"),
    "unknown role": ([user("x"), {"role": "judge", "content": "x"}], "messages[1].role is 'judge'"),
    "role that is a list": ([{"role": ["user"], "content": "x"}], "messages[0].role is ['user']"),
    "type that is a list": ([{"role": "user", "type": ["x"], "content": "x"}], "type ['x'], which is not text"),
    "part's type that is a list": ([user([{"type": ["x"], "text": "x"}])], "type 'type, text', which is not text"),
    "name that is a list": ([user([{"type": "tool_use", "name": ["x"]}])], "a tool call without a name"),
    "no content": ([{"role": "user", "text": "x"}], "messages[0] holds neither content nor parts"),
    "content that is an object": ([user({"type": "text", "text": "x"})], "neither text nor a list of parts"),
    "part that is a number": ([user([5])], "messages[0] holds a part of type int"),
    "empty part": ([user([{}])], "messages[0] holds a part of type 'nothing'"),
    "text that is null": ([user([{"type": "text", "text": None}])], "a value of type NoneType where text belongs"),
    "call without a name": (
        [{"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}],
        "a tool call without a name",
    ),
    "calls that are no list": ([{"role": "assistant", "tool_calls": {"a": 1}}], "neither text nor a list"),
    "arguments that are no JSON": (
        [user([{"type": "tool_use", "name": "f", "input": {"a": object()}}])],
        "a value that is not JSON",
    ),
    "chat image": (
        [user([{"type": "image_url", "image_url": {"url": "u"}}])],
        "messages[0] cannot be read. The part has no URL",
    ),
    "chat audio": ([{"role": "assistant", "audio": {"id": "a"}}], "'audio', which is not text"),
    "chat tool image": (
        [user("?"), {"role": "tool", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}],
        "messages[1] cannot be read. The part has no URL",
    ),
    "responses image": ([user([{"type": "input_image", "image_url": "u"}])], "The part has no URL"),
    "responses output image": (
        [{"type": "function_call_output", "output": [{"type": "input_image", "image_url": "u"}]}],
        "The part has no URL",
    ),
    "responses reference": ([user("?"), {"type": "item_reference", "id": "i"}], "Pass the item itself"),
    "responses tools": ([{"type": "additional_tools", "role": "developer", "tools": []}], "Leave it out"),
    "anthropic image": ([user([{"type": "image", "source": {}}])], "no source of type base64"),
    "anthropic document": ([user([{"type": "document", "source": {}}])], "no source of type base64"),
    "anthropic search result": ([user([{"type": "search_result", "source": "u"}])], "Put its text into materials="),
    "anthropic result image": (
        [user([{"type": "tool_result", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}])],
        "no source of type base64",
    ),
    "anthropic fetched file": (
        [user([{"type": "web_fetch_tool_result", "content": {"content": {"source": {"type": "base64"}}}}])],
        "'base64', which is not text",
    ),
    "google video": (
        [google.Content(parts=[google.Part(inline_data=google.Blob(data=b"\xff", mime_type="video/mp4"))])],
        "'video/mp4'. Images, PDF documents and audio can be sent",
    ),
    "google text and image": ([{"role": "user", "parts": [{"text": "a", "inlineData": {}}]}], "'text, inlineData'"),
    "google result image": (
        [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}, "parts": [{}]}}]}],
        "'functionResponse.parts', which is not text",
    ),
}


@pytest.mark.parametrize(("situation", "reported"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_shown_as_text_is_refused(situation: Any, reported: str) -> None:
    """The error names the place and says what to do; nothing is dropped in silence."""
    with pytest.raises(InputError) as raised:
        parse_conversation(situation, PROMPTS)

    assert reported in str(raised.value)


def test_a_deep_value_is_refused() -> None:
    """A value too deep for JSON is an input error, not a crash."""
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(InputError, match="nested too deeply"):
        parse_conversation([{"type": "function_call_output", "output": deep}], PROMPTS)


WORDS = st.sampled_from(
    ["user", "assistant", "model", "tool", "system", "text", "message", "tool_use", "tool_result", "function_call"]
)
KEYS = st.sampled_from(
    ["role", "type", "content", "parts", "text", "name", "input", "output", "tool_calls", "function", "functionCall"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=3) | st.lists(VALUES, max_size=3) | VALUES)
def test_any_json_is_read_or_refused(situation: Any) -> None:
    """No JSON value makes reading raise anything but an input error."""
    try:
        conversation = parse_conversation(situation, PROMPTS)
    except InputError as error:
        assert str(error)  # noqa: PT017  either outcome is right
    else:
        assert isinstance(conversation, Conversation)
        assert conversation.messages


def iter_texts(value: Any) -> Iterator[str]:
    """Yield every text that stands under a name that means text, thinking left out."""
    if isinstance(value, list):
        for each in value:
            yield from [each] if isinstance(each, str) else iter_texts(each)
    elif isinstance(value, dict) and not value.get("thought") and "thinking" not in str(value.get("type")):
        for name in ("text", "content", "parts", "output", "refusal"):
            member = value.get(name)
            yield from [member] if isinstance(member, str) else iter_texts(member)


def recorded() -> list[tuple[str, list[Any]]]:
    """Return the message lists of all recorded requests, by file."""
    found: list[tuple[str, list[Any]]] = []
    for path in sorted(TRAFFIC.rglob("*.json")):
        body = json.loads(path.read_text("utf-8")).get("request", {}).get("body")
        bodies = body if isinstance(body, dict) else {}
        lists = (bodies.get(name) for name in ("messages", "input", "contents"))
        found.extend((path.name, each) for each in lists if isinstance(each, list))
    return found


@pytest.mark.skipif(not TRAFFIC.is_dir(), reason="../shared/vendor-traffic is absent: recorded messages are not read")
def test_recorded_messages_lose_nothing() -> None:
    """Of every recorded request all texts are in what was read, or it was refused."""
    messages = recorded()
    read_whole = 0
    for name, situation in messages:
        try:
            conversation = parse_conversation(situation, PROMPTS)
        except InputError:
            continue
        parsed_text = "\n".join([*conversation.system, *(each.text for each in conversation.messages)]).replace(
            "&lt;", "<"
        )
        for text in iter_texts(situation):
            assert text.strip().replace("&lt;", "<") in parsed_text, name
        read_whole += 1

    assert read_whole > 0.9 * len(messages)
