"""A binding moment as Markdown, for CommonMark and GitHub's dialect of it; answered by a typed line.

The model's text is text: what could be markup is escaped, and a word of which a host would make a link, a mention, a
reference, an emoji or a formula stands as code, since hosts look for those after escapes are resolved.

Sources: draft-morrison-binding-moment-envelope-00, section 8.1; CommonMark 0.31.2, sections 2.4 and 6.1; GitHub
Flavored Markdown 0.29, section 6.9.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.render.layout import layout
from emitter.render.typed import may_type, typed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Choice, Layout
    from emitter.wire import Json

_MARKUP = re.compile(r"([!#$&()*+\-./:<=>@\[\\\]^_`{|}~])")
_LINKED = re.compile(r"[@#$]|//|:[\w+-]+:|\bGH-|\w\.\w\w|\b[0-9a-f]{7,}\b", re.IGNORECASE)
"""Links and addresses, mentions, references to issues and commits, emoji by name, formulas."""


@dataclass(frozen=True, slots=True)
class Markdown:
    """The Markdown surface."""

    name: str = "markdown"

    def draw(self, moment: BindingMoment) -> str:
        """Return the decision as Markdown."""
        return "\n\n".join((*_blocks(layout(moment)), may_type(moment)))

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return what a typed reply says; raises ``ResolutionError``, and what it says names what can be typed."""
        return typed(moment, reply)


RENDERER = Markdown()


def escaped(text: str) -> str:
    """Return a line as Markdown that shows it, and does nothing else."""
    return " ".join(map(_word, text.split()))


def _word(word: str) -> str:
    return _code(word) if _LINKED.search(word) else _MARKUP.sub(r"\\\1", word)


def _code(word: str) -> str:
    fence = "`" * (1 + max(map(len, re.findall("`+", word)), default=0))
    space = " " if word.startswith("`") or word.endswith("`") else ""
    return f"{fence}{space}{word}{space}{fence}"


def _blocks(shown: Layout) -> Iterator[str]:
    if shown.note is not None:
        yield f"*A note first:* {escaped(shown.note)}"
    yield escaped(shown.synopsis)
    yield "**What it rests on**"
    yield _list(shown.findings)
    yield "**What to do**"
    yield _list(shown.recommendations)
    yield escaped(shown.offer)
    yield f"**The question:** {escaped(shown.stem)}"
    yield from map(_option, shown.choices)
    yield "\n".join(f"- **{each.key}** {each.label}" for each in shown.hatches)


def _list(texts: tuple[str, ...]) -> str:
    return "\n".join(f"- {escaped(each)}" for each in texts)


def _option(choice: Choice) -> str:
    mark = "" if choice.mark is None else f"**({choice.mark})**"
    warning = "" if choice.caution is None else f"**{choice.caution}**"
    told = " ".join(filter(None, (f"{choice.key}.", escaped(choice.label), mark, warning)))
    return f"{told}\n\n   {escaped(choice.reasoning)}"
