"""Which parts of a request may be credentials.

Every header and query parameter counts as a credential unless its name is on a short list of harmless ones, so
that a vendor's new header is safe from the start. The rule serves cassettes and errors: neither may show what a
vendor repeats of a request's credentials.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import httpx2

HARMLESS_QUERY = frozenset({"alt", "api-version", "beta", "limit", "after", "order", "pagesize", "pagetoken"})
_HARMLESS_HEADERS = re.compile(
    r"accept(-encoding|-language|-charset)?|connection|content-(encoding|length|type)|date|expect|host|keep-alive|te"
    r"|transfer-encoding|user-agent|anthropic-(beta|version|dangerous-direct-browser-access)|openai-beta"
    r"|idempotency-key|x-goog-api-client|x-server-timeout|x-stainless-.*",
    re.IGNORECASE,
)
_SHORTEST = 6
_SEPARATORS = re.compile(r"[\s;,=:]+")
_LONG_PART = 16
"""So long must a part between slashes be to count by itself: shorter ones are regions and names of services."""


def of_request(request: httpx2.Request) -> tuple[str, ...]:
    """Return the values of a request that may be credentials, whole."""
    url = request.url
    query = url.params.multi_items() if url.query else ()
    values = _values(request.headers.multi_items(), query)
    return (*values, url.password) if url.password else values


def of_error(error: BaseException | None) -> tuple[str, ...]:
    """Return what ``of_request`` does for the request that an exception, or one that it came of, was raised for."""
    while error is not None:
        for holder in (error, getattr(error, "response", None)):
            try:
                request: Any = getattr(holder, "request", None)
            except RuntimeError:  # httpx2's, where it was not set
                continue
            if hasattr(request, "headers") and hasattr(request, "url"):
                return of_request(request)
        error = error.__cause__
    return ()


def of_client(client: object) -> tuple[str, ...]:
    """Return the values that a vendor's client sends with every request and that may be credentials, whole.

    Sources: ``api_key``, ``default_headers`` and ``default_query`` of openai 3.52.0 and anthropic 2.11.0
    (``_base_client.py``), ``_api_client`` of google-genai 3.4.0 (``_api_client.py``).
    """
    raw: Any = client
    api = getattr(raw, "_api_client", None)
    headers = _members(getattr(raw, "default_headers", None))
    headers += _members(getattr(getattr(api, "_http_options", None), "headers", None))
    query = _members(getattr(raw, "default_query", None))
    named = [(name, getattr(holder, name, None)) for holder in (raw, api) for name in ("api_key", "auth_token")]
    return _values([*headers, *((name, each) for name, each in named if isinstance(each, str))], query)


def _members(held: object) -> list[tuple[str, str]]:
    members = cast("Mapping[str, object]", held).items() if isinstance(held, Mapping) else ()
    return [(name, value) for name, value in members if isinstance(value, str)]


def _values(headers: Iterable[tuple[str, str]], query: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    found = [value for name, value in headers if not _is_harmless(name)]
    found += [value for name, value in query if name.lower() not in HARMLESS_QUERY]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=256)
def _is_harmless(header: str) -> bool:
    return _HARMLESS_HEADERS.fullmatch(header) is not None


def searched(values: Iterable[str]) -> tuple[str, ...]:
    """Return the texts to look for, longest first: whole values, and their parts."""
    found = {part for value in values for part in _parts(value)}
    return tuple(sorted((each for each in found if len(each) >= _SHORTEST), key=lambda each: (-len(each), each)))


def _parts(value: str) -> Iterator[str]:
    """Yield a value, and what it is put together from: ``Bearer`` and a token, or a name and a password in base64."""
    yield value
    scheme, _, rest = value.strip().partition(" ")
    if rest and scheme.isalpha():  # "Bearer" itself is no secret
        yield from _parts(rest.strip())
        return
    decoded = _decoded(value)
    for text in (value, decoded):
        yield text
        for part in _SEPARATORS.split(text):
            yield part
            yield from (each for each in part.split("/") if len(each) >= _LONG_PART)


def _decoded(value: str) -> str:
    """Return what a value is in base64, where it is text at all."""
    standard = value.replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True).decode()
    except ValueError:
        return ""
    return text if text.isprintable() else ""
