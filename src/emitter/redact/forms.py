"""The forms in which a value is looked for: as it is, and as what of it is always the same in base64."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.redact.readings import readings

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE64 = frozenset(bytes([each]) for each in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
"""The characters of both alphabets."""

_URLSAFE = bytes.maketrans(b"+/", b"-_")


@dataclass(frozen=True, slots=True)
class Form:
    """Bytes to look for; ``before`` and ``after`` say that the character beside them holds some bits of the value."""

    data: bytes = field(repr=False)
    before: bool = False
    after: bool = False


def forms_of(value: str) -> Iterator[Form]:
    """Yield the forms of a value, of which the first is the value itself.

    A value that looks like an escape reads as something else where it was escaped once more in another way.
    """
    data = value.encode()
    yield from (Form(each.data) for each in readings(data))
    for skipped in range(3):
        yield from _base64(data, skipped)


def _base64(data: bytes, skipped: int) -> Iterator[Form]:
    """Yield what ``data`` is in base64 behind some bytes, of which only the number modulo 3 matters.

    A character holds 6 bits. Those at the ends are shared with what stands beside the data, and are left out.
    """
    behind = skipped + len(data)
    own = b64encode(bytes(skipped) + data)[-(-skipped * 8 // 6) : behind * 8 // 6]
    for each in dict.fromkeys((own, own.translate(_URLSAFE))):
        yield Form(each, before=skipped > 0, after=behind % 3 > 0)
