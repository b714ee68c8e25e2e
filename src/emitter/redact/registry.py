"""The registry of secrets, and what takes them out of a text, a JSON value or an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from emitter.errors import InputError
from emitter.redact import blame, listed
from emitter.redact.finder import Finder
from emitter.redact.spans import Redacted, apart, marker, markers_in, outside, replaced
from emitter.redact.walk import joined, rewritten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.redact.spans import Span
    from emitter.wire import Json

_PASSES = 8
"""How often a text is looked through: what is left of it may, beside a marker, read as another secret."""

_NOTHING = Finder(())


@final
@dataclass(frozen=True, slots=True)
class Secrets:
    """Values that are never told, each under an id; ``Secrets.of`` builds it, and it is true where it holds any.

    Threads may share it. It shows its ids and never a value, a copy of it shares its values, and it cannot be pickled.
    """

    ids: tuple[str, ...] = field(default=(), init=False)
    _finder: Finder = field(default=_NOTHING, init=False, repr=False)

    @staticmethod
    def of(registry: Mapping[str, str | Iterable[str]]) -> Secrets:
        """Return the registry of a mapping from ids to a value or several values.

        White space around a value is no part of it: a file's last line break would hide the secret from the search.
        Raises ``InputError``, and never shows a value, for an id that cannot stand in a marker, or whose marker would
        show a value, and for a value that is no text, has fewer than 4 characters, or is a part of every marker.
        """
        ids = listed.names(registry)
        values = list(listed.values(registry))
        secrets = Secrets()
        object.__setattr__(secrets, "ids", ids)
        sound = [(at, each) for at, each in values if isinstance(each, str) and not listed.flaw(each)]
        object.__setattr__(secrets, "_finder", Finder(sound))
        for number, name in enumerate(ids, 1):
            if secrets._finder.finds(marker(name).encode()):
                raise InputError(
                    f"The marker of secret number {number} would show the value of a secret.",
                    hint="Choose an id that says what the secret is for.",
                )
        for at, value in values:
            if (flaw := listed.flaw(value)) is not None:
                raise InputError(f"A value of secret number {at + 1} {flaw}.", hint=listed.HINT)
        return secrets

    def __bool__(self) -> bool:
        return bool(self.ids)

    def finds(self, text: str) -> bool:
        """Tell whether a text shows a secret, in whatever form."""
        data = _encoded(text)
        return not self._finder.clear(data) and bool(self._spans(data))

    def text(self, text: str) -> Redacted[str]:
        """Return a text with ``[REDACTED:<id>]`` in the place of each secret, and the text itself where there is none.

        Secrets that overlap become one marker, of the one that begins first, or of the longest. Markers of this
        registry stay as they are.
        """
        data = _encoded(text)
        if self._finder.clear(data):
            return Redacted(text, 0)
        count = 0
        for _ in range(_PASSES):
            spans = self._spans(data)
            if not spans:
                return Redacted(_decoded(data) if count else text, count)
            data = replaced(data, spans, self.ids)
            count += len(spans)
        return Redacted(marker(self.ids[0]), count)

    def json(self, value: Json) -> Redacted[Json]:
        """Return a JSON value with every string redacted, keys included, and the value itself where nothing was found.

        The value is not changed. Keys that are redacted alike stay apart: the second ends in ``~2``. Tuples count as
        arrays and stay tuples, and any mapping counts as an object. Numbers are left as they are. Raises
        ``InputError`` for what is no JSON.
        """
        if not self:
            return Redacted(value, 0)
        text, containers = joined(value)
        if not self._finder.finds(_encoded(text)):
            return Redacted(value, 0)
        told = rewritten(value, self.text, containers)
        return told if told.count else Redacted(value, 0)

    def error(self, error: BaseException) -> str:
        """Return what an exception says, its notes, and those that it came of, a line each, redacted."""
        return self.text(blame.told(error)).value

    def _spans(self, data: bytes) -> list[Span]:
        """Return where markers have to go, in order."""
        spans = self._finder.spans(data)
        return apart(outside(spans, markers_in(data, self.ids))) if spans else spans


NO_SECRETS = Secrets()
"""A registry that holds nothing, and changes nothing."""


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
