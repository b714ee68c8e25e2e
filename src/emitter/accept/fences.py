"""Code fences of a Markdown text (CommonMark 4.5), read as models write them.

More is taken than CommonMark takes: a fence may be indented as far as it likes, as in a list, and a document may
share a line with its fence. A fence that is never closed is told as such.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|[\r\n]|\Z)")
_OPENING = re.compile(r"[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w+.-]*+)(?P<rest>[^\r\n]*+)")
_INLINE = re.compile(r"[ \t]*+[\[{][ \t]*+[\"{]")


@dataclass(frozen=True, slots=True)
class Block:
    """What a fence encloses: ``content`` begins at the character ``start`` of the text."""

    language: str
    content: str
    start: int
    closed: bool


@dataclass(frozen=True, slots=True)
class _Open:
    """A fence that was opened; ``lenient`` where it may be closed behind a document, on the same line."""

    mark: str
    language: str
    start: int
    lenient: bool

    def closed(self, line: str) -> int | None:
        """Return how many characters of the line stand before the closing fence, if that is there."""
        bare = line.rstrip()
        before = bare.rstrip(self.mark[0])
        if len(bare) - len(before) < len(self.mark) or not (self.lenient or not before.strip()):
            return None
        return len(before)


def blocks(text: str, languages: frozenset[str]) -> Iterator[Block]:
    """Yield the fenced blocks of ``text``, from top to bottom; those of ``languages`` are read leniently.

    What stands within a block is its content, fences included.
    """
    fence: _Open | None = None
    for line in _LINE.finditer(text):
        begin = line.start()
        if fence is None:
            fence = _opened(line, languages)
            if fence is None or fence.start == line.end():
                continue
            begin = fence.start
        end = fence.closed(text[begin : line.end()])
        if end is not None:
            yield Block(fence.language, text[fence.start : begin + end], fence.start, closed=True)
            fence = None
    if fence is not None:
        yield Block(fence.language, text[fence.start :], fence.start, closed=False)


def _opened(line: re.Match[str], languages: frozenset[str]) -> _Open | None:
    """Return the fence that a line opens, if it opens one."""
    found = _OPENING.match(line[0])
    if found is None:
        return None
    mark, language, rest = found["fence"], found["language"].lower(), found["rest"]
    lenient = language in languages
    if lenient and _INLINE.match(rest):
        return _Open(mark, language, line.start() + found.start("rest"), lenient)
    # between backticks on one line is code within the prose
    return None if "`" in rest and mark.startswith("`") else _Open(mark, language, line.end(), lenient)
