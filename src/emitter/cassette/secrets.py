"""Keeping credentials out of a cassette: what a request carries that may be one, and striking it out.

Every header and query parameter counts as a credential unless its name is on a short list of harmless ones, so
that a vendor's new header is safe from the start. A credential is struck out wherever it stands, in each of its
usual encodings.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from emitter.cassette.file import Interaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from emitter.wire import Json

STRUCK = "[REDACTED:credential]"
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
_SHORTEST_BASE64 = 8


def credentials(request: httpx2.Request) -> Iterator[str]:
    """Yield what a request carries that may be a credential, longest first: whole values, and their parts."""
    values = [value for name, value in request.headers.multi_items() if not _HARMLESS_HEADERS.fullmatch(name)]
    values += [value for name, value in request.url.params.multi_items() if name.lower() not in HARMLESS_QUERY]
    found = {part for value in values for part in _parts(value)}
    yield from sorted((each for each in found if len(each) >= _SHORTEST), key=lambda each: (-len(each), each))


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


def strike(interaction: Interaction, found: tuple[str, ...]) -> Interaction:
    """Return the interaction with every credential in ``found`` struck out, wherever it stands."""
    if not found:
        return interaction
    struck = _struck(interaction.model_dump(mode="json"), _pattern(found))
    return Interaction.model_validate(struck)


def _struck(value: Json, pattern: re.Pattern[str]) -> Json:
    if isinstance(value, str):
        return pattern.sub(STRUCK, value)
    if isinstance(value, list):
        return [_struck(each, pattern) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {pattern.sub(STRUCK, name): _struck(each, pattern) for name, each in members.items()}
    if isinstance(value, int | float) and pattern.fullmatch(str(value)):
        return STRUCK
    return value


@lru_cache(maxsize=16)
def _pattern(found: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(form for each in found for form in _forms(each)))


def _forms(credential: str) -> Iterator[str]:
    """Yield patterns of a credential: character by character, in hexadecimal digits, and in base64."""
    yield "".join(map(_character, credential))
    data = credential.encode()
    yield f"(?i:{data.hex()})"
    for shift in range(3):
        core = _base64_core(data, shift)
        if len(core) >= _SHORTEST_BASE64:
            yield "".join({"+": r"(?:[+-]|%2[Bb])", "/": r"(?:\\*/|_|%2[Ff])"}.get(each, each) for each in core) + "=*"


def _base64_core(data: bytes, shift: int) -> str:
    """Return the part of the base64 that is the same whatever stands before, at this distance, and behind."""
    whole = (shift + len(data)) * 8 // 6
    return base64.b64encode(b"\0" * shift + data).decode()[-(-shift * 8 // 6) : whole]


def _character(each: str) -> str:
    """Return the pattern of one character: as it is, or escaped in JSON, in a URL or in HTML, any number of times."""
    forms = [r"\\*" + re.escape(each), f"(?i:{''.join(f'%(?:25)*{byte:02x}' for byte in each.encode())})"]
    forms += [rf"(?i:\\+u{ord(each):04x})"] if ord(each) <= 0xFFFF else []  # noqa: PLR2004  JSON's \uXXXX
    forms += [f"&#0*{ord(each)};", f"(?i:&#x0*{ord(each):x};)"]
    forms += {"&": ["&amp;"], "<": ["&lt;"], ">": ["&gt;"], '"': ["&quot;"], " ": [r"\+"]}.get(each, [])
    return f"(?:{'|'.join(forms)})"
