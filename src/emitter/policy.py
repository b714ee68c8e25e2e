"""Limits on the attempts, tokens, cost and time of an emission.

``Policy`` and ``Prices`` check their values when you create them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from emitter.arguments import known_arguments
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.messages import Usage

_TOKENS_PER_PRICE = 1_000_000
DEFAULT_MAX_RESPONSE_BYTES = 32 << 20
"""32 MiB.

A streamed answer has 6 to 150 bytes per token (at most 326 in recorded traffic), so this is room for 128,000 tokens,
the largest output of most models, at up to 262 bytes per token.
"""


class CeilingOwner(Enum):
    """Whose limit the largest output budget is."""

    POLICY = "policy"
    """The caller's ``Policy.max_output_tokens``."""
    MODEL = "model"
    """The model's, as a source states."""
    ASSUMPTION = "assumption"
    """An assumption of the profile, which the policy may exceed."""
    WINDOW = "window"
    """The part of the context window that the prompt leaves."""
    VENDOR = "vendor"
    """The vendor's, as it said when it refused a larger budget."""


@known_arguments(cached_input="cache_read", prompt="input", completion="output")
@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a million tokens in US dollars.

    Args:
        input: The price of input tokens.
        output: The price of output tokens.
        cache_read: The price of input read from the cache. Defaults to ``input``.
        cache_write: The price of input written to the cache. Defaults to ``input``.
        cache_write_1h: The price of input written to the cache for an hour. Defaults to ``cache_write``.
    """

    input: float | Decimal
    output: float | Decimal
    cache_read: float | Decimal | None = None
    cache_write: float | Decimal | None = None
    cache_write_1h: float | Decimal | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            price = getattr(self, item.name)
            _check_number("Prices", item.name, price)
            if price is not None and not 0 <= price < math.inf:
                raise InputError(f"Prices.{item.name} is {price!r}; it must be 0 or more.")

    def cost_of(self, usage: Usage, calls: int = 1) -> Decimal:  # noqa: ARG002  the number of calls changes nothing
        """Return the cost of ``usage`` in US dollars. Cached tokens and thinking are included."""
        uncached = max(usage.input - usage.cache_read - usage.cache_write, 0)
        write_price = self.input if self.cache_write is None else self.cache_write
        parts = (
            (uncached, self.input),
            (usage.cache_read, self.input if self.cache_read is None else self.cache_read),
            (max(usage.cache_write - usage.cache_write_1h, 0), write_price),
            (usage.cache_write_1h, write_price if self.cache_write_1h is None else self.cache_write_1h),
            (usage.output, self.output),
        )
        return sum((Decimal(str(price)) * tokens for tokens, price in parts), Decimal(0)) / _TOKENS_PER_PRICE


class PriceTable(Protocol):
    """The prices of a model."""

    def cost_of(self, usage: Usage, calls: int = 1) -> Decimal:
        """Return the cost in US dollars of ``usage``, which belongs to ``calls`` calls with prompts of similar length.

        Raises:
            InputError: The model has no price.
        """
        ...


_RETRIES = "Pass max_faults= for failed calls, or max_attempts= for rejected answers."


@known_arguments(
    **dict.fromkeys(("max_retries", "num_retries", "retries", "retry"), _RETRIES),
    max_tokens="output_tokens",
    max_completion_tokens="output_tokens",
)
@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of an emission.

    ``timeout`` and ``deadline`` hold within a second for every call, blocking or async, streamed or not, in whichever
    part of the exchange the vendor is slow: the connection, the upload, the head, the body or what follows it. There
    are three exceptions, all of them in blocking calls:

    - The resolution of a name. The operating system limits it, on Linux to 10 seconds for each name server that does
      not answer.
    - A transport of your own below the SDK. Each of its waits has the rest of the time as its timeout, and the deadline
      is checked between two pieces of a stream. If it sends through ``httpx2``, ``httpx`` or ``urllib3``, the
      deadline holds.
    - Your own code, such as a hook of the HTTP client, is not interrupted.

    Args:
        max_attempts: The maximum number of answered calls, including the first (1 to 16). The host's ``schema_rounds``
            can lower it.
        output_tokens: The first output budget. By default it is derived from the schema.
        max_output_tokens: The largest output budget after truncations. Defaults to the model's own limit, which it
            cannot exceed unless that limit is only assumed.
        truncation_multiplier: The factor that raises the budget after a truncation (1 to 8).
        max_faults: The maximum number of retries after transport faults (0 to 16).
        max_total_tokens: The limit on the input and output of all calls. A call that could exceed it gets a smaller
            output budget, or is not sent.
        max_cost: The limit on the cost of all calls in US dollars. It works like ``max_total_tokens``. If neither
            ``prices`` nor ``genai-prices`` has a price for the model, ``InputError`` is raised before the first call.
        prices: The prices of the model. Defaults to those of ``genai-prices`` (``pip install 'llm-emitter[prices]'``).
        lower_effort: If an answer was cut at the largest output budget and the model had thought, allow one more call
            with the next lower ``reasoning_effort`` that the model takes.
        nl_to_format: Allow two more calls after the last attempt broke the schema: one for the answer in prose, and one
            that converts the prose to the schema (Tam et al., arXiv 2408.02442).
        max_retry_after: The longest wait that a vendor may ask for, in seconds.
        timeout: The limit on one call in seconds, without the time that the consumer of a stream takes. It overrides
            the client's own.
        deadline: The limit on the whole emission in seconds, or None.
        max_response_bytes: The largest decompressed body of one response. A larger one raises ``LimitReached``.
    """

    max_attempts: int = 3
    output_tokens: int | None = None
    max_output_tokens: int | None = None
    truncation_multiplier: float = 2.0
    max_faults: int = 4
    max_total_tokens: int | None = None
    max_cost: float | Decimal | None = None
    prices: PriceTable | None = None
    nl_to_format: bool = False
    max_retry_after: float = 60.0
    timeout: float = 600.0
    deadline: float | None = None
    max_response_bytes: int = DEFAULT_MAX_RESPONSE_BYTES
    lower_effort: bool = False

    def __post_init__(self) -> None:
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if value is not None:
                _check_range(name, value, low, high)
        if self.prices is not None and not hasattr(self.prices, "cost_of"):
            raise InputError(
                f"Policy.prices is {self.prices!r}.",
                hint="Pass Prices(input=…, output=…), in US dollars per million tokens.",
            )
        for name, seconds in (("timeout", self.timeout), ("deadline", self.deadline)):
            _check_number("Policy", name, seconds)
            if seconds is not None and not seconds > 0:
                raise InputError(f"Policy.{name} is {seconds!r}; it must be above 0 seconds.")


def _check_range(name: str, value: Any, low: float, high: float) -> None:
    _check_number("Policy", name, value)
    if name in _INTEGER_FIELDS and not isinstance(value, int):
        raise InputError(f"Policy.{name} is {value!r}; it must be a whole number.")
    if not low <= value <= high:
        bounds = f"{low} to {high}" if high < math.inf else f"{low} or more"
        raise InputError(f"Policy.{name} is {value!r}; it must be {bounds}.")


def _check_number(type_name: str, name: str, value: Any) -> None:
    is_number = isinstance(value, _NUMBER_TYPES) and not isinstance(value, bool)
    if value is not None and (not is_number or (isinstance(value, Decimal) and value.is_nan())):
        raise InputError(f"{type_name}.{name} is {value!r}; it must be a number.")


_NUMBER_TYPES = (int, float, Decimal)
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
_INTEGER_FIELDS = frozenset(
    {"max_attempts", "output_tokens", "max_output_tokens", "max_faults", "max_total_tokens", "max_response_bytes"}
)
DEFAULT_POLICY = Policy()
"""The default limits."""
