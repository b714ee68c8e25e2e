"""Answers that belong to another question: other tools, ids, indexes and roles, hosted tools, and what follows an end.

Each has the decoy where a careless reader would take it from. Where the right document stands beside it, the right
document or a typed error may come, and where it stands alone, only an error.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.hostile.shapes import Ask, Expected, Shape, answered, sent
from tests.hostile.vendor import http, raw
from tests.hostile.wires import (
    ABSENT,
    CALL_STOPS,
    CLEAN,
    CONTENT,
    DECOY,
    DECOY_TEXT,
    DOCUMENT,
    ROLES,
    TEXT,
    WIRES,
    WRONG,
    Event,
    Path,
    call,
    changed,
    copied,
    events,
    inside,
    paths,
    replaced,
    stop_path,
    stop_place,
    stopped,
    stream_kind,
    streamed,
    unary,
    with_calls,
    without_text,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# --- tools ---

_MARK = "odd-name-mark"
"""Stands for a name until an answer is written, since not every name can be streamed by the builders."""
_OTHER_NAMES: dict[str, Any] = {
    "other": "delete_vendor", "empty": "", "null": None, "absent": ABSENT, "number": 7, "true": True,
    "list": ["answer"], "object": {"name": "answer"}, "blank": " ", "prefix": "ans", "namespaced": "default_api.odd",
    "long": "x" * 5000, "nul": "answer\0", "surrogate": "\ud800",
}  # fmt: skip
"""Names of tools that nobody offered."""
_NEAR_NAMES: dict[str, Callable[[str], Any]] = {
    "upper": str.upper,
    "padded": lambda name: f" {name} ",
    "longer": lambda name: f"{name}_2",
    "shorter": lambda name: name[:-1],
    "wide": lambda name: "".join(chr(ord(each) + 0xFEE0) if each.isascii() else each for each in name),
    "joined": lambda name: f"{name}{name}",
    "invisible": lambda name: f"{name[:1]}\N{ZERO WIDTH SPACE}{name[1:]}",
}
"""Names that look like the one that was offered."""
TOOL_WIRES = ("openai-responses", "openai-chat", "anthropic", "bedrock-converse")
"""The wires with a model that is asked by a tool."""


def _marked(wire: str, document: Any, *, text: bool, first: bool = False) -> Any:
    """Return a body with a call whose name is still a mark, behind or before a text, or without one."""
    body = unary(wire)
    made = with_calls(wire, body if text else without_text(wire, body), [call(wire, _MARK, document)], first=first)
    return made if text else stopped(wire, made, CALL_STOPS.get(wire, inside(body, stop_path(wire))))


def _named(made: Any, name: Any) -> Any:
    """Return a body or events in which the mark is replaced by a name."""
    return replaced(made, ("name", _MARK), name)


def _calling(ask: Ask, body: Any, name: Any) -> bytes:
    if not ask.streams:
        return http(json.dumps(_named(body, name)).encode())
    made = [(kind, _named(payload, name)) for kind, payload in streamed(ask.wire, body)]
    return http(written(made, ask.wire), kind=ask.kind)


def _call_shape(name: str, tool: Any, expected: Expected, document: Any = DECOY, **how: Any) -> Shape:
    """Return a shape that calls a tool; a function of the offered name makes the name of the call."""

    def body(wire: str) -> Any:
        return _marked(wire, document, text=how.get("text", False), first=how.get("first", False))

    def named(offered: str) -> Any:
        return tool(offered) if callable(tool) else tool

    in_batch = None if how.get("form") else lambda wire: _named(body(wire), named("answer"))
    return Shape(
        name,
        lambda ask: sent(_calling(ask, body(ask.wire), named(ask.tool))),
        expected,
        said=True,
        body=in_batch,
        tool=how.get("form", False),
        wires=TOOL_WIRES if how.get("form") else WIRES,
    )


def _tools() -> Iterator[Shape]:
    """Yield calls of tools that nobody offered, alone and beside the right text, with and without a tool offered."""
    for name, tool in _OTHER_NAMES.items():
        yield _call_shape(f"tool:{name}-alone", tool, "error")
        yield _call_shape(f"tool:{name}-behind", tool, "either", text=True)
        yield _call_shape(f"tool:{name}-before", tool, "either", text=True, first=True)
        yield _call_shape(f"form:{name}-alone", tool, "error", form=True)
        yield _call_shape(f"form:{name}-behind", tool, "either", text=True, form=True)
    for name, tool in _NEAR_NAMES.items():
        yield _call_shape(f"form:near-{name}", tool, "error", form=True)
    yield _call_shape("form:right", lambda name: name, "answer", DOCUMENT, form=True)
    yield _several("form:right-then-other", (("own", DOCUMENT), ("delete_vendor", DECOY)), "either")
    yield _several("form:other-then-right", (("delete_vendor", DECOY), ("own", DOCUMENT)), "either")
    yield _several("form:two-documents", (("own", DOCUMENT), ("own", DECOY)), "error")
    yield _several("form:right-twice", (("own", DOCUMENT), ("own", DOCUMENT)), "either")


def _several(name: str, calls: Sequence[tuple[str, Any]], expected: Expected) -> Shape:
    """Return a shape with several calls; ``own`` is the name of the tool that was offered."""

    def script(ask: Ask) -> Any:
        wire = ask.wire
        made = [call(wire, ask.tool if tool == "own" else tool, document) for tool, document in calls]
        numbered = [
            json.loads(json.dumps(each).replace("_1", f"_{number}").replace(f"delete_{number}", "delete_1"))
            for number, each in enumerate(made, 1)
        ]
        body = with_calls(wire, without_text(wire, unary(wire)), numbered)
        return sent(_calling(ask, stopped(wire, body, CALL_STOPS.get(wire, "completed")), ""))

    return Shape(name, script, expected, said=True, tool=True, wires=TOOL_WIRES)


# --- hosted tools, thinking and other parts that are no answer ---

_SAID = {"type": "text", "text": DECOY_TEXT}
_PARTS: dict[str, dict[str, Any]] = {
    "openai-responses": {
        "mcp-call": {"type": "mcp_call", "id": "m", "name": "x", "server_label": "s", "arguments": DECOY_TEXT,
                     "output": DECOY_TEXT, "status": "completed"},
        "web-search": {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": DECOY_TEXT}},
        "code": {"type": "code_interpreter_call", "id": "c", "code": DECOY_TEXT, "status": "completed",
                 "outputs": [{"type": "logs", "logs": DECOY_TEXT}]},
        "call-output": {"type": "function_call_output", "id": "o", "call_id": "c", "output": DECOY_TEXT},
        "custom-call": {"type": "custom_tool_call", "id": "c", "call_id": "c", "name": "x", "input": DECOY_TEXT},
        "shell": {"type": "local_shell_call", "id": "s", "call_id": "c", "action": {"command": [DECOY_TEXT]},
                  "status": "completed"},
        "image": {"type": "image_generation_call", "id": "i", "result": DECOY_TEXT, "status": "completed"},
        "thinking": {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": DECOY_TEXT}],
                     "content": [{"type": "reasoning_text", "text": DECOY_TEXT}]},
        "commentary": {"type": "message", "id": "m", "role": "assistant", "status": "completed",
                       "phase": "commentary", "content": [{"type": "output_text", "text": DECOY_TEXT}]},
        "unknown": {"type": "something_new", "id": "n", "content": [{"type": "output_text", "text": DECOY_TEXT}]},
    },
    "anthropic": {
        "server-tool": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": DECOY},
        "mcp-tool": {"type": "mcp_tool_use", "id": "m", "name": "x", "server_name": "s", "input": DECOY},
        "mcp-result": {"type": "mcp_tool_result", "tool_use_id": "m", "is_error": False, "content": [_SAID]},
        "search-result": {"type": "web_search_tool_result", "tool_use_id": "s", "content": [
            {"type": "web_search_result", "title": DECOY_TEXT, "url": "http://a.test"}]},
        "code-result": {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {
            "type": "code_execution_result", "stdout": DECOY_TEXT, "stderr": "", "return_code": 0, "content": []}},
        "tool-result": {"type": "tool_result", "tool_use_id": "s", "content": [_SAID]},
        "thinking": {"type": "thinking", "thinking": DECOY_TEXT, "signature": "s"},
        "hidden-thinking": {"type": "redacted_thinking", "data": DECOY_TEXT},
        "unknown": {"type": "something_new", "text": DECOY_TEXT},
    },
    "google": {
        "code": {"executableCode": {"language": "PYTHON", "code": DECOY_TEXT}},
        "code-result": {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": DECOY_TEXT}},
        "call-result": {"functionResponse": {"name": "x", "response": DECOY}},
        "thinking": {"text": DECOY_TEXT, "thought": True},
        "data": {"inlineData": {"mimeType": "application/json", "data": "eyJhIjogInRoZSBkZWNveSB2YWx1ZSJ9"}},
        "unknown": {"somethingNew": {"text": DECOY_TEXT}},
    },
    "gemini-interactions": {
        "thinking": {"type": "thought", "signature": "s", "summary": [_SAID]},
        "call-result": {"type": "function_result", "call_id": "c", "name": "x", "result": DECOY},
        "code": {"type": "code_execution_call", "id": "c", "arguments": {"code": DECOY_TEXT}},
        "code-result": {"type": "code_execution_result", "call_id": "c", "result": DECOY_TEXT},
        "search": {"type": "google_search_call", "id": "g", "arguments": {"queries": [DECOY_TEXT]}},
        "search-result": {"type": "google_search_result", "call_id": "g", "result": [{"title": DECOY_TEXT}]},
        "mcp": {"type": "mcp_server_tool_call", "id": "m", "name": "x", "server_name": "s", "arguments": DECOY},
        "mcp-result": {"type": "mcp_server_tool_result", "call_id": "m", "result": [_SAID]},
        "input": {"type": "user_input", "content": [_SAID]},
        "unknown": {"type": "something_new", "content": [_SAID]},
    },
    "bedrock-converse": {
        "tool-result": {"toolResult": {"toolUseId": "t", "content": [{"json": DECOY}, {"text": DECOY_TEXT}]}},
        "thinking": {"reasoningContent": {"reasoningText": {"text": DECOY_TEXT, "signature": "s"}}},
        "guard": {"guardContent": {"text": {"text": DECOY_TEXT}}},
        "search-result": {"searchResult": {"source": "s", "title": "t", "content": [{"text": DECOY_TEXT}]}},
        "unknown": {"somethingNew": {"text": DECOY_TEXT}},
    },
}  # fmt: skip
"""Parts of answers that are none: what tools of the vendor's own did, thinking, input, and what is not known."""
_MEMBERS: dict[str, Any] = {
    "function-call": {"function_call": {"name": "delete_vendor", "arguments": DECOY_TEXT}},
    "custom-call": {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "x", "input": DECOY_TEXT}}]},
    "thinking": {"reasoning_content": DECOY_TEXT},
    "thinking-text": {"reasoning": DECOY_TEXT},
    "sound": {"audio": {"id": "a", "transcript": DECOY_TEXT, "data": ""}},
    "executed": {"executed_tools": [{"name": "x", "arguments": DECOY_TEXT, "output": DECOY_TEXT}]},
    "parsed": {"parsed": DECOY},
}
"""The same for chat completions, where they are members of a message."""


def _parts() -> Iterator[Shape]:
    """Yield answers whose decoy stands in a part that is no answer."""
    for wire, named in _PARTS.items():
        for name, part in named.items():

            def alone(wire: str, part: Any = part) -> Any:
                return changed(unary(wire), CONTENT[wire], [part])

            def beside(wire: str, part: Any = part, *, first: bool) -> Any:
                said = inside(unary(wire), CONTENT[wire])
                return changed(unary(wire), CONTENT[wire], [part, *said] if first else [*said, part])

            only: dict[str, Any] = {"wires": (wire,), "said": True}
            yield answered(f"part:{name}-alone", alone, "error", **only)
            yield answered(
                f"part:{name}-before", lambda wire, beside=beside: beside(wire, first=True), "either", **only
            )
            yield answered(
                f"part:{name}-behind", lambda wire, beside=beside: beside(wire, first=False), "either", **only
            )
    for name, members in _MEMBERS.items():
        only = {"wires": ("openai-chat",), "said": True}
        yield _member_shape(f"part:{name}-alone", {"content": None, **members}, "error", **only)
        yield _member_shape(f"part:{name}-empty", {"content": "", **members}, "error", **only)
        yield _member_shape(f"part:{name}-beside", {"content": TEXT, **members}, "either", **only)


def _member_shape(name: str, members: dict[str, Any], expected: Expected, **more: Any) -> Shape:
    """Return a shape whose message has these members, which a stream has in one delta."""

    def body(wire: str) -> Any:
        return changed(unary(wire), ("choices", 0, "message"), {"role": "assistant", **members})

    def script(ask: Ask) -> Any:
        if not ask.streams:
            return sent(http(json.dumps(body(ask.wire)).encode()))
        made = [each for each in events(ask.wire) if not _texts(each[1])]
        delta = {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": members, "finish_reason": None}]}
        return sent(http(written([made[0], ("", delta), *made[1:]], ask.wire), kind=ask.kind))

    return Shape(name, script, expected, body=body, **more)


# --- roles ---

_OTHER_ROLES = ("user", "system", "developer", "tool", "function", "human", "critic")
_ODD_ROLES: dict[str, Any] = {
    "null": None, "absent": ABSENT, "empty": "", "number": 1, "true": True, "list": ["assistant"], "object": {},
    "upper": "ASSISTANT", "padded": " assistant ", "long": "x" * 5000,
}  # fmt: skip


def _roled(wire: str, made: Any, role: Any) -> Any:
    key, good = ROLES[wire]
    name = "user_input" if (key, role) == ("type", "user") else role
    return replaced(made, (key, good), name)


def _role_shape(name: str, role: Any, text: str, expected: Expected) -> Shape:
    def script(ask: Ask) -> Any:
        if not ask.streams:
            return sent(http(json.dumps(_roled(ask.wire, unary(ask.wire, text), role)).encode()))
        made = [(kind, _roled(ask.wire, payload, role)) for kind, payload in events(ask.wire, text)]
        return sent(http(written(made, ask.wire), kind=ask.kind))

    return Shape(
        name, script, expected, said=expected != "either", body=lambda wire: _roled(wire, unary(wire, text), role)
    )


def _roles() -> Iterator[Shape]:
    """Yield answers that somebody else said, and answers of whom nobody says who said them."""
    for role in _OTHER_ROLES:
        yield _role_shape(f"role:{role}", role, DECOY_TEXT, "error")
        for first in (True, False):

            def beside(wire: str, role: str = role, *, first: bool) -> Any:
                return _two_answers(wire, {}, lambda made: _roled(wire, made, role), first=first)

            yield answered(
                f"role:{role}-{'before' if first else 'behind'}",
                lambda wire, beside=beside, first=first: beside(wire, first=first),
                "either",
                wires=("openai-responses", "openai-chat", "google", "gemini-interactions"),
            )
    for name, odd in _ODD_ROLES.items():
        yield _role_shape(f"role:{name}", odd, TEXT, "either")


# --- candidates, indexes and ids ---

_ANSWERS: dict[str, Path] = {
    "openai-responses": ("output",),
    "openai-chat": ("choices",),
    "google": ("candidates",),
    "gemini-interactions": ("steps",),
    "anthropic": ("content",),
    "bedrock-converse": ("output", "message", "content"),
}
"""Where a wire has several answers, or several pieces of one."""
_OTHER_INDEXES: dict[str, Any] = {
    "one": 1, "seven": 7, "minus": -1, "text-one": "1", "true": True, "half": 0.5, "huge": 10**30, "digits": "9" * 5000,
}  # fmt: skip
_ODD_INDEXES: dict[str, Any] = {
    "null": None,
    "absent": ABSENT,
    "text-zero": "0",
    "float": 0.0,
    "false": False,
    "list": [],
}


def _two_answers(wire: str, more: dict[str, Any], change: Callable[[Any], Any], *, first: bool) -> Any:
    """Return a body with the right answer, and before or behind it a decoy that is changed."""
    path = _ANSWERS[wire]
    right, wrong = inside(unary(wire), path), inside(unary(wire, DECOY_TEXT), path)
    other = [{**change(each), **more} for each in wrong]
    return changed(unary(wire), path, [*other, *right] if first else [*right, *other])


def _indexes() -> Iterator[Shape]:
    """Yield candidates under other indexes, alone and beside the right one."""
    only: dict[str, Any] = {"wires": ("openai-chat", "google")}
    for name, index in _OTHER_INDEXES.items():

        def alone(wire: str, index: Any = index) -> Any:
            return changed(unary(wire, DECOY_TEXT), (*_ANSWERS[wire], 0, "index"), index)

        yield answered(f"index:{name}-alone", alone, "error", said=True, **only)
        for first in (True, False):
            yield answered(
                f"index:{name}-{'before' if first else 'behind'}",
                lambda wire, index=index, first=first: _two_answers(
                    wire, {"index": index}, lambda made: made, first=first
                ),
                "either",
                **only,
            )
    for name, odd in _ODD_INDEXES.items():
        yield answered(
            f"index:{name}",
            lambda wire, odd=odd: changed(unary(wire), (*_ANSWERS[wire], 0, "index"), odd),
            "either",
            **only,
        )
    yield answered(
        "index:two-documents",
        lambda wire: _two_answers(wire, {}, lambda made: made, first=False),
        "error",
        said=True,
    )


_PLACES: dict[str, dict[str, Path]] = {
    "openai-chat": {
        "id": ("id",),
        "index": ("choices", 0, "index"),
        "role": ("choices", 0, "delta", "role"),
    },
    "openai-responses": {"id": ("item_id",), "index": ("output_index",), "part": ("content_index",)},
    "anthropic": {"index": ("index",)},
    "google": {
        "id": ("responseId",),
        "index": ("candidates", 0, "index"),
        "role": ("candidates", 0, "content", "role"),
    },
    "gemini-interactions": {"index": ("index",)},
    "bedrock-converse": {"index": ("contentBlockDelta", "contentBlockIndex")},
}
"""Where a piece of a stream says what it is a piece of."""
_OTHER_IDS: dict[str, Any] = {"other": "another-answer", "number": 7, "list": ["x"], "upper": "ID"}
_ODD_IDS: dict[str, Any] = {"null": None, "absent": ABSENT, "empty": ""}


def _texts(payload: Any) -> list[Path]:
    """Return where an event has pieces of the document's text."""
    found = [
        path
        for path in paths(payload)
        if path[-1] in ("content", "delta", "text") and isinstance(inside(payload, path), str) and inside(payload, path)
    ]
    return [path for path in found if inside(payload, path) in (TEXT[:12], TEXT[12:])]


def _deltas(made: Sequence[Event]) -> list[int]:
    """Return the places of the events that are pieces of the text."""
    return [place for place, (_, payload) in enumerate(made) if _texts(payload)]


def _piece(wire: str, text: str) -> Event:
    """Return an event that adds a text."""
    made = events(wire)
    name, payload = made[_deltas(made)[-1]]
    return name, changed(payload, _texts(payload)[0], text)


def _foreign_piece(kind: str, name: str, value: Any, at: str, expected: Expected = "error") -> Shape:
    """Return a stream with one piece that says it is of something else."""

    def script(ask: Ask) -> Any:
        made = events(ask.wire)
        event, payload = _piece(ask.wire, WRONG)
        foreign = (event, changed(payload, _PLACES[ask.wire][kind], value))
        first, last = _deltas(made)[0], _deltas(made)[-1]
        place = {"before": first, "between": last, "behind": last + 1}[at]
        return sent(http(written([*made[:place], foreign, *made[place:]], ask.wire), kind=ask.kind))

    only = tuple(wire for wire in WIRES if kind in _PLACES[wire])
    return Shape(f"piece:{kind}-{name}-{at}", script, expected, said=True, wires=only, streams=True)


def _odd_piece(kind: str, name: str, value: Any) -> Shape:
    """Return a stream whose own last piece does not say well what it is a piece of."""

    def script(ask: Ask) -> Any:
        made = events(ask.wire)
        place = _deltas(made)[-1]
        event, payload = made[place]
        made[place] = (event, changed(payload, _PLACES[ask.wire][kind], value))
        return sent(http(written(made, ask.wire), kind=ask.kind))

    only = tuple(wire for wire in WIRES if kind in _PLACES[wire])
    return Shape(f"piece:{kind}-{name}", script, "either", said=True, wires=only, streams=True)


def _pieces() -> Iterator[Shape]:
    """Yield streams with pieces of other answers."""
    others = {
        "id": _OTHER_IDS,
        "index": _OTHER_INDEXES,
        "part": _OTHER_INDEXES,
        "role": {role: role for role in _OTHER_ROLES},
    }
    odd = {"id": _ODD_IDS, "index": _ODD_INDEXES, "part": _ODD_INDEXES, "role": _ODD_ROLES}
    for kind, values in others.items():
        for name, value in values.items():
            # A piece of another candidate or block may be left out, or be a fault, but it is never a part.
            expected: Expected = "either" if kind in ("index", "part") else "error"
            for at in ("before", "between", "behind"):
                yield _foreign_piece(kind, name, value, at, expected)
        for name, value in odd[kind].items():
            yield _odd_piece(kind, name, value)


_ANSWER_IDS: dict[str, dict[str, Path]] = {
    "openai-responses": {"response": ("response", "id")},
    "gemini-interactions": {"interaction": ("interaction", "id")},
    "anthropic": {"message": ("message", "id")},
}


def _ends_of_others() -> Iterator[Shape]:
    """Yield streams that are begun by one answer and ended by another."""

    def end(ask: Ask) -> Any:
        made, other = events(ask.wire), events(ask.wire, DECOY_TEXT)
        [path] = _ANSWER_IDS[ask.wire].values()
        last = [place for place, (_, payload) in enumerate(other) if path[0] in payload][-1]
        name, payload = other[last]
        ended = (name, changed(payload, path, "another-answer"))
        kept = [each for place, each in enumerate(made) if place != last or ask.wire == "anthropic"]
        place = len(kept) if ask.wire != "anthropic" else _deltas(made)[-1]
        return sent(http(written([*kept[:place], ended, *kept[place:]], ask.wire), kind=ask.kind))

    yield Shape("piece:answer-other-end", end, "error", wires=tuple(_ANSWER_IDS), streams=True)

    def mixed(ask: Ask) -> Any:
        """Two whole streams, event by event."""
        made, other = events(ask.wire), json.loads(json.dumps(events(ask.wire, DECOY_TEXT)).replace("_1", "_2"))
        both = [each for pair in zip(made, map(tuple, other), strict=True) for each in pair]
        return sent(http(written(both, ask.wire), kind=ask.kind))

    yield Shape("piece:two-answers-mixed", mixed, "error", streams=True)

    def joined(ask: Ask) -> Any:
        made, other = events(ask.wire), json.loads(json.dumps(events(ask.wire, DECOY_TEXT)).replace("_1", "_2"))
        return sent(http(written([*made, *map(tuple, other)], ask.wire), kind=ask.kind))

    yield Shape("piece:two-answers-joined", joined, "error", streams=True)


# --- after the end ---


def _after(
    name: str, parts: Callable[[str], Sequence[Event]], expected: Expected = "error", text: str = TEXT
) -> Iterator[Shape]:
    """Yield streams with more events right behind the event that ends the answer, and behind all of them."""
    for at in ("stop", "all", "done"):

        def script(ask: Ask, at: str = at) -> Any:
            made = events(ask.wire, text)
            place = stop_place(made) + 1 if at == "stop" else len(made)
            late = list(parts(ask.wire))
            if at != "done":
                return sent(http(written([*made[:place], *late, *made[place:]], ask.wire), kind=ask.kind))
            body = written(made, ask.wire) + written(late, ask.wire)
            return sent(raw(body, kind=stream_kind(ask.wire)))

        only = ("openai-chat",) if at == "done" else WIRES
        # What follows [DONE] is not read by every client.
        yield Shape(
            f"after:{name}-{at}",
            script,
            "either" if at == "done" else expected,
            said=at != "stop",
            wires=only,
            streams=True,
        )


def _afters() -> Iterator[Shape]:
    """Yield streams that go on behind their end."""
    yield from _after("text", lambda wire: [_piece(wire, f" {WRONG}")])
    yield from _after("document", lambda wire: [_piece(wire, DECOY_TEXT)])
    yield from _after("digit", lambda wire: [_piece(wire, "0}")], text=TEXT[:-1])
    yield from _after("call", _late_call)
    yield from _after("start", lambda wire: events(wire, DECOY_TEXT)[:2], "either")
    yield from _after("all", lambda wire: events(wire, DECOY_TEXT))
    yield from _after("stop", lambda wire: [_stop_event(wire, "length")])
    yield from _after("filter", lambda wire: [_stop_event(wire, "content_filter")])
    yield from _after("stop-again", lambda wire: [events(wire)[stop_place(events(wire))]], "either")


def _stop_event(wire: str, reason: str) -> Event:
    """Return the event that ends an answer, for another reason."""
    made = events(wire)
    name, payload = made[stop_place(made)]
    path = next(each for each in paths(payload) if inside(payload, each) in CLEAN)
    return name, changed(payload, path, reason)


def _late_call(wire: str) -> list[Event]:
    body = with_calls(wire, without_text(wire, unary(wire)), [call(wire, "delete_vendor", DECOY)])
    made = streamed(wire, body)
    return [each for each in made if "delete_vendor" in json.dumps(each) or WRONG in json.dumps(each)][:4]


# --- what an answer says twice, and what says that it is blocked ---


def _contradictions() -> Iterator[Shape]:
    """Yield streams that say the document several times, once as the decoy.

    Whichever of them counts: what was reported while it came must be what is returned at last.
    """
    for number in range(1, 5):

        def script(ask: Ask, number: int = number) -> Any:
            made, other = events(ask.wire), events(ask.wire, DECOY_TEXT)
            differing = [place for place, (one, two) in enumerate(zip(made, other, strict=True)) if one != two]
            place = differing[-number % len(differing)]
            made[place] = other[place]
            return sent(http(written(made, ask.wire), kind=ask.kind))

        yield Shape(f"differs:event-{number}", script, "any", wires=("openai-responses",), streams=True)
    yield Shape("differs:deltas", _other_deltas, "any", wires=("openai-responses",), streams=True)
    yield Shape("differs:start", _begun, "any", wires=("anthropic", "gemini-interactions"), streams=True)
    yield Shape("differs:message", _two_deltas, "any", wires=("openai-chat",), streams=True)


def _other_deltas(ask: Ask) -> Any:
    """All of the deltas are the decoy's, and whatever repeats them is right."""
    made, other = events(ask.wire), events(ask.wire, DECOY_TEXT)
    mixed = [two if str(two[1].get("type")).endswith(".delta") else one for one, two in zip(made, other, strict=True)]
    return sent(http(written(mixed, ask.wire), kind=ask.kind))


def _begun(ask: Ask) -> Any:
    """A block begins with a document, and its deltas are another."""
    made = copied(events(ask.wire))
    for _, payload in made:
        if "content_block" in payload:
            payload["content_block"]["text"] = DECOY_TEXT
        if payload.get("event_type") == "step.start":
            payload["step"]["content"] = [_SAID]
    return sent(http(written([(name, payload) for name, payload in made], ask.wire), kind=ask.kind))


def _two_deltas(ask: Ask) -> Any:
    """Each chunk has a delta and a message."""
    made = copied(events(ask.wire))
    for _, payload in made:
        for choice in payload.get("choices", []):
            choice["message"] = {"role": "assistant", "content": DECOY_TEXT}
    return sent(http(written([(name, payload) for name, payload in made], ask.wire), kind=ask.kind))


_BLOCKED: dict[str, tuple[str, dict[Path, Any]]] = {
    "rating": ("google", {("candidates", 0, "safetyRatings"): [
        {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}]}),
    "rating-snake": ("google", {("candidates", 0, "safety_ratings"): [{"category": "x", "blocked": True}]}),
    "prompt": ("google", {("promptFeedback",): {"blockReason": "SAFETY"}}),
    "prompt-number": ("google", {("promptFeedback",): {"blockReason": 1}}),
    "prompt-rating": ("google", {("promptFeedback",): {"safetyRatings": [{"category": "x", "blocked": True}]}}),
    "details": ("anthropic", {("stop_details",): {"type": "refusal", "category": "x"}}),
    "filter": ("openai-chat", {("choices", 0, "content_filter_results"): {
        "violence": {"filtered": True, "severity": "high"}}}),
    "refusal": ("openai-chat", {("choices", 0, "message", "refusal"): "I cannot."}),
    "incomplete": ("openai-responses", {("incomplete_details",): {"reason": "content_filter"}}),
    "item": ("openai-responses", {("output", 0, "status"): "incomplete"}),
    "error": ("openai-responses", {("error",): {"code": "server_error", "message": "broke"}}),
    "step": ("gemini-interactions", {("steps", 0, "error"): {"code": 3, "message": "blocked"}}),
}  # fmt: skip
"""What says, beside a clean stop, that an answer is not to be read."""


def _blocks() -> Iterator[Shape]:
    for name, (wire, members) in _BLOCKED.items():

        def blocked(wire: str, members: dict[Path, Any] = members) -> Any:
            body = unary(wire, DECOY_TEXT)
            for path, value in members.items():
                body = changed(body, path, value)
            return body

        def script(ask: Ask, blocked: Any = blocked, members: Any = members) -> Any:
            if not ask.streams:
                return sent(http(json.dumps(blocked(ask.wire)).encode()))
            return sent(http(written(_blocked_events(ask, blocked(ask.wire), members), ask.wire), kind=ask.kind))

        yield Shape(f"blocked:{name}", script, "error", said=True, wires=(wire,), body=blocked)


def _blocked_events(ask: Ask, body: Any, members: dict[Path, Any]) -> list[Event]:
    """Return the events of a blocked answer: where the builders know nothing of the member, its chunk is added."""
    made = streamed(ask.wire, body)
    [(path, value)] = members.items()
    if ask.wire in ("openai-chat", "google") and path[0] in ("choices", "candidates") and "message" not in path:
        made[-2] = (made[-2][0], changed(made[-2][1], path, value))
    return made


# --- the document's own text ---

_DIGITS = "9" * 5000
_TEXTS: dict[str, tuple[str, Expected]] = {
    "twice-decoy-first": (f'{{"a": "{WRONG}", "a": "the right value", "n": 7}}', "error"),
    "twice-decoy-last": (f'{{"a": "the right value", "n": 7, "a": "{WRONG}"}}', "error"),
    "two-documents": (f"{TEXT}\n{DECOY_TEXT}", "error"),
    "digits": (f'{{"a": "the right value", "n": {_DIGITS}}}', "error"),
    "float-digits": (f'{{"a": "the right value", "n": 7e{_DIGITS}}}', "error"),
    "deep": ("[" * 20_000, "error"),
    "deep-inside": ('{"a": ' * 5_000, "error"),
    "surrogate": ('{"a": "\\ud800", "n": 7}', "error"),
    "not-a-number": ('{"a": "the right value", "n": NaN}', "error"),
    "nothing": ("", "error"),
    "array": (f"[{TEXT}, {DECOY_TEXT}]", "error"),
}  # fmt: skip


def _documents() -> Iterator[Shape]:
    for name, (text, expected) in _TEXTS.items():
        yield answered(f"text:{name}", lambda wire, text=text: unary(wire, text), expected, said=True)


def shapes() -> list[Shape]:
    """Return the shapes of answers that belong elsewhere."""
    tables = (
        *(_tools, _parts, _roles, _indexes, _pieces, _ends_of_others, _afters, _contradictions, _blocks, _documents),
    )
    return [each for table in tables for each in table()]
