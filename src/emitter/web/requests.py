"""Read the forms that decision pages send, and reject what another site sends. Needs the extra ``web``.

Sources: the Fetch standard (``Origin``), Fetch Metadata Request Headers (``Sec-Fetch-Site``), and the URL standard,
section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from emitter.decisions import MAX_ANSWER_LENGTH
from emitter.errors import BadResolution, BadToken, MissingExtra

if TYPE_CHECKING:
    from starlette.requests import Request

try:
    from starlette.requests import ClientDisconnect
except ImportError as error:
    raise MissingExtra("The local page needs starlette.", extra="web") from error
MAX_BODY_BYTES: Final = 128 * 1024
"""Bytes of a form: enough for the longest answer with every character escaped."""
_MAX_FIELDS: Final = 8
_FORM_TYPE: Final = "application/x-www-form-urlencoded"


class TooLarge(BadResolution):
    """The form is longer than any answer can be."""


class NotAForm(BadResolution):
    """The request's body is not a form of the page."""


def check_origin(request: Request, *origins: str) -> None:
    """Raise ``BadToken`` unless the browser says that the request comes from one of ``origins``."""
    sender, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if (sender, site) == (None, None) or sender not in {None, *origins} or site not in {None, "same-origin"}:
        raise BadToken("The answer comes from another site.", hint="Answer on the page itself.")


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of the submitted form; raise ``TooLarge``, or ``NotAForm`` for another body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
        raise NotAForm("The request is not a form of this page.")
    body = await _read_body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise NotAForm("The form cannot be read.") from None
    fields = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if len(fields) != len(pairs):
        raise NotAForm("The form holds a field twice.")
    return fields


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY_BYTES:
                raise TooLarge("The answer is too long.", hint=f"Write at most {MAX_ANSWER_LENGTH:,} characters.")
    except ClientDisconnect:
        raise NotAForm("The form was cut off.") from None
    return bytes(body)
