"""What an emission may spend: calls, tokens, money and time. Set by the caller, checked when it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.wire import Usage

_MILLION = 1_000_000
DEFAULT_MAX_RESPONSE_BYTES = 32 << 20
"""32 MiB. A streamed answer has 6 to 150 bytes a token (326 at most, in recorded traffic), so this is room for
128,000 tokens, the largest output of most models, even at 262 bytes a token."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in a currency of the caller's own.

    ``cache_read`` and ``cache_write`` are those of the parts of the input that a vendor bills apart; the price of
    ``input`` where None.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            price = getattr(self, each.name)
            _numeric("Prices", each.name, price)
            if price is not None and not 0 <= price < math.inf:
                raise InputError(f"Prices.{each.name} is {price!r}; it must be 0 or more.")

    def of(self, usage: Usage) -> float:
        """Return what ``usage`` costs."""
        read = self.input if self.cache_read is None else self.cache_read
        written = self.input if self.cache_write is None else self.cache_write
        plain = usage.input - usage.cache_read - usage.cache_write
        parts = (plain * self.input, usage.cache_read * read, usage.cache_write * written, usage.output * self.output)
        return sum(parts) / _MILLION


@dataclass(frozen=True, slots=True)
class Policy:
    """What an emission may spend.

    ``max_attempts`` counts all answered calls, the first included (1 to 16); the ``schema_rounds`` of ``host=`` may
    allow fewer. ``output_tokens`` is the first
    output budget (the vendor's default where None), ``max_output_tokens`` the ceiling it may be raised to
    (the model's own where None). ``truncation_multiplier`` (above 1, at most 8) raises it after a cut.
    ``max_faults`` bounds the re-sends after transport faults. ``max_total_tokens`` and ``max_cost`` (at these
    ``prices``) bound all calls together, in and out: a call that could pass them gets a smaller output budget, or
    is not made. ``nl_to_format`` allows two calls more, once the attempts are used up on answers that broke the
    form: one in plain words, and one that puts these into the form (Tam et al., arXiv 2408.02442).
    ``max_retry_after``, ``timeout`` (one call; it wins over the client's own) and ``deadline`` (the whole
    emission; None for no limit) are in seconds. A blocking call that is not a stream can only bound each wait for
    the network, so a vendor that trickles an answer may outlast both; every other call is ended.
    ``max_response_bytes`` bounds the body of one response, decompressed; a larger one is a ``LimitReached``.
    """

    max_attempts: int = 3
    output_tokens: int | None = None
    max_output_tokens: int | None = None
    truncation_multiplier: float = 2.0
    max_faults: int = 4
    max_total_tokens: int | None = None
    max_cost: float | None = None
    prices: Prices | None = None
    nl_to_format: bool = False
    max_retry_after: float = 60.0
    timeout: float = 600.0
    deadline: float | None = None
    max_response_bytes: int = DEFAULT_MAX_RESPONSE_BYTES

    def __post_init__(self) -> None:
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if value is not None:
                _within(name, value, low, high)
        if self.max_cost is not None and not isinstance(self.prices, Prices):
            raise InputError(
                "Policy.max_cost is set, and no prices.",
                hint="Pass prices=Prices(input=…, output=…), per million tokens.",
            )
        for name, seconds in (("timeout", self.timeout), ("deadline", self.deadline)):
            _numeric("Policy", name, seconds)
            if seconds is not None and not seconds > 0:
                raise InputError(f"Policy.{name} is {seconds!r}; it must be above 0 seconds.")


def _within(name: str, value: Any, low: float, high: float) -> None:
    _numeric("Policy", name, value)
    if name in _WHOLE and isinstance(value, float):
        raise InputError(f"Policy.{name} is {value!r}; it must be a whole number.")
    if not low <= value <= high:
        bounds = f"{low} to {high}" if high < math.inf else f"{low} or more"
        raise InputError(f"Policy.{name} is {value!r}; it must be {bounds}.")


def _numeric(owner: str, name: str, value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, _NUMBER)):
        raise InputError(f"{owner}.{name} is {value!r}; it must be a number.")


_NUMBER = (int, float)
_BOUNDS = (
    ("max_attempts", 1, 16),
    ("truncation_multiplier", 1, 8),
    ("output_tokens", 1, math.inf),
    ("max_output_tokens", 1, math.inf),
    ("max_faults", 0, 16),
    ("max_total_tokens", 1, math.inf),
    ("max_cost", 0, math.inf),
    ("max_retry_after", 0, math.inf),
    ("max_response_bytes", 1, math.inf),
)
_WHOLE = frozenset(
    {"max_attempts", "output_tokens", "max_output_tokens", "max_faults", "max_total_tokens", "max_response_bytes"}
)

DEFAULT_POLICY = Policy()
"""What an emission may spend where the caller says nothing."""
