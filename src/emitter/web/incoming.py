"""What a browser sends, read with limits: a form of a few fields, from our own page, and nothing else.

Source: the Fetch standard (``Origin``), Fetch Metadata Request Headers (``Sec-Fetch-Site``), and the URL standard,
section 5 (urlencoded parsing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect

from emitter.decide import MAX_ANSWER
from emitter.errors import BadResolution, BadToken

if TYPE_CHECKING:
    from starlette.requests import Request

LONGEST_BODY: Final = 128 * 1024
"""Bytes of a form: room for the longest answer, every character of it escaped."""

_MOST_FIELDS: Final = 8
_FORM: Final = "application/x-www-form-urlencoded"


class TooLarge(BadResolution):
    """The form is longer than any answer can be."""


class NotAForm(BadResolution):
    """What was sent is not in the form that the page sends."""


def own_origin(request: Request, origin: str) -> None:
    """Raise ``BadToken`` unless the browser says that the request comes from ``origin``, which is ours."""
    said = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if said == (None, None) or said[0] not in {None, origin} or said[1] not in {None, "same-origin"}:
        raise BadToken("The answer comes from another site.", hint="Answer on the page itself.")


async def fields(request: Request) -> dict[str, str]:
    """Return the fields of the form that was sent; raises ``TooLarge`` or ``NotAForm``."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise NotAForm("What was sent is no form of this page.")
    body = await _body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        raise NotAForm("What was sent cannot be read as a form.") from None
    found = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if len(found) != len(pairs):
        raise NotAForm("A field was sent twice.")
    return found


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LONGEST_BODY:
                raise TooLarge("The answer is too long.", hint=f"Write one of at most {MAX_ANSWER:,} characters.")
    except ClientDisconnect:
        raise NotAForm("What was sent broke off.") from None
    return bytes(body)
