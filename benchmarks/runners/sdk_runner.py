"""The vendors' SDKs: their own parse helpers, their lowest public call, and ``httpx2`` alone as the floor."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
from pydantic_core import from_json

from benchmarks.runners.sdk_clients import KEY, client
from benchmarks.runners.talk import talk
from benchmarks.runners.task import BUDGET, MODELS, PROMPT, Moment, Report, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MESSAGES: Any = [{"role": "user", "content": PROMPT}]


class Typed:
    """The parse helpers."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one call of the wire's parse helper, read as its documentation reads it."""
        wire = job["wire"]
        sdk, model = client(wire, job["url"]), MODELS[wire]
        match wire:
            case "openai-responses":
                return lambda: (
                    sdk.responses.parse(
                        model=model, input=PROMPT, text_format=Moment, max_output_tokens=BUDGET
                    ).output_parsed
                )
            case "openai-chat":
                return lambda: (
                    sdk.chat.completions.parse(
                        model=model, messages=MESSAGES, response_format=Moment, max_completion_tokens=BUDGET
                    )
                    .choices[0]
                    .message.parsed
                )
            case "anthropic":
                return lambda: (
                    sdk.messages.parse(
                        model=model, messages=MESSAGES, output_format=Moment, max_tokens=BUDGET
                    ).parsed_output
                )
            case _:
                config = {**_google(Moment), "max_output_tokens": BUDGET}
                return lambda: sdk.models.generate_content(model=model, contents=PROMPT, config=config).parsed

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one run of the wire's stream helper."""
        wire = job["wire"]
        sdk, model = client(wire, job["url"]), MODELS[wire]
        match wire:
            case "openai-responses":
                helper = sdk.responses.stream
                return lambda: _run(
                    helper(model=model, input=PROMPT, text_format=Report),
                    lambda events: events.get_final_response().output_parsed,
                )
            case "openai-chat":
                helper = sdk.chat.completions.stream
                return lambda: _run(
                    helper(model=model, messages=MESSAGES, response_format=Report),
                    lambda events: events.get_final_completion().choices[0].message.parsed,
                )
            case "anthropic":
                helper, most = sdk.messages.stream, job["budget"]
                return lambda: _run(
                    helper(model=model, messages=MESSAGES, output_format=Report, max_tokens=most),
                    lambda events: events.get_final_message().parsed_output,
                )
            case _:
                return lambda: _google_stream(sdk, model)


def _google(model: type) -> dict[str, Any]:
    return {"response_mime_type": "application/json", "response_schema": model}


def _run(manager: Any, final: Callable[[Any], object]) -> Iterable[object]:
    with manager as events:
        yield from events
        yield final(events)


def _google_stream(sdk: Any, model: str) -> Iterable[object]:
    """Yield the chunks; the SDK parses none of them, so the whole is read at the end."""
    parts: list[str] = []
    for each in sdk.models.generate_content_stream(model=model, contents=PROMPT, config=_google(Report)):
        parts.append(each.text or "")
        yield each
    yield Report.model_validate_json("".join(parts))


class LowLevel:
    """The SDK's lowest public call, which returns the response as it came, with the body that this library sends."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one post."""
        wire, body = job["wire"], job["body"]
        sdk = client(wire, job["url"])
        if wire == "google":
            config = {**_snake(body["generationConfig"]), "should_return_http_response": True}
            if "systemInstruction" in body:
                config["system_instruction"] = body["systemInstruction"]
            return lambda: sdk.models.generate_content(model=MODELS[wire], contents=body["contents"], config=config)
        path = job["path"].removeprefix("/v1") if wire != "anthropic" else job["path"]
        return lambda: sdk.post(path, cast_to=httpx2.Response, body=body)


_SNAKE = {
    "maxOutputTokens": "max_output_tokens",
    "responseMimeType": "response_mime_type",
    "responseJsonSchema": "response_json_schema",
}


def _snake(config: Mapping[str, Any]) -> dict[str, Any]:
    return {_SNAKE[name]: each for name, each in config.items()}


class Floor:
    """``httpx2`` with the body that this library sends, and ``json.loads`` of what comes back."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one post."""
        http, body, url = httpx2.Client(), job["body"], job["url"] + job["path"]
        headers = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, "x-goog-api-key": KEY}
        return lambda: json.loads(http.post(url, json=body, headers=headers).content)

    def raw(self, job: Mapping[str, Any]) -> bytes:
        """Return the response to one post as it came."""
        return httpx2.post(job["url"] + job["path"], json=job["body"]).content


class FloorStream:
    """``httpx2`` that reads the lines of a stream, and does nothing with them."""

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one run over the lines."""
        wire = job["wire"]
        path, body = _STREAMED[wire]
        body = {"model": MODELS[wire], "stream": True, **body} if wire != "google" else body
        headers = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, "x-goog-api-key": KEY}

        http = httpx2.Client()

        def lines() -> Iterable[object]:
            with http.stream("POST", job["url"] + path, json=body, headers=headers) as opened:
                yield from opened.iter_lines()

        return lines


_STREAMED: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-responses": ("/v1/responses", {"input": PROMPT}),
    "openai-chat": ("/v1/chat/completions", {"messages": MESSAGES}),
    "anthropic": ("/v1/messages", {"messages": MESSAGES, "max_tokens": BUDGET}),
    "google": (
        f"/v1beta/models/{MODELS['google']}:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]},
    ),
}


class Partial:
    """``pydantic_core.from_json`` of all that has come, after each delta: what most stream helpers do inside."""

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one run over the text, without any HTTP."""
        text = json.dumps(report(job["size"]), separators=(",", ":"))

        def parsed() -> Iterable[object]:
            for end in range(20, len(text) + 20, 20):
                yield from_json(text[:end], allow_partial="trailing-strings")

        return parsed


if __name__ == "__main__":
    talk(
        {
            "sdk typed": Typed(),
            "sdk low-level": LowLevel(),
            "httpx2": Floor(),
            "httpx2 stream": FloorStream(),
            "pydantic_core partial": Partial(),
        }
    )
