"""Record HTTP exchanges of vendors' SDKs to a cassette file, and replay them.

Both are ``httpx2`` transports, sync and async in one, so a replay runs the SDK, the adapters and the emission as a
live call does. Replay is strict: a request that is not in the cassette raises ``UnexpectedRequest``. Credentials are
redacted from headers, queries and bodies before a cassette is written.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Protocol, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emitter.adapters.bedrock_client import EVENT_STREAM, as_server_sent_events
from emitter.adapters.clients import HARMLESS_QUERY, create_client, credential_fragments, find_request_credentials
from emitter.errors import BadCassette, InputError, MissingExtra, MissingKey, UnexpectedRequest
from emitter.files import check_path, private_opener
from emitter.media.parts import detect_media_type
from emitter.messages import MediaPart, Medium
from emitter.profiles import find_profile
from emitter.profiles.model import Sdk
from emitter.redaction import NO_SECRETS, Secrets
from emitter.redaction.matcher import format_marker
from emitter.testing.media_rules import try_decode_base64
from emitter.testing.wires.bedrock_converse import encode_event_stream

try:
    import httpx2
except ImportError as missing:
    raise MissingExtra("Cassettes need httpx2, which comes with every vendor's SDK.", extra="openai") from missing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from emitter.messages import Json
    from emitter.testing.plugin_support import CassettePlan


class Provenance(str, Enum):
    """The origin of the responses."""

    RECORDED = "recorded"
    BY_HAND = "written by hand"


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedRequest(_StrictModel):
    """The parts of a request that replay compares: method, path with its harmless query, and body."""

    method: str
    path: str
    body: Any = None


class RecordedResponse(_StrictModel):
    """A response. ``body`` is JSON, or a string if it is not JSON or is a stream of events."""

    status: Annotated[int, Field(ge=100, le=599)]
    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None


class Interaction(_StrictModel):
    """One request and its response."""

    request: RecordedRequest
    response: RecordedResponse


class Cassette(_StrictModel):
    """The contents of a cassette file.

    Images, documents and audio of requests are replaced by their digests. ``media`` holds the bytes of a recording,
    which ``save_cassette`` writes into a folder beside the file. They are not needed to replay.
    """

    provenance: Provenance
    note: str = ""
    interactions: tuple[Interaction, ...] = ()
    media: dict[str, bytes] = Field(default_factory=dict[str, bytes], exclude=True, repr=False)


def load_cassette(path: str | Path) -> Cassette:
    """Load the cassette at ``path``. Raises ``BadCassette``."""
    place = check_path("path", path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCassette(f"The cassette {path} cannot be read: {error}.") from error
    return parse_cassette(text, str(path))


def parse_cassette(text: str, name: str) -> Cassette:
    """Parse a cassette from JSON. ``name`` is used in error messages only. Raises ``BadCassette``."""
    try:
        return Cassette.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        raise BadCassette(f"The cassette {name} is not valid: {location}: {first['msg']}.") from error


def save_cassette(cassette: Cassette, place: str | Path) -> None:
    """Write the cassette atomically, readable by its owner only, and its media beside it. Raises ``BadCassette``."""
    path = check_path("place", place)
    try:
        _write_cassette(cassette, path)
    except OSError as error:
        raise BadCassette(f"The cassette {place} could not be written: {error.strerror}.") from error


def _write_cassette(cassette: Cassette, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f"{path.suffix}.part")
    partial.unlink(missing_ok=True)  # an old one may be readable by others
    with open(partial, "x", encoding="utf-8", opener=private_opener) as file:
        file.write(json.dumps(cassette.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")
    partial.replace(path)
    _save_media(cassette.media, path)


_DATA_URL = re.compile(r"(data:[^,;]*(?:;[^,;]*)*;base64,)([A-Za-z0-9+/_=-]+)", re.IGNORECASE)
_DATA_MEMBERS = frozenset({"bytes", "data", "file_data"})
_SUFFIXES = {"image/jpeg": "jpg", "audio/mpeg": "mp3", "": "bin"}


def extract_media(body: Json) -> tuple[Json, dict[str, bytes]]:
    """Return the body of a request with digests in place of its media, and the media by their digests."""
    media: dict[str, bytes] = {}

    def keep(text: str, encoded: str, prefix: str) -> str:
        data = try_decode_base64(encoded)
        if data is None or not detect_media_type(data):
            return text
        digest = MediaPart(Medium.IMAGE, data=data).digest
        media[digest] = data
        return f"{prefix}{digest}"

    def extract(node: Json, name: str = "") -> Json:
        if isinstance(node, list):
            return [extract(item) for item in cast("list[Json]", node)]
        if isinstance(node, dict):
            return {key: extract(item, key) for key, item in cast("dict[str, Json]", node).items()}
        if isinstance(node, str):
            url = _DATA_URL.fullmatch(node)
            if url is not None:
                return keep(node, url[2], url[1])
            return keep(node, node, "") if name in _DATA_MEMBERS else node
        return node

    return extract(body), media


def _save_media(media: Mapping[str, bytes], cassette: Path) -> None:
    """Write the media beside the cassette, each under its digest."""
    folder = cassette.with_suffix(".media")
    for digest, data in media.items():
        folder.mkdir(parents=True, exist_ok=True)
        kind = detect_media_type(data)
        name = f"{digest.removeprefix('sha256:')}.{_SUFFIXES.get(kind, kind.rpartition('/')[2])}"
        if not (folder / name).exists():
            with open(folder / name, "xb", opener=private_opener) as file:
                file.write(data)


REDACTED = format_marker("credential")


def redact_interaction(interaction: Interaction, credentials: tuple[str, ...]) -> Interaction:
    """Replace every credential in the interaction."""
    secrets = _make_secrets(credentials)
    if not secrets:
        return interaction
    plain = _redact_numbers(interaction.model_dump(mode="json"), frozenset(credentials))
    return Interaction.model_validate(secrets.redact_json(plain).value)


@lru_cache(maxsize=16)
def _make_secrets(credentials: tuple[str, ...]) -> Secrets:
    """Return the credentials to search for, also in hexadecimal."""
    encoded = [credential.encode("utf-8", "surrogatepass").hex() for credential in credentials]
    forms = [form for form in (*credentials, *encoded, *map(str.upper, encoded)) if _is_searchable(form)]
    return Secrets.of({"credential": forms}) if forms else NO_SECRETS


def _is_searchable(text: str) -> bool:
    try:
        return bool(Secrets.of({"credential": text}))
    except InputError:  # too short, or part of the marker
        return False


def _redact_numbers(value: Json, credentials: frozenset[str]) -> Json:
    """Replace numbers that are credentials, which a search in texts does not find."""
    if isinstance(value, list):
        return [_redact_numbers(item, credentials) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {name: _redact_numbers(item, credentials) for name, item in cast("dict[str, Json]", value).items()}
    return REDACTED if isinstance(value, int | float) and str(value) in credentials else value


_RECORDED_HEADERS = frozenset(
    {"content-type", "retry-after", "retry-after-ms", "x-request-id", "request-id", "date"}
    | {"x-amzn-requestid", "x-amzn-errortype"}
)
_FRAMING_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def make_http_client(transport: Any, *, asynchronous: bool = False) -> httpx2.Client | httpx2.AsyncClient:
    """Return an HTTP client that sends through ``transport``, for a vendor's SDK."""
    return httpx2.AsyncClient(transport=transport) if asynchronous else httpx2.Client(transport=transport)


class _DualTransport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """A transport for sync and async clients. Closing a client keeps it usable for the next one of the test."""

    def close(self) -> None:
        """Nothing to close."""

    async def aclose(self) -> None:
        """Nothing to close."""


@dataclass
class ReplayTransport(_DualTransport):
    """Answers each request with the first unused interaction that has the same request."""

    cassette: Cassette
    _remaining: list[Interaction] = field(init=False)

    def __post_init__(self) -> None:
        self._remaining = list(self.cassette.interactions)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        request.read()
        return _make_response(self._take_match(request).response)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        await request.aread()
        return _make_response(self._take_match(request).response)

    def unused(self) -> tuple[Interaction, ...]:
        """Return the interactions that were not used."""
        return tuple(self._remaining)

    def _take_match(self, sent: httpx2.Request) -> Interaction:
        request = _make_interaction(sent, RecordedResponse(status=200)).request
        for index, interaction in enumerate(self._remaining):
            if interaction.request == request:
                return self._remaining.pop(index)
        raise UnexpectedRequest(_describe_mismatch(request, self._remaining))


def _describe_mismatch(request: RecordedRequest, remaining: list[Interaction]) -> str:
    if not remaining:
        return f"The cassette has no more requests, but this one was sent: {request.method} {request.path}."
    expected, actual = (_format_request(item) for item in (remaining[0].request, request))
    diff = "\n".join(difflib.unified_diff(expected, actual, "cassette", "request", lineterm="", n=2))
    return f"The request is not in the cassette. The difference to the next one in it:\n{diff}"


def _format_request(request: RecordedRequest) -> list[str]:
    body = json.dumps(request.body, indent=1, ensure_ascii=False, sort_keys=True)
    return [f"{request.method} {request.path}", *body.replace("\\n", "\n").splitlines()]


@dataclass
class RecordingTransport(_DualTransport):
    """Sends requests through the ``inner`` transports and records them with their responses."""

    inner: httpx2.BaseTransport | None = None
    async_inner: httpx2.AsyncBaseTransport | None = None
    interactions: list[Interaction] = field(default_factory=list[Interaction])
    media: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send and record a request."""
        request.read()
        self.inner = self.inner or httpx2.HTTPTransport()
        response = self.inner.handle_request(request)
        response.read()
        return self._record(request, response)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send and record a request."""
        await request.aread()
        self.async_inner = self.async_inner or httpx2.AsyncHTTPTransport()
        response = await self.async_inner.handle_async_request(request)
        await response.aread()
        return self._record(request, response)

    def close(self) -> None:
        """Close the inner transport."""
        if self.inner is not None:
            self.inner.close()

    async def aclose(self) -> None:
        """Close the inner transport."""
        if self.async_inner is not None:
            await self.async_inner.aclose()

    def _record(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        recorded = RecordedResponse(
            status=response.status_code,
            headers={name: value for name, value in response.headers.items() if name.lower() in _RECORDED_HEADERS},
            body=_parse_response_body(response),
        )
        self.interactions.append(_make_interaction(request, recorded, self.media))
        return _rebuild_response(response)

    def to_cassette(self, provenance: Provenance = Provenance.RECORDED, note: str = "") -> Cassette:
        """Return the recorded interactions as a cassette."""
        return Cassette(provenance=provenance, note=note, interactions=tuple(self.interactions), media=self.media)


def _make_interaction(
    request: httpx2.Request, response: RecordedResponse, media: dict[str, bytes] | None = None
) -> Interaction:
    """Return the redacted interaction. The media of the request are added to ``media``."""
    recorded, found = _make_recorded_request(request)
    if media is not None:
        media.update(found)
    return redact_interaction(
        Interaction(request=recorded, response=response),
        credential_fragments(find_request_credentials(request)),
    )


def _make_recorded_request(request: httpx2.Request) -> tuple[RecordedRequest, dict[str, bytes]]:
    parts = urlsplit(str(request.url))
    query = [(name, value) for name, value in parse_qsl(parts.query) if name.lower() in HARMLESS_QUERY]
    path = f"{parts.path}?{urlencode(query)}" if query else parts.path
    body, media = extract_media(_parse_body(request.content.decode("utf-8", "replace")))
    return RecordedRequest(method=request.method, path=path, body=body), media


def _parse_body(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text or None


def _parse_response_body(response: httpx2.Response) -> Json:
    """Return a response's body. Amazon's binary event stream is kept as the text of server-sent events."""
    if response.headers.get("content-type", "").startswith(EVENT_STREAM):
        return b"".join(as_server_sent_events([response.content])).decode()
    return _parse_body(response.text)


def _make_response(recorded: RecordedResponse) -> httpx2.Response:
    body = recorded.body
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body, ensure_ascii=False)
    content_type = "text/event-stream" if text.startswith(("data:", "event:")) else "application/json"
    headers = {"content-type": content_type, **recorded.headers}
    is_binary = headers["content-type"].startswith(EVENT_STREAM)
    return httpx2.Response(
        recorded.status, headers=headers, content=encode_event_stream(text) if is_binary else text.encode()
    )


def _rebuild_response(response: httpx2.Response) -> httpx2.Response:
    """Return an unread copy of a response that was read."""
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _FRAMING_HEADERS]
    return httpx2.Response(response.status_code, headers=headers, content=response.content)


_PLACEHOLDER_URL = "https://vendor.invalid"
"""Replaces a URL that only the environment has. Nothing is sent to it."""
_PLACEHOLDER_KEY = "no-key-is-needed-to-replay"


class _LiveTransport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Calls the vendor, through a proxy if the environment has one, and keeps no connection open."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        with httpx2.Client() as client:
            return client.send(request)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async with httpx2.AsyncClient() as client:
            return await client.send(request)


class ClientFactory(Protocol):
    """Creates a client of a vendor's own SDK that sends through the test's cassette."""

    def __call__(self, model: str, *, asynchronous: bool = False, base_url: str | None = None) -> Any:
        """Return the client for ``vendor/model``; ``base_url`` overrides the environment."""
        ...


@dataclass(eq=False)
class CassetteSession:
    """The cassette of a running test. ``failed`` is set if a subtest fails."""

    plan: CassettePlan
    transport: RecordingTransport | ReplayTransport
    failed: bool = False
    _clients: list[Any] = field(default_factory=list[Any])

    def http(self) -> httpx2.Client:
        """Return a client that is closed at the end of the test."""
        client = httpx2.Client(transport=self.transport)
        self._clients.append(client)
        return client

    def ahttp(self) -> httpx2.AsyncClient:
        """Return an asynchronous client. It has no connections, so nothing needs to close it."""
        return httpx2.AsyncClient(transport=self.transport)

    def client(self, model: str, *, asynchronous: bool, base_url: str | None) -> Any:
        """Return a client of the vendor's own SDK. Raises ``UnknownModel``, ``MissingExtra`` or ``MissingKey``."""
        profile, _ = find_profile(model)
        facts = profile.client
        replaying = isinstance(self.transport, ReplayTransport)
        if base_url is None and replaying and facts.base_url_required:
            is_root = facts.sdk is not Sdk.OPENAI or facts.flavour.startswith("Azure")
            base_url = _PLACEHOLDER_URL if is_root else f"{_PLACEHOLDER_URL}/v1"
        try:
            client: Any = create_client(
                profile,
                asynchronous=asynchronous,
                base_url=base_url,
                api_key=_PLACEHOLDER_KEY if replaying else None,
                http_client=self.ahttp() if asynchronous and not facts.is_blocking else self.http(),
            )
        except MissingKey as error:
            hint = f"{error.hint} To record from a simulated vendor, add the fixture emitter_vendor to the test."
            raise MissingKey(str(error.args[0]), hint=hint) from None
        self._clients.append(client)
        return getattr(client, "aio", client) if asynchronous and facts.sdk is Sdk.GOOGLE else client

    def close(self) -> None:
        """Close the sync clients."""
        for client in self._clients:
            if isinstance(client, httpx2.Client):
                client.close()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note failed subtests, which the test's own report leaves out."""
        self.failed = self.failed or report.failed

    def finish(self) -> str:
        """Write the recording, or return a message about unused interactions, if any."""
        if isinstance(self.transport, RecordingTransport):
            save_cassette(self.transport.to_cassette(note=f"recorded by {self.plan.test}"), self.plan.path)
            self.plan.recorded[self.plan.path] = self.plan.test
            return ""
        unused = self.transport.unused()
        if not unused or self.plan.allow_unused:
            return ""
        total = len(self.transport.cassette.interactions)
        requests = "".join(f"\n  {interaction.request.method} {interaction.request.path}" for interaction in unused)
        return (
            f"{len(unused)} of {total} interactions in {self.plan.path} were not used:{requests}\n"
            f"Record it again ({self.plan.command('all')}), or set emitter_cassette(allow_unused=True)."
        )


def open_cassette_session(plan: CassettePlan) -> CassetteSession:
    """Open the cassette of a plan. Raises ``BadCassette`` if there is nothing to replay."""
    if plan.recording:
        return CassetteSession(plan, RecordingTransport(inner=_LiveTransport(), async_inner=_LiveTransport()))
    if not plan.path.exists():
        raise BadCassette(
            f"There is no cassette {plan.path}.",
            hint=f"Record it, which calls the vendor: {plan.command('once')}",
        )
    return CassetteSession(plan, ReplayTransport(load_cassette(plan.path)))
