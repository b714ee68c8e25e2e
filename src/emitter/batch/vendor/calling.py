"""Requests through the low-level methods that openai's and anthropic's clients share.

Credentials and base URL stay the client's; its retries are switched off, for a batch that is submitted twice is
paid for twice.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from emitter.batch.vendor.shapes import Channel
    from emitter.wire import Json

_UNREAD = {"X-Stainless-Raw-Response": "stream"}
"""The SDKs' own switch for a response whose body is not read yet (``_constants.RAW_RESPONSE_HEADER``)."""


async def get(channel: Channel, path: str, params: Mapping[str, Json] | None = None) -> Mapping[str, Any]:
    """Return the JSON object at a path; raises what the SDK raises, and ``JSONDecodeError``."""
    options = {**_options(channel), "params": params or {}}
    return _object(await channel.client.get(path, cast_to=_kind(), options=options))


async def post(channel: Channel, path: str, body: Json = None) -> Mapping[str, Any]:
    """Post JSON, and return the JSON object that comes back."""
    return _object(await channel.client.post(path, cast_to=_kind(), body=body, options=_options(channel)))


async def post_bytes(channel: Channel, path: str, content: bytes) -> Mapping[str, Any]:
    """Post JSON that is written already."""
    options = {**_options(channel), "headers": {"Content-Type": "application/json"}}
    return _object(await channel.client.post(path, cast_to=_kind(), content=content, options=options))


async def lines(channel: Channel, path: str) -> AsyncGenerator[Mapping[str, Any] | None]:
    """Yield the objects of a file of JSON lines as they arrive; None for a line that is none."""
    options = {**_options(channel), "headers": {**_UNREAD, "Accept": "application/binary"}}
    response = await channel.client.get(path, cast_to=_kind(), options=options)
    async with aclosing(response):
        async for line in response.aiter_lines():
            if line.strip():
                yield _loaded(line)


def id_of(found: Mapping[str, Any]) -> str:
    """Return the id of what was made; raises ``JSONDecodeError`` for a response that is none of the vendor's."""
    if not isinstance(found.get("id"), str):
        raise json.JSONDecodeError("there is no id", "", 0)
    return str(found["id"])


def _options(channel: Channel) -> dict[str, Any]:
    return {"timeout": channel.timeout, "max_retries": 0}


def _kind() -> Any:
    import httpx2  # noqa: PLC0415  the SDK has loaded it

    return httpx2.Response


def _object(response: Any) -> Mapping[str, Any]:
    return mapping(json.loads(response.content))


def _loaded(line: str) -> Mapping[str, Any] | None:
    try:
        return mapping(json.loads(line)) or None
    except (ValueError, RecursionError):
        return None
