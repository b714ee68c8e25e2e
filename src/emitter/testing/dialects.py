"""The sentences in which servers refuse a request, as data: ``dialects.toml``, and a server that says them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError
from emitter.messages import OutputMode
from emitter.testing.behaviours import DECODED, find_output_mode
from emitter.testing.plans import RawResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing.plans import Behaviour, PlannedOutcome, ReceivedRequest


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


_SCHEMA_MODES = frozenset({OutputMode.JSON_SCHEMA, OutputMode.TOOL})
"""The modes that a server without structured output refuses."""


@dataclass(frozen=True, slots=True)
class VendorWords:
    """A server that refuses what it cannot serve, in the words of a ``dialect``. ``answer`` follows otherwise.

    Attributes:
        dialect: The name of a dialect in ``dialects.toml``, such as ``"vllm-window"``.
        limit: The limit of the window, the output, the rate or the credit in tokens, or the budget that is enough.
        prompt_tokens: The tokens of the prompt. By default they are counted.
    """

    dialect: str
    limit: int = 4096
    prompt_tokens: int | None = None
    answer: Behaviour = DECODED

    def __post_init__(self) -> None:
        if self.dialect not in load_dialects():
            hint = f"Choose one of {', '.join(load_dialects())}."
            raise InputError(f"There is no dialect {self.dialect!r}.", hint=hint)

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the refusal, or the answer."""
        dialect, budget = load_dialects()[self.dialect], request.budget or 0
        prompt = request.input_tokens if self.prompt_tokens is None else self.prompt_tokens
        if not _is_refused(dialect.kind, request, self.limit, (prompt, budget)):
            return self.answer.plan(request)
        body = dialect.write_body(limit=self.limit, prompt=prompt, budget=budget)
        return RawResponse(body.encode(), "application/json", dialect.status)


def _is_refused(kind: DialectKind, request: ReceivedRequest, limit: int, tokens: tuple[int, int]) -> bool:
    """Return whether a server refuses a request with these tokens of prompt and output budget."""
    prompt, budget = tokens
    conditions = {
        DialectKind.WINDOW: prompt + budget > limit,
        DialectKind.RATE: prompt + budget > limit,
        DialectKind.PROMPT: prompt > limit,
        DialectKind.OUTPUT: budget > limit,
        DialectKind.CREDIT: budget > limit,
        DialectKind.CUT: budget < limit,
        DialectKind.MODE: find_output_mode(request) in _SCHEMA_MODES,
        DialectKind.SCHEMA: find_output_mode(request) in _SCHEMA_MODES,
        DialectKind.STREAM: not request.streamed,
    }
    return conditions.get(kind, True)
