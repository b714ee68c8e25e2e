"""OpenAI Responses from the vendor's side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.profile.model import WireName
from emitter.testing.asked import Asked
from emitter.testing.draft import Failure, Trouble
from emitter.testing.wires import openai_errors
from emitter.testing.wires.openai_errors import AZURE, complaint, denial
from emitter.testing.wires.openai_response import whole
from emitter.testing.wires.openai_responses_stream import stream
from emitter.testing.wires.reading import AROUND_MESSAGE, Surface, missing, positive, spoken, written
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.wire import Json

__all__ = ["complaint", "denial", "read", "stream", "surfaces", "whole"]

_LEAST = 16


def read(path: str, body: Mapping[str, Json]) -> Asked | Failure:
    """Return what a request asks for, or what is wrong with it."""
    fault = _fault(body)
    if fault:
        return fault
    format_, tool = mapping(mapping(body.get("text")).get("format")), _forced(body)
    schema = tool.get("parameters") if tool else format_.get("schema")
    if schema is None and format_.get("type") == "json_object":
        schema = {"type": "object"}
    messages = sequence(body["input"]) or [body["input"]]
    return Asked(
        wire=WireName.OPENAI_RESPONSES,
        path=path,
        model=str(body["model"]),
        body=body,
        streamed=body.get("stream") is True,
        schema=schema,
        tool=tool.get("name") if tool else None,
        budget=positive(body.get("max_output_tokens")),
        input_tokens=spoken(body.get("instructions"), messages)
        + written(format_.get("schema"), *sequence(body.get("tools")))
        + AROUND_MESSAGE * len(messages),
        azure=AZURE in path,
    )


def _fault(body: Mapping[str, Json]) -> Failure | None:
    for name in ("model", "input"):
        if not body.get(name):
            return missing(name, f"Missing required parameter: '{name}'.")
    if "response_format" in body:
        told = (
            "Unsupported parameter: 'response_format'. In the Responses API, this parameter has moved to 'text.format'."
        )
        return Failure(Trouble.BAD_REQUEST, told, code="unsupported_parameter")
    format_ = mapping(mapping(body.get("text")).get("format"))
    if format_.get("type") == "json_schema" and not format_.get("name"):
        return missing("text.format.name", "Missing required parameter: 'text.format.name'.")
    budget = positive(body.get("max_output_tokens"))
    return openai_errors.too_few("max_output_tokens", budget, _LEAST)


def _forced(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    tools = [mapping(each) for each in sequence(body.get("tools")) if mapping(each).get("type") == "function"]
    choice = body.get("tool_choice")
    wanted = mapping(choice).get("name")
    forced = [each for each in tools if choice == "required" or (wanted and each.get("name") == wanted)]
    return forced[0] if forced else None


def surfaces(asked: Asked) -> Iterator[Surface]:
    """Yield the strict schemas of a request."""
    dialect = "azure-openai" if asked.azure else "openai"
    format_ = mapping(mapping(asked.body.get("text")).get("format"))
    if format_.get("type") == "json_schema" and format_.get("strict"):
        yield Surface(format_.get("schema"), dialect, str(format_["name"]), "text.format.schema")
    for index, tool in enumerate(map(mapping, sequence(asked.body.get("tools")))):
        if tool.get("type") == "function" and tool.get("strict"):
            yield Surface(
                tool.get("parameters"), dialect, str(tool.get("name")), f"tools[{index}].parameters", tool=True
            )
