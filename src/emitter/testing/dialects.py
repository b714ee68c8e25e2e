"""The sentences in which servers refuse a request, as data: ``dialects.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class DialectKind(str, Enum):
    """The message of a dialect, which decides when a server sends it."""

    WINDOW = "window"
    """The prompt and the output budget exceed the limit together."""
    PROMPT = "prompt"
    """The prompt exceeds the limit."""
    OUTPUT = "output"
    """The output budget exceeds the limit."""
    RATE = "rate"
    """The prompt and the output budget exceed what a minute allows."""
    CREDIT = "credit"
    """The output budget exceeds what the account can pay for."""
    CUT = "cut"
    """The output budget, which is below the limit, was used up."""
    QUOTA = "quota"
    DAY = "day"
    BUSY = "busy"
    FILTER = "filter"
    MODE = "mode"
    """The request has an output mode."""
    STREAM = "stream"
    """The request does not ask for a stream."""
    SCHEMA = "schema"
    """The request has a schema."""
    MEDIA = "media"
    """The request's fault, whatever the status says."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of one server for one refusal.

    Attributes:
        source: Where the words are from.
        means: The value of the ``StopReason`` or ``FaultKind`` that they mean.
        status: The HTTP status.
        body: The body of the response, with ``$limit``, ``$below``, ``$prompt``, ``$budget`` and ``$total``.
        profile: The provider whose words they are, if it has a profile.
        figures: The number that stands for each figure, by the names of ``StatedLimits``.
    """

    name: str
    source: str
    kind: DialectKind
    means: str
    status: int
    body: str
    profile: str | None = None
    figures: Mapping[str, str] = field(default_factory=dict[str, str])

    def write_body(self, *, limit: int, prompt: int, budget: int) -> str:
        """Return the body of the response."""
        return Template(self.body).substitute(_numbers(limit, prompt, budget))

    def stated_figures(self, *, limit: int, prompt: int, budget: int) -> dict[str, int]:
        """Return the figures that a body with these numbers states."""
        numbers = _numbers(limit, prompt, budget)
        return {figure: numbers[number] for figure, number in self.figures.items()}


def _numbers(limit: int, prompt: int, budget: int) -> dict[str, int]:
    return {"limit": limit, "below": limit + 1, "prompt": prompt, "budget": budget, "total": prompt + budget}


@cache
def load_dialects() -> Mapping[str, Dialect]:
    """Return all dialects by name."""
    text = files("emitter.testing").joinpath("dialects.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["dialects"]
    return {row["name"]: Dialect(kind=DialectKind(row.pop("kind")), **row) for row in rows}
