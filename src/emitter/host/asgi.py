"""An ASGI application that serves a host's capability document and the schema of each kind.

All documents are public and built once, when the application is created. Requires the extra ``asgi``.

Source: ai-envelope.md, "Canonical schema location"; capabilities.md, "Endpoint";
capabilities-change-detection.md.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, cast

from emitter.errors import InputError, MissingExtra
from emitter.host.kinds import get_schema_path
from emitter.host.outcomes import HttpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from emitter.host.kinds import KindRegistry
    from emitter.messages import Json

try:
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("Starlette is not installed.", extra="asgi") from error
DISCOVERY_PATH: Final = "/.well-known/openwop"
"""OpenWOP's path of a host's capability document."""
CACHE_CONTROL: Final = "public, max-age=300"
_PUBLIC_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Capabilities-Etag",
    "X-Content-Type-Options": "nosniff",
}
_HTTP_ERRORS = {
    404: HttpError("not_found", "Nothing is served here."),
    405: HttpError("method_not_allowed", "Use GET."),
}


def create_discovery_app(
    registry: KindRegistry, capabilities: Mapping[str, Json], *, base_url: str, path: str = DISCOVERY_PATH
) -> Starlette:
    """Return an application that serves each kind's schema and the capability document.

    The documents are built once; build another application when the host changes. To mount it in your own application,
    note that its paths are below the mount.

    Args:
        registry: The kinds to serve.
        capabilities: The capability document.
        base_url: The host's public URL, such as ``https://host.example``. It is part of the schemas' ids; the
            ``Host`` header of requests is ignored.
        path: The path of the capability document.

    Raises:
        InputError: ``base_url`` or ``path`` is invalid, or a document is not JSON.
    """
    if not path.startswith("/") or "{" in path:
        raise InputError(f"path is {path!r}; it must start with / and contain no braces.")
    routes = [
        Route(
            get_schema_path(name),
            _StaticDocument(name, kind.build_document(base_url), "application/schema+json").respond,
        )
        for name, kind in registry.items()
    ]
    discovery = _StaticDocument("capabilities", capabilities, "application/json")
    discovery.headers["Capabilities-Etag"] = discovery.headers["ETag"]
    routes.append(Route(path, discovery.respond))
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(_HTTP_ERRORS, _handle_http_error))
    app.router.redirect_slashes = False
    return app


class _StaticDocument:
    """A document as bytes, with its headers."""

    def __init__(self, name: str, document: Mapping[str, Json], media_type: str) -> None:
        """Serialize the document; raise ``InputError`` if it is not JSON."""
        try:
            self._body = json.dumps(dict(document), ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"The document {name} is not JSON.") from error
        self._media_type = media_type
        validator = f'"{hashlib.sha256(self._body).hexdigest()[:32]}"'
        self.headers = {**_PUBLIC_HEADERS, "Cache-Control": CACHE_CONTROL, "ETag": validator}

    async def respond(self, request: Request) -> Response:
        """Answer GET and HEAD, with 304 if the client has the document. The server drops the body of HEAD."""
        if _is_cached(request, self.headers["ETag"]):
            return Response(status_code=304, headers=self.headers)
        return Response(self._body, headers=self.headers, media_type=self._media_type)


def _is_cached(request: Request, validator: str) -> bool:
    """Return whether the client has these bytes (RFC 9110, section 13.1.2: weak comparison of validators)."""
    header = ",".join(request.headers.getlist("if-none-match"))
    return header.strip() == "*" or validator in {tag.strip().removeprefix("W/") for tag in header.split(",")}


async def _handle_http_error(_request: Request, error: Exception) -> Response:
    """Return OpenWOP's error document, which repeats nothing of the request."""
    http_error = cast("HTTPException", error)
    body = json.dumps(_HTTP_ERRORS[http_error.status_code].to_json())
    headers = {**_PUBLIC_HEADERS, **(http_error.headers or {}), "Cache-Control": "no-store"}
    return Response(body, http_error.status_code, headers, "application/json")
