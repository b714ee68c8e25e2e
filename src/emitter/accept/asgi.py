"""An ASGI application that serves what a host says of itself: its capability document, and the schema of each kind.

Source: ai-envelope.md, "Canonical schema location"; capabilities.md, "Endpoint"; capabilities-change-detection.md.
Everything is public and made once, so serving is a look-up: there is nothing in it to authorise, and nothing that a
request can change. Needs the extra ``asgi``.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, cast

from emitter.accept.catalogue import path_of
from emitter.accept.outcome import HttpError
from emitter.errors import InputError, MissingExtra

try:
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("Serving needs starlette.", hint="Run: pip install 'emitter[asgi]'") from error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from emitter.accept.catalogue import Catalogue
    from emitter.wire import Json

DISCOVERY_PATH: Final = "/.well-known/openwop"
"""Where OpenWOP looks for a host's capability document."""

CACHE_CONTROL: Final = "public, max-age=300"

_PUBLIC = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Capabilities-Etag",
    "X-Content-Type-Options": "nosniff",
}
_ERRORS = {404: HttpError("not_found", "Nothing is served here."), 405: HttpError("method_not_allowed", "Use GET.")}


def discovery_app(
    catalogue: Catalogue, capabilities: Mapping[str, Json], *, base_url: str, path: str = DISCOVERY_PATH
) -> Starlette:
    """Return an application that serves each kind's schema and, at ``path``, the capability document.

    ``base_url`` is the host's public address, such as ``https://host.example``: schemas name themselves by it, and
    the ``Host`` header of a request is believed in nothing. What is served is what ``catalogue`` and
    ``capabilities`` are now; a host that changes builds another application. It may be mounted in a host's own:
    paths are below the mount. Raises ``InputError`` for what is no address, no path or no JSON.
    """
    if not path.startswith("/") or "{" in path:
        raise InputError(f"path is {path!r}; it must start with / and hold no braces.")
    routes = [
        Route(path_of(name), _Served(name, kind.document(base_url), "application/schema+json").respond)
        for name, kind in catalogue.items()
    ]
    about = _Served("capabilities", capabilities, "application/json")
    about.headers["Capabilities-Etag"] = about.headers["ETag"]
    routes.append(Route(path, about.respond))
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(_ERRORS, _refused))
    app.router.redirect_slashes = False
    return app


class _Served:
    """A document as the bytes that are sent."""

    def __init__(self, name: str, document: Mapping[str, Json], media_type: str) -> None:
        """Write the document; raises ``InputError`` where it is no JSON."""
        try:
            self._body = json.dumps(dict(document), ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"The document {name} is no JSON.") from error
        self._media_type = media_type
        validator = f'"{hashlib.sha256(self._body).hexdigest()[:32]}"'
        self.headers = {**_PUBLIC, "Cache-Control": CACHE_CONTROL, "ETag": validator}

    async def respond(self, request: Request) -> Response:
        """Answer GET and HEAD (whose body the server leaves out): with the bytes, or that the client has them."""
        if _has(request, self.headers["ETag"]):
            return Response(status_code=304, headers=self.headers)
        return Response(self._body, headers=self.headers, media_type=self._media_type)


def _has(request: Request, validator: str) -> bool:
    """Tell whether the client has these bytes already (RFC 9110, section 13.1.2: validators are compared weakly)."""
    known = ",".join(request.headers.getlist("if-none-match"))
    return known.strip() == "*" or validator in {each.strip().removeprefix("W/") for each in known.split(",")}


async def _refused(_request: Request, error: Exception) -> Response:
    """Answer with OpenWOP's one error document of HTTP, which repeats nothing of the request."""
    told = cast("HTTPException", error)
    body = json.dumps(_ERRORS[told.status_code].to_json())
    headers = {**_PUBLIC, **(told.headers or {}), "Cache-Control": "no-store"}
    return Response(body, told.status_code, headers, "application/json")
