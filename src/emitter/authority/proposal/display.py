"""What a person is shown before they approve a call.

Source: draft-hardt-aauth-r3-02, sections 7.1 and 10.1. ``detail`` is rendered as Markdown, the others as plain
language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.decide.blank import is_blank
from emitter.errors import InputError
from emitter.render.line import line
from emitter.render.safe import clusters
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.wire import Json

_NAMES: Final = ("summary", "implications", "data_accessed", "irreversible", "detail")
_TAB: Final = 4


@dataclass(frozen=True, slots=True)
class Display:
    """What the resource says of a call, in its own words.

    ``summary`` is one line for a consent screen. ``implications``, ``data_accessed`` and ``irreversible`` are plain
    language. ``detail`` is Markdown; where it is None a proposal makes it from the call, and where it is empty a
    proposal has none. What ``detail`` says in words of others is first made text by
    ``emitter.render.markdown.escaped``.
    """

    summary: str
    implications: str | None = None
    data_accessed: str | None = None
    irreversible: str | None = None
    detail: str | None = None

    @classmethod
    def of_json(cls, given: Json) -> Display | None:
        """Return what a document's ``display`` says, as it stands there; None where it has none."""
        said = mapping(given)
        rest = {name: said.get(name) for name in _NAMES[1:]}
        return cls(said["summary"], **rest) if said else None

    def to_json(self) -> dict[str, Json]:
        """Return the document's ``display``: nothing in it drives a terminal, turns a text around, or cannot be seen.

        Raises ``InputError`` for what is no text, and for a summary in which nothing can be seen.
        """
        more = {name: _safe(each) for name in _NAMES[1:] if (each := getattr(self, name)) not in {None, ""}}
        return {"summary": _summary(self.summary), **more}


def _summary(given: object) -> str:
    if not isinstance(given, str) or is_blank(given):
        raise InputError("A display needs a summary.", hint="Say in one line what the call does.")
    return line(given)


def _safe(given: object) -> str:
    """Return a text in its lines, each unsafe character replaced."""
    if not isinstance(given, str):
        raise InputError("A display is of texts.")
    return "\n".join("".join(clusters(row.expandtabs(_TAB))) for row in given.splitlines())
