"""What holds for every request and every response, whatever they are about.

Source: the HTML and Fetch standards for the headers; RFC 9110, section 15.5.20 (421, for a name that is not ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders

from emitter.render.html.document import OWN
from emitter.web.pages import misdirected

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = {
    "Content-Security-Policy": f"{OWN}; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: with it a browser sends a form with "Origin: null", and nothing could be told from that.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """Answers to ``authority`` alone, and puts ``HEADERS`` on every response."""

    app: ASGIApp
    authority: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on where it is for us."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        named = Headers(scope=scope).getlist("host") if scope["type"] == "http" else [self.authority]
        app = self.app if named == [self.authority] else misdirected()
        await app(scope, receive, guarded)
