"""Only what belongs to the request is its answer: the tool that was offered, one id, one choice, one role, one end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import emitter
from emitter.attempts import Verdict
from emitter.core.verdicts import OTHER_TOOL, DocumentContract, classify
from emitter.messages import ExpectedAnswer, Fault, FaultKind, ModelResponse, StopReason
from emitter.profiles import WireFormat
from emitter.schema import compile_schema
from tests.adapters.bodies import (
    accumulator,
    answer,
    anthropic,
    bedrock,
    chat,
    google,
    interaction,
    output,
    responses,
    said,
)
from tests.adapters.streams import STREAMS, Frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.messages import CallResult

WIRES = list(WireFormat)
OWN, OTHER = "decide", "delete_vendor"
RIGHT, DECOY, WORDS = {"vendor": "Acme"}, {"vendor": "DECOY"}, '{"vendor": "Said"}'
FORM = {
    "type": "object",
    "properties": {"vendor": {"type": "string"}},
    "required": ["vendor"],
    "additionalProperties": False,
}
CONTRACT = DocumentContract(compile_schema(FORM, "openai"))
EVENT = dict[str, Any]
FORMS = ["unary", "streamed", "array"]
"""A body, its events, and its events as an array, as they come for a request that did not ask for a stream."""


def body(wire: WireFormat, words: str = "", *calls: tuple[Any, dict[str, Any]]) -> dict[str, Any]:
    """Return an answer with a text and calls, each a name and arguments. A name may be left out with None."""
    named = [({} if name is None else {"name": name}, made) for name, made in calls]
    match wire:
        case WireFormat.OPENAI_CHAT:
            made = [
                {"id": f"c{n}", "function": {**name, "arguments": json.dumps(made)}}
                for n, (name, made) in enumerate(named)
            ]
            return chat({"content": words, "tool_calls": made}, finish_reason="tool_calls" if calls else "stop")
        case WireFormat.OPENAI_RESPONSES:
            items = [{"type": "function_call", **name, "arguments": json.dumps(made)} for name, made in named]
            return responses(*([said({"type": "output_text", "text": words})] if words else []), *items)
        case WireFormat.ANTHROPIC:
            blocks = [{"type": "tool_use", "id": "t", **name, "input": made} for name, made in named]
            texts = [{"type": "text", "text": words}] if words else []
            return anthropic(*texts, *blocks, stop_reason="tool_use" if calls else "end_turn", role="assistant")
        case WireFormat.GOOGLE:
            parts = [{"functionCall": {**name, "args": made}} for name, made in named]
            return google(*([{"text": words}] if words else []), *parts)
        case WireFormat.BEDROCK_CONVERSE:
            blocks = [{"toolUse": {"toolUseId": "t", **name, "input": made}} for name, made in named]
            return bedrock(
                *([{"text": words}] if words else []), *blocks, stopReason="tool_use" if calls else "end_turn"
            )
        case WireFormat.GEMINI_INTERACTIONS:
            steps = [{"type": "function_call", "id": "c", **name, "arguments": made} for name, made in named]
            status = "requires_action" if calls else "completed"
            return interaction(*([output(words)] if words else []), *steps, status=status)


def events(wire: WireFormat, made: dict[str, Any]) -> list[EVENT]:
    """Return the events of a body, in deltas of four characters."""
    cut = STREAMS[wire](made, lambda text: [text[at : at + 4] for at in range(0, len(text), 4)])
    return [payload for _, payload in cut]


def read(wire: WireFormat, form: str, made: dict[str, Any] | list[EVENT], tool: str | None = None) -> CallResult:
    """Return the answer to a request that offered ``tool``. A stream reports nothing but the start of its document."""
    expected = ExpectedAnswer(tool)
    if form == "unary":
        return answer(wire, made, expected=expected)
    payloads = events(wire, made) if isinstance(made, dict) else made
    if form == "array":
        return answer(wire, payloads, expected=expected)
    incoming = accumulator(wire, expected)
    reported = incoming.feed(Frame().write([("", payload) for payload in payloads]).encode())
    found = incoming.finish({})
    if isinstance(found, ModelResponse) and found.stop is StopReason.COMPLETE:
        whole, document = reported + incoming.unreported, found.document_text
        assert whole == document or json.loads(whole) == json.loads(document)
    return found


def is_protocol_fault(found: CallResult) -> bool:
    """Tell whether nothing of an answer counts."""
    return isinstance(found, Fault) and found.kind is FaultKind.PROTOCOL


CALLS: dict[str, tuple[str | None, str, list[tuple[Any, dict[str, Any]]], str, list[dict[str, Any]]]] = {
    "other beside a text": (None, WORDS, [(OTHER, DECOY)], WORDS, []),
    "other alone": (None, "", [(OTHER, DECOY)], "", []),
    "own name, but no tool was offered": (None, "", [(OWN, DECOY)], "", []),
    "right": (OWN, "", [(OWN, RIGHT)], "", [RIGHT]),
    "right beside a text": (OWN, WORDS, [(OWN, RIGHT)], WORDS, [RIGHT]),
    "other instead": (OWN, "", [(OTHER, DECOY)], "", []),
    "other beside a text instead": (OWN, WORDS, [(OTHER, DECOY)], WORDS, []),
    "other first": (OWN, "", [(OTHER, DECOY), (OWN, RIGHT)], "", [RIGHT]),
    "other last": (OWN, "", [(OWN, RIGHT), (OTHER, DECOY)], "", [RIGHT]),
    "right twice": (OWN, "", [(OWN, RIGHT), (OWN, RIGHT)], "", [RIGHT, RIGHT]),
    "right, then different": (OWN, "", [(OWN, RIGHT), (OWN, DECOY)], "", [RIGHT, DECOY]),
    "name in another case": (OWN, "", [(OWN.upper(), DECOY)], "", []),
    "name with a prefix": (OWN, "", [(f"default_api.{OWN}", DECOY)], "", []),
    "empty name": (OWN, "", [("", DECOY)], "", []),
    "no name": (OWN, "", [(None, DECOY)], "", []),
    "no name, and no tool was offered": (None, "", [(None, DECOY)], "", []),
    "name of another type": (OWN, "", [([OWN], DECOY)], "", []),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("case", CALLS)
def test_only_a_call_of_the_offered_tool_counts(case: str, wire: WireFormat, form: str) -> None:
    """Nothing that another call carries is a value. A text beside it stays the answer."""
    tool, words, calls, text, arguments = CALLS[case]
    if form != "unary" and any(name is None for name, _ in calls) and wire is not WireFormat.GEMINI_INTERACTIONS:
        calls = [("" if name is None else name, made) for name, made in calls]  # our writer of events needs one
    found = read(wire, form, body(wire, words, *calls), tool)

    assert isinstance(found, ModelResponse)
    assert (found.stop, found.text) == (StopReason.COMPLETE, text)
    assert [json.loads(each) if isinstance(each, str) else each for each in found.arguments] == arguments
    assert found.other_tool_called == (len(arguments) < len(calls))
    judged = classify(found, CONTRACT)
    if arguments in ([RIGHT], [RIGHT, RIGHT]):
        assert judged.value == RIGHT
    elif not arguments and text:
        assert judged.value == json.loads(WORDS)
    else:
        assert judged.verdict is Verdict.MALFORMED
        assert (OTHER_TOOL in judged.violations) == (not arguments)


def choices(wire: WireFormat, made: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the choices or candidates of a body or an event."""
    return made.get("candidates" if wire is WireFormat.GOOGLE else "choices") or []


WITH_CHOICES = [WireFormat.OPENAI_CHAT, WireFormat.GOOGLE]
INDICES: list[Any] = [-1, 1, 2, "0", "1", 0.0, 1.0, True, False, [], {}]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("index", INDICES, ids=map(repr, INDICES))
@pytest.mark.parametrize("wire", WITH_CHOICES)
def test_another_choice_is_no_answer(wire: WireFormat, index: Any, form: str) -> None:
    """Choice 0 was requested, and it is named by the number 0 or not at all."""
    made = body(wire, WORDS)
    payloads = [made] if form == "unary" else events(wire, made)
    for each in (each for payload in payloads for each in choices(wire, payload)):
        each["index"] = index
    assert is_protocol_fault(read(wire, form, made if form == "unary" else payloads))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ["before", "behind"])
@pytest.mark.parametrize("wire", WITH_CHOICES)
def test_another_choice_beside_the_own_is_a_fault(wire: WireFormat, order: str, form: str) -> None:
    """One choice was requested. Which of two is the answer is not known, whatever they are numbered."""
    for index in (0, 1):
        made, other = body(wire, WORDS), body(wire, '{"vendor": "XXX"}')
        choices(wire, other)[0]["index"] = index
        pair = [other, made] if order == "before" else [made, other]
        both = {
            **made,
            ("candidates" if wire is WireFormat.GOOGLE else "choices"): [choices(wire, each)[0] for each in pair],
        }
        assert is_protocol_fault(read(wire, form, both))


def with_role(wire: WireFormat, form: str, role: Any) -> Any:
    """Return an answer whose message has a role."""
    made = body(wire, WORDS)
    if form == "unary":
        _speakers(wire, made)[-1]["role"] = role
        return made
    payloads = events(wire, made)
    speakers = [speaker for payload in payloads for speaker in _speakers(wire, payload)]
    for speaker in speakers:
        speaker["role"] = role
    assert speakers
    return payloads


def _speakers(wire: WireFormat, table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a body or an event that may have a role."""
    match wire:
        case WireFormat.OPENAI_CHAT:
            return [each.get("delta") or each.get("message") or {} for each in table["choices"]]
        case WireFormat.OPENAI_RESPONSES:
            return table.get("output") or (table.get("response") or {}).get("output") or []
        case WireFormat.ANTHROPIC:
            return [table["message"]] if "message" in table else [table] if "content" in table else []
        case WireFormat.GOOGLE:
            return [each["content"] for each in table.get("candidates") or [] if "content" in each]
        case WireFormat.BEDROCK_CONVERSE:
            return (
                [table["messageStart"]]
                if "messageStart" in table
                else [(table.get("output") or {}).get("message") or {}]
            )
        case WireFormat.GEMINI_INTERACTIONS:
            return table.get("steps") or ([table["step"]] if "step" in table else [])


ROLES: list[Any] = ["user", "system", "tool", "developer", "Assistant", 0, ["assistant"], {}]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("role", ROLES, ids=map(repr, ROLES))
@pytest.mark.parametrize("wire", WIRES)
def test_a_message_of_another_role_is_no_answer(wire: WireFormat, role: Any, form: str) -> None:
    """A vendor that sends back the user's own words has not answered."""
    assert is_protocol_fault(read(wire, form, with_role(wire, form, role)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("role", ["assistant", "model", "", None])
@pytest.mark.parametrize("wire", WIRES)
def test_the_models_own_message_is_its_answer(wire: WireFormat, role: Any, form: str) -> None:
    """Some servers leave the role out."""
    found = read(wire, form, with_role(wire, form, role))
    assert isinstance(found, ModelResponse)
    assert (found.stop, found.text) == (StopReason.COMPLETE, WORDS)


RATINGS: dict[str, Any] = {
    "blocked": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH", "blocked": True}],
    "the last of them": [{"category": "A", "blocked": False}, {"category": "B", "blocked": True}],
    "of another type": [{"blocked": "true"}],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["safetyRatings", "safety_ratings"])
@pytest.mark.parametrize("place", ["candidate", "prompt"])
@pytest.mark.parametrize("ratings", RATINGS.values(), ids=RATINGS)
def test_what_a_rating_blocks_is_refused(ratings: Any, place: str, name: str, form: str) -> None:
    """Whatever the finish reason says."""
    made = body(WireFormat.GOOGLE, WORDS)
    payloads = [made] if form == "unary" else events(WireFormat.GOOGLE, made)
    place_of = payloads[0]["candidates"][0] if place == "candidate" else payloads[0].setdefault("promptFeedback", {})
    place_of[name] = ratings
    found = read(WireFormat.GOOGLE, form, made if form == "unary" else payloads)
    assert isinstance(found, ModelResponse)
    assert found.stop is StopReason.REFUSED


FILTERS: dict[str, tuple[Any, StopReason]] = {
    "filtered": ({"hate": {"filtered": True, "severity": "high"}}, StopReason.REFUSED),
    "the last of them": ({"hate": {"filtered": False}, "jailbreak": {"filtered": True}}, StopReason.REFUSED),
    "only detected": ({"jailbreak": {"filtered": False, "detected": True}}, StopReason.COMPLETE),
    "nothing": ({}, StopReason.COMPLETE),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("filters", "stop"), FILTERS.values(), ids=FILTERS)
def test_what_azure_filters_is_refused(filters: Any, stop: StopReason, form: str) -> None:
    """Whatever the finish reason says."""
    made = body(WireFormat.OPENAI_CHAT, WORDS)
    payloads = [made] if form == "unary" else events(WireFormat.OPENAI_CHAT, made)
    payloads[0]["choices"][0]["content_filter_results"] = filters
    found = read(WireFormat.OPENAI_CHAT, form, made if form == "unary" else payloads[1:2] + payloads[:1] + payloads[2:])
    assert isinstance(found, ModelResponse)
    assert found.stop is stop


def piece(wire: WireFormat, text: str, index: Any = 0) -> list[EVENT]:
    """Return the events that add a text to an answer, at an index of its parts, which are open already."""
    match wire:
        case WireFormat.OPENAI_CHAT:
            return [{"choices": [{"index": 0, "delta": {"content": text}}]}]
        case WireFormat.OPENAI_RESPONSES:
            return [{"type": "response.output_text.delta", "output_index": index, "content_index": 0, "delta": text}]
        case WireFormat.ANTHROPIC:
            return [{"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}]
        case WireFormat.GOOGLE:
            return [{"candidates": [{"index": 0, "content": {"parts": [{"text": text}], "role": "model"}}]}]
        case WireFormat.BEDROCK_CONVERSE:
            return [{"contentBlockDelta": {"contentBlockIndex": index, "delta": {"text": text}}}]
        case WireFormat.GEMINI_INTERACTIONS:
            return [{"event_type": "step.delta", "index": index, "delta": {"type": "text", "text": text}}]


def part(wire: WireFormat, text: str, index: int) -> list[EVENT]:
    """Return the events of one more part of an answer."""
    match wire:
        case WireFormat.OPENAI_RESPONSES:
            item = {"type": "message", "role": "assistant"}
            return [
                {"type": "response.output_item.added", "output_index": index, "item": item},
                *piece(wire, text, index),
                {
                    "type": "response.output_item.done",
                    "output_index": index,
                    "item": said({"type": "output_text", "text": text}),
                },
            ]
        case WireFormat.ANTHROPIC:
            block = {"type": "text", "text": ""}
            return [
                {"type": "content_block_start", "index": index, "content_block": block},
                *piece(wire, text, index),
                {"type": "content_block_stop", "index": index},
            ]
        case WireFormat.GEMINI_INTERACTIONS:
            return [
                {"event_type": "step.start", "index": index, "step": {"type": "model_output"}},
                *piece(wire, text, index),
                {"event_type": "step.stop", "index": index},
            ]
        case _:
            return piece(wire, text, index)


def tool_part(wire: WireFormat) -> list[EVENT]:
    """Return the events that call another tool in a later part."""
    made = events(wire, body(wire, "", (OTHER, DECOY)))
    for payload in made:
        for table in (payload, payload.get("contentBlockStart") or {}, payload.get("contentBlockDelta") or {}):
            for key in {"index", "output_index", "contentBlockIndex"} & table.keys():
                table[key] = 5
    keep = ("tool_calls", "function_call", "tool_use", "functionCall", "toolUse", "partial_json", "arguments")
    return [payload for payload in made if any(key in json.dumps(payload) for key in keep) and not is_end(payload)]


def is_end(payload: EVENT) -> bool:
    """Tell whether an event ends the answer."""
    kinds = ("response.completed", "message_delta", "message_stop", "interaction.completed")
    if payload.get("type") in kinds or payload.get("event_type") in kinds or "messageStop" in payload:
        return True
    found = payload.get("choices") or payload.get("candidates") or []
    return any(each.get("finish_reason") or each.get("finishReason") for each in found)


def empty(wire: WireFormat) -> list[EVENT]:
    """Return the events without content that real servers send after the end, or between."""
    match wire:
        case WireFormat.OPENAI_CHAT:
            return [
                {"id": "", "choices": []},
                {"id": "other", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}},
                {"id": "other", "choices": [{"index": 0, "delta": {}, "content_filter_results": {}}]},
                {"choices": [{"index": 0, "delta": {"content": "", "tool_calls": []}, "finish_reason": None}]},
            ]
        case WireFormat.OPENAI_RESPONSES:
            return [{"type": "keepalive", "sequence_number": 7}]
        case WireFormat.ANTHROPIC:
            return [{"type": "ping"}, {"type": "message_stop"}]
        case WireFormat.GOOGLE:
            return [
                {"usageMetadata": {"promptTokenCount": 7}},
                {"candidates": [{"index": 0, "content": {"parts": []}}]},
            ]
        case WireFormat.BEDROCK_CONVERSE:
            return [{"metadata": {"usage": {"inputTokens": 3}}}]
        case WireFormat.GEMINI_INTERACTIONS:
            return [{"event_type": "ping"}]


def ids(wire: WireFormat, payloads: list[EVENT], name: Any, other: Any, where: range) -> list[EVENT]:
    """Return the events with an id each, which is another one in a range of them."""
    marked: list[EVENT] = []
    for at, payload in enumerate(payloads):
        value = other if at in where else name
        match wire:
            case WireFormat.OPENAI_CHAT:
                marked.append({**payload, "id": value})
            case WireFormat.GOOGLE:
                marked.append({**payload, "responseId": value})
            case WireFormat.OPENAI_RESPONSES if "response" in payload:
                marked.append({**payload, "response": {**payload["response"], "id": value}})
            case WireFormat.GEMINI_INTERACTIONS if "interaction" in payload:
                marked.append({**payload, "interaction": {**payload["interaction"], "id": value}})
            case WireFormat.GEMINI_INTERACTIONS:
                marked.append({**payload, "interaction_id": value})
            case _:
                marked.append(payload)
    return marked


WITH_IDS = [
    WireFormat.OPENAI_CHAT,
    WireFormat.OPENAI_RESPONSES,
    WireFormat.GOOGLE,
    WireFormat.GEMINI_INTERACTIONS,
]


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("place", ["in the middle", "from the middle on", "last"])
@pytest.mark.parametrize("wire", WITH_IDS)
def test_pieces_of_two_ids_are_no_answer(wire: WireFormat, place: str, form: str) -> None:
    """The middle of an answer is a piece of another one."""
    payloads = events(wire, body(wire, WORDS))
    last = max(
        at
        for at, each in enumerate(payloads)
        if "Sai" in json.dumps(each) or "response" in each or "interaction" in each
    )
    where = {"in the middle": range(3, 4), "from the middle on": range(3, 99), "last": range(last, last + 1)}[place]
    if wire is WireFormat.OPENAI_RESPONSES:  # only whole responses have an id
        where = range(last, last + 1)
    assert is_protocol_fault(read(wire, form, ids(wire, payloads, "mine", "other", where)))


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("other", ["", None])
@pytest.mark.parametrize("wire", WITH_IDS)
def test_some_servers_leave_ids_out(wire: WireFormat, other: Any, form: str) -> None:
    """An empty id says nothing. The last chunks of Azure and of some proxies have one."""
    payloads = events(wire, body(wire, WORDS))
    for where in (range(1), range(2, 4), range(99)):
        found = read(wire, form, ids(wire, payloads, "mine", other, where))
        assert isinstance(found, ModelResponse)
        assert found.text == WORDS


@pytest.mark.parametrize("form", FORMS[1:])
def test_a_second_message_is_another_answer(form: str) -> None:
    """Two messages in one stream of Anthropic are two answers, whatever they are called."""
    first, second = (events(WireFormat.ANTHROPIC, body(WireFormat.ANTHROPIC, words)) for words in ("7", "0"))
    assert is_protocol_fault(read(WireFormat.ANTHROPIC, form, [*first, *second]))
    assert is_protocol_fault(read(WireFormat.ANTHROPIC, form, [*first[:4], *second]))


@pytest.mark.parametrize("form", FORMS[1:])
def test_a_second_response_is_another_answer(form: str) -> None:
    """Two responses in one stream are two answers."""
    first, second = (
        events(WireFormat.OPENAI_RESPONSES, body(WireFormat.OPENAI_RESPONSES, words)) for words in ("7", "0")
    )
    assert is_protocol_fault(read(WireFormat.OPENAI_RESPONSES, form, [*first, second[-1]]))
    assert is_protocol_fault(read(WireFormat.OPENAI_RESPONSES, form, [*first, *second]))


LATE: dict[str, Callable[[WireFormat], list[EVENT]]] = {
    "piece": lambda wire: piece(wire, "0"),
    "part": lambda wire: part(wire, "0", 1),
    "call": tool_part,
}


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_does_not_go_on_after_its_end(wire: WireFormat, late: str, form: str) -> None:
    """``7`` does not become ``70``. What adds nothing may come, such as the usage."""
    payloads = events(wire, body(wire, "7"))
    ended = max(at for at, payload in enumerate(payloads) if is_end(payload)) + 1
    calm = read(wire, form, [*payloads[:ended], *empty(wire), *payloads[ended:]])
    assert isinstance(calm, ModelResponse)
    assert (calm.stop, calm.text) == (StopReason.COMPLETE, "7")
    for at in {ended, len(payloads)}:
        found = read(wire, form, [*payloads[:at], *LATE[late](wire), *payloads[at:]])
        assert is_protocol_fault(found), at
    if late != "part":
        stopped = read(wire, form, [*payloads, *LATE[late](wire), payloads[ended - 1]])
        assert is_protocol_fault(stopped), "with another end"


WITH_PARTS = [wire for wire in WIRES if wire not in WITH_CHOICES]
NO_INDICES: list[Any] = [7, -1, "0", 0.0, True, []]


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("index", NO_INDICES, ids=map(repr, NO_INDICES))
@pytest.mark.parametrize("wire", WITH_PARTS)
def test_a_piece_of_a_part_that_was_not_opened(wire: WireFormat, index: Any, form: str) -> None:
    """Only the texts of Converse begin without an event of their own."""
    payloads = events(wire, body(wire, WORDS))
    end = next(at for at, payload in enumerate(payloads) if is_end(payload))
    found = read(wire, form, [*payloads[:end], *piece(wire, "0", index), *payloads[end:]])
    if wire is WireFormat.BEDROCK_CONVERSE and index == 7:
        assert isinstance(found, ModelResponse)
        assert found.text == f"{WORDS}0"
    else:
        assert is_protocol_fault(found)


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("wire", WITH_PARTS)
def test_a_piece_of_a_part_that_was_closed(wire: WireFormat, form: str) -> None:
    """What is finished does not grow, and is not begun anew."""
    payloads = events(wire, body(wire, WORDS))
    end = next(at for at, payload in enumerate(payloads) if is_end(payload))
    assert is_protocol_fault(read(wire, form, [*payloads[:end], *piece(wire, "0"), *payloads[end:]]))
    if wire is not WireFormat.BEDROCK_CONVERSE:
        assert is_protocol_fault(read(wire, form, [*payloads[:end], *part(wire, "0", 0), *payloads[end:]]))


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("wire", [WireFormat.OPENAI_RESPONSES, WireFormat.GEMINI_INTERACTIONS])
def test_an_end_that_states_another_document(wire: WireFormat, form: str) -> None:
    """A terminal event holds the whole answer again. Which of two is right is not known."""
    streamed, stated = (body(wire, words) for words in ('{"vendor": "Acme"}', '{"vendor": "Evil Ltd"}'))
    payloads = events(wire, streamed)
    if wire is WireFormat.OPENAI_RESPONSES:
        payloads[-1] = {**payloads[-1], "response": stated}
    else:
        payloads[-1]["interaction"]["steps"] = stated["steps"]
    assert is_protocol_fault(read(wire, form, payloads))


def test_only_recordings_are_read_without_a_request() -> None:
    """Everything else says what its answer must match, so that no way to a vendor takes a foreign one."""
    sources = Path(emitter.__file__).parent
    careless = {
        path.relative_to(sources).as_posix() for path in sources.rglob("*.py") if _CARELESS.search(path.read_text())
    }
    assert careless == {"cli/model_answers.py"}


_CARELESS = re.compile(r"expected=None")
