"""What recovery hands back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.wire import Json


class Path(str, Enum):
    """The step that read the document, in the closed vocabulary of OpenWOP (RFC 0033).

    The name tells what was wrong with the answer, not which code read it.
    """

    DIRECT = "direct"
    """The answer is strict JSON."""
    MARKDOWN_FENCE = "markdown-fence"
    """Strict JSON inside a Markdown code fence."""
    BRACE_WALKER = "brace-walker"
    """Strict JSON with something else around it: prose, a byte-order mark, a function call."""
    JSONREPAIR = "jsonrepair"
    """Broken syntax was repaired, by our own reader or by the json-repair package."""
    CUSTOM = "custom"
    """The same document more than once, or a document inside a JSON string."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The document, the step that read it and where in the answer's UTF-8 bytes it begins.

    ``doubtful`` tells that the words around it may take it back: ask again where you can.
    """

    value: Json
    path: Path
    byte_offset: int | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Several:
    """Two or more whole documents that differ: nobody can say which one is the answer."""

    count: int


@dataclass(frozen=True, slots=True)
class Retracted:
    """A document that the words around it refuse or take back."""
