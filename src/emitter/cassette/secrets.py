"""Keeping credentials out of a cassette: striking out what ``adapters.credentials`` found in a request.

A credential is struck out wherever it stands, in each of its usual encodings.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from emitter.cassette.file import Interaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json

STRUCK = "[REDACTED:credential]"
_SHORTEST_BASE64 = 8


def strike(interaction: Interaction, found: tuple[str, ...]) -> Interaction:
    """Return the interaction with every credential in ``found`` struck out, wherever it stands."""
    if not found:
        return interaction
    struck = _redact(interaction.model_dump(mode="json"), _pattern(found))
    return Interaction.model_validate(struck)


def _redact(value: Json, pattern: re.Pattern[str]) -> Json:
    if isinstance(value, str):
        return pattern.sub(STRUCK, value)
    if isinstance(value, list):
        return [_redact(each, pattern) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {pattern.sub(STRUCK, name): _redact(each, pattern) for name, each in members.items()}
    if isinstance(value, int | float) and pattern.fullmatch(str(value)):
        return STRUCK
    return value


@lru_cache(maxsize=16)
def _pattern(found: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(form for each in found for form in _patterns_of(each)))


def _patterns_of(credential: str) -> Iterator[str]:
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
