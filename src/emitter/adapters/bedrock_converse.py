"""Adapter for Converse of Amazon Bedrock, through a boto3 client.

Source: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html; botocore 1.44.5,
data/bedrock-runtime/2023-09-30/service-2.json.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.request_options import ReservedOption, merge_layers
from emitter.adapters.response_decoding import (
    NOT_OPEN,
    AssembledBody,
    StreamIdentity,
    as_count,
    as_objects,
    as_string,
    collect_stop_reasons,
    cover_total,
    find_foreign_role,
    is_error_body,
    make_result,
    parse_arguments,
    parse_error,
    read_index,
    reject_foreign,
    with_usage,
)
from emitter.errors import InputError
from emitter.grounding import PLAIN_MEMBERS, counts_sources, is_grounded, is_outside_part
from emitter.messages import HOUR, NO_FIELDS, Medium, OutputMode, Usage, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.bedrock_client import BedrockView
    from emitter.adapters.response_decoding import DecodingTables
    from emitter.messages import CallResult, ExpectedAnswer, Json, MediaPart, Message, ModelRequest, OutputFormat
    from emitter.profiles.model import WireProfile

RESERVED_OPTIONS: Mapping[str, ReservedOption] = MappingProxyType(
    {
        "model_id": ReservedOption.MODEL,
        "messages": ReservedOption.PROMPT,
        "prompt_variables": ReservedOption.PROMPT,
        "system": ReservedOption.INSTRUCTIONS,
        "inference_config.max_tokens": ReservedOption.BUDGET,
        "output_config.text_format": ReservedOption.SCHEMA,
        "tool_config": ReservedOption.TOOLS,
    }
)
"""The request fields that ``extra_body`` may not set."""
_ANSWER_KEYS = ("output", "stopReason", "usage")
_FORMATS = {"application/pdf": "pdf", "audio/mpeg": "mp3"}
"""The formats of media types that end in another word."""
_DOCUMENT_NAME, _LONGEST_NAME = "document", 200
_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9()\[\]-]+")
"""The characters that the name of a document may not contain. Single spaces are allowed."""
_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")


def encode(request: ModelRequest, wire: WireProfile) -> dict[str, Json]:
    """Return the arguments of ``converse``."""
    names: set[str] = set()
    body: dict[str, Json] = {
        "modelId": request.model,
        "messages": [
            {
                "role": message.role.value,
                "content": _content(message, names) if message.parts else [{"text": message.text}],
            }
            for message in request.all_messages()
        ],
        "inferenceConfig": {wire.tokens.parameter: request.max_output_tokens},
        **({"system": _system(request)} if request.system else {}),
        **_output_parameters(request.output),
    }
    return merge_layers(body, wire.output.options, request.options)


def _system(request: ModelRequest) -> list[Json]:
    """Return the system prompt, with a mark behind its prefix if it is to be cached."""
    prefix, *rest = ({"text": text} for text in request.system_parts())
    if request.cache is None or not request.cache.is_marked:
        return [prefix, *rest]
    lifetime = {"ttl": request.cache.lifetime} if request.cache.lifetime else {}
    return [prefix, {"cachePoint": {"type": "default", **lifetime}}, *rest]


def _content(message: Message, names: set[str]) -> list[Json]:
    """Return the content of a turn that has media. A turn with a document needs a text."""
    blocks = [{"text": part} if isinstance(part, str) else _media_block(part, names) for part in message.parts]
    if message.text or not any("document" in block for block in blocks):
        return blocks
    return [*blocks, {"text": _DOCUMENT_NAME}]


def _media_block(part: MediaPart, names: set[str]) -> dict[str, Json]:
    form = _FORMATS.get(part.media_type) or part.media_type.partition("/")[2]
    block: dict[str, Json] = {"format": form, "source": _media_source(part)}
    if part.medium is not Medium.DOCUMENT:
        return {part.medium.value: block}
    name = _unique_name(part.name or "", names)
    names.add(name.lower())
    return {"document": {**block, "name": name}}


def _media_source(part: MediaPart) -> dict[str, Json]:
    """Return the bytes, which boto3 writes in base64, or the address in S3."""
    return {"bytes": part.data} if part.data is not None else {"s3Location": {"uri": part.file_id}}


def _unique_name(file_name: str, names: set[str]) -> str:
    """Return a name for a document that the vendor accepts, and that no other document of the request has."""
    stem = file_name.rpartition(".")[0] or file_name
    plain = _NAME_CHARACTERS.sub(" ", stem).strip()[:_LONGEST_NAME].strip() or _DOCUMENT_NAME
    name, number = plain, 1
    while name.lower() in names:
        number += 1
        name = f"{plain[: _LONGEST_NAME - len(str(number)) - 1]} {number}"
    return name


def _output_parameters(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            schema = {"name": output.name, "schema": json.dumps(output.schema, ensure_ascii=False)}
            return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}}
        case OutputMode.TOOL:
            tool: dict[str, Json] = {"name": output.name, "inputSchema": {"json": output.schema}}
            strict = {"strict": True} if output.strict else {}
            return {
                "toolConfig": {
                    "tools": [{"toolSpec": {**tool, **strict}}],
                    "toolChoice": {"tool": {"name": output.name}},
                }
            }
        case OutputMode.JSON_OBJECT | OutputMode.TEXT:
            return {}


def decode(body: Mapping[str, Json], tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    """Return the response or fault that a response body describes."""
    usage = _parse_usage(body.get("usage"))
    if is_error_body(body, *_ANSWER_KEYS):
        return with_usage(parse_error(200, body, tables), usage)
    message = as_mapping(as_mapping(body.get("output")).get("message"))
    blocks = as_objects(message.get("content"))
    calls = [call for call in (as_mapping(block.get("toolUse")) for block in blocks) if _is_clients(call)]
    result = make_result(
        tables,
        usage,
        collect_stop_reasons(body.get("stopReason")),
        text="".join(map(_block_text, blocks)),
        calls=[(call.get("name"), call["input"]) for call in calls if "input" in call],
        expected=expected,
        is_grounded=is_grounded(message) or counts_sources(body.get("usage")),
    )
    foreign = find_foreign_role((message,))
    return result if foreign is None else reject_foreign(result, foreign)


def _is_clients(call: Mapping[str, Any]) -> bool:
    """Return whether a call is for the client. Bedrock runs the calls of its own tools itself."""
    return call.get("type") != "server_tool_use"


def _block_text(block: Mapping[str, Any]) -> str:
    """Return the text of a content block; text with citations has a block of its own."""
    cited = as_objects(as_mapping(block.get("citationsContent")).get("content"))
    return "".join(as_string(part.get("text")) for part in (block, *cited))


def _parse_usage(usage: Json) -> Usage | None:
    """Return the usage. ``inputTokens`` does not include the tokens read from and written to a cache."""
    table = as_mapping(usage)
    if not table:
        return None
    read, written = (as_count(table.get(f"cache{kind}InputTokens")) for kind in ("Read", "Write"))
    details = as_objects(table.get("cacheDetails"))
    usage = Usage(
        input=as_count(table.get("inputTokens")) + read + written,
        output=as_count(table.get("outputTokens")),
        cache_read=read,
        cache_write=written,
        cache_write_1h=sum(as_count(part.get("inputTokens")) for part in details if part.get("ttl") == HOUR),
    )
    return cover_total(usage, as_count(table.get("totalTokens")))


def send(client: object, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = NO_FIELDS) -> object:
    """Send through a view of a boto3 client."""
    _reject_headers(headers)
    return cast("BedrockView", client).post("Converse", body, timeout)


def _reject_headers(headers: Mapping[str, str]) -> None:
    """Raise ``InputError`` for headers, which no method of boto3 accepts."""
    if headers:
        raise InputError("extra_headers= cannot be sent through boto3.", hint="Register an event handler on client=.")


def with_stream(body: Mapping[str, Json], wire: WireProfile) -> dict[str, Json]:  # noqa: ARG001  chat completions need it
    """Return the arguments unchanged: a stream has its own operation."""
    return dict(body)


def open_stream(
    client: object, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = NO_FIELDS
) -> object:
    """Send a streaming request and return the unread response."""
    _reject_headers(headers)
    return cast("BedrockView", client).post("ConverseStream", body, timeout)


class StreamAssembler:
    """Folds the events of a stream into one response."""

    def __init__(self, expected: ExpectedAnswer | None) -> None:
        self._expected = expected
        self._identity = StreamIdentity(expected)
        self._blocks: dict[int, dict[str, Any]] = {}
        self._closed: set[int] = set()
        self._own_call: int | None = None
        self._stop_reasons: list[Json] = []
        self._usage: dict[str, Json] = {}
        self._failure: Json = None

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event. Return the text that it adds to the document. Events after an error are ignored."""
        if self._failure:
            return ""
        if is_error_body(event, *_EVENTS):
            self._failure = event.get("error") or event.get("errors") or event
            return ""
        if delta := as_mapping(event.get("contentBlockDelta")):
            return self._add_delta(read_index(delta.get("contentBlockIndex")), as_mapping(delta.get("delta")))
        if start := as_mapping(event.get("contentBlockStart")):
            self._start_block(read_index(start.get("contentBlockIndex")), as_mapping(start.get("start")))
        elif stop := as_mapping(event.get("contentBlockStop")):
            self._closed.add(read_index(stop.get("contentBlockIndex")))
        else:
            self._add_message_event(event)
        return ""

    def _add_message_event(self, event: Mapping[str, Any]) -> None:
        self._identity.check_role(as_mapping(event.get("messageStart")).get("role"))
        if "messageStop" in event:
            self._stop_reasons.append(as_mapping(event["messageStop"]).get("stopReason"))
        self._usage |= as_mapping(as_mapping(event.get("metadata")).get("usage"))

    def _start_block(self, index: int, start: Mapping[str, Any]) -> None:
        self._identity.check_end(has_ended=bool(self._stop_reasons))
        if index < 0 or index in self._blocks:
            self._identity.fail(NOT_OPEN)
        if self._identity.problem:
            return
        if is_outside_part(start):
            self._identity.is_grounded = True
        call = dict(as_mapping(start.get("toolUse")))
        self._blocks[index] = {"text": [], "toolUse": call, "input": []}
        if self._own_call is None and self._expected is not None and _is_clients(call):
            self._own_call = index if self._expected.is_own_call(call.get("name")) else None

    def _add_delta(self, index: int, delta: Mapping[str, Any]) -> str:
        text, arguments = as_string(delta.get("text")), as_string(as_mapping(delta.get("toolUse")).get("input"))
        if not delta.keys() <= PLAIN_MEMBERS and is_outside_part(delta):
            self._identity.is_grounded = True
        if not (text or arguments):
            return ""
        self._check_place(index, is_call=bool(arguments))
        if self._identity.problem:
            return ""
        if index not in self._blocks:  # a text begins without a start
            self._start_block(index, {})
        self._blocks[index]["text"].append(text)
        self._blocks[index]["input"].append(arguments)
        if self._expected is not None and self._expected.tool_name is not None:
            return arguments if index == self._own_call else ""
        return "" if self._blocks[index]["toolUse"] else text

    def _check_place(self, index: int, *, is_call: bool) -> None:
        """Note a delta that comes after the end, or for a block that is not open. Only a call must be opened."""
        self._identity.check_end(has_ended=bool(self._stop_reasons))
        if index < 0 or index in self._closed or (is_call and not self._blocks.get(index, {}).get("toolUse")):
            self._identity.fail(NOT_OPEN)

    def body(self) -> AssembledBody:
        """Return the response so far."""
        content = list(map(_finish_block, self._blocks.values()))
        body: dict[str, Json] = {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": collect_stop_reasons(*self._stop_reasons),
            "usage": self._usage,
        }
        if self._failure:
            return AssembledBody({**body, "error": self._failure}, is_complete=True)
        return AssembledBody(body, any(self._stop_reasons), self._identity.problem, self._identity.is_grounded)


def _finish_block(block: Mapping[str, Any]) -> dict[str, Any]:
    call, arguments = block["toolUse"], "".join(block["input"])
    if not (call or arguments):
        return {"text": "".join(block["text"])}
    return {"toolUse": {**call, "input": parse_arguments(arguments) if arguments else {}}}
