"""Read the document of an answer that is strict JSON. ``strategies`` reads every other answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, cast

from emitter.strict_json import NotJsonError, parse_json, unescape_string

if TYPE_CHECKING:
    from emitter.messages import Json

MAX_STRING_LAYERS: Final = 3
"""The number of JSON strings in which a document may be wrapped."""


class RecoveryPath(str, Enum):
    """The strategy that read the document, in OpenWOP's vocabulary (RFC 0033)."""

    DIRECT = "direct"
    """The answer is strict JSON."""
    MARKDOWN_FENCE = "markdown-fence"
    """Strict JSON inside a Markdown code fence."""
    BRACE_WALKER = "brace-walker"
    """Strict JSON surrounded by something else: prose, a byte order mark or a function call."""
    JSONREPAIR = "jsonrepair"
    """Broken syntax was repaired, by the lenient parser or by json-repair."""
    CUSTOM = "custom"
    """The same document more than once, or a document inside a JSON string."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """A recovered document.

    Attributes:
        value: The document.
        path: The strategy that read it.
        byte_offset: Its start in the answer's UTF-8 bytes.
        doubtful: The surrounding text says more than a lead-in, and may retract it. Ask again if you can.
    """

    value: Json
    path: RecoveryPath
    byte_offset: int | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several different documents, none of which is certainly the answer."""

    count: int


@dataclass(frozen=True, slots=True)
class Retracted:
    """A document that the surrounding text refuses or retracts."""


def parse_strict(text: str) -> Recovered | None:
    """Parse an answer that is strict JSON."""
    try:
        value = parse_json(text)
    except NotJsonError:
        return None
    inner = _unwrap_strings(value)
    path = RecoveryPath.DIRECT if inner is None else RecoveryPath.CUSTOM
    offset = byte_offset(text, document_start(text)) if text[0].isspace() else 0
    return Recovered(value if inner is None else inner, path, offset)


def _unwrap_strings(value: Json) -> Json | None:
    """Return the object or array inside a JSON string, or None."""
    layers = 0
    while isinstance(value, str) and layers < MAX_STRING_LAYERS:
        layers += 1
        try:
            value = parse_json(value)
        except NotJsonError:
            return None
    return cast("Json", value) if layers and isinstance(value, dict | list) else None


def parse_escaped(text: str) -> Recovered | None:
    r"""Parse a document that was escaped as if for a string, but has no quotes around it: ``{\"a\": 1}``."""
    if '\\"' not in text or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = _unwrap_strings(unescape_string(text))
    except ValueError:
        return None
    return None if value is None else Recovered(value, RecoveryPath.CUSTOM, byte_offset(text, document_start(text)))


def document_start(text: str) -> int:
    """Return the position of the first character that is not white space."""
    return len(text) - len(text.lstrip())


def byte_offset(text: str, start: int) -> int:
    """Return the number of UTF-8 bytes before ``start``; a lone surrogate counts as three."""
    return len(text[:start].encode("utf-8", "surrogatepass"))
