"""Compute the cost of calls in US dollars, by the price list of the ``genai-prices`` package.

The package is imported when a price is first needed. Nothing is downloaded: the packaged price list is used,
unless your program updates it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError, MissingExtra
from emitter.messages import Usage
from emitter.profiles import load_profile

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from emitter.policy import Policy, PriceTable
    from emitter.profiles import Profile

_IN_A_BATCH = {"processing": "batch"}
_PLACES = 12
_PRICES_HINT = (
    "Pass Policy(prices=Prices(input=…, output=…)), in US dollars per million tokens; for a fallback model, pass them "
    "to its Fallback."
)
_OTHER_NAME_HINT = (
    "For a deployment of a listed model, pass Policy(prices=ListedPrices({!r}, …)) with the model's own name."
)
_INSTALL = f"Run: pip install 'llm-emitter[prices]'. Or pass {_PRICES_HINT.removeprefix('Pass ')}"


@dataclass(frozen=True, slots=True)
class ListedPrices:
    """The prices of a model by ``genai-prices``.

    Attributes:
        profile: The name of the provider's profile.
        model: The model's own id.
        batched: The calls are sent in batches. A model without a listed batch price costs the same in a batch.
        at: The time of the calls, for prices that change. Defaults to the time of the computation.
    """

    profile: str
    model: str
    batched: bool = False
    at: dt.datetime | None = None
    facts: Profile | None = field(default=None, repr=False, compare=False)
    """The profile, if it is the caller's own."""

    def cost_of(self, usage: Usage, calls: int = 1) -> Decimal:
        """Return the cost of ``usage``, which belongs to ``calls`` calls with prompts of similar length.

        Raises:
            InputError: The model has no price.
            MissingExtra: ``genai-prices`` is not installed.
        """
        cost_per_call = self._calculate(_tokens_per_call(usage, calls))
        return round(cost_per_call * calls, _PLACES)

    def _calculate(self, tokens: dict[str, Decimal]) -> Decimal:
        provider = (self.facts or load_profile(self.profile)).price_list(self.model)
        if provider is None:
            raise InputError(f"emitter knows no price list for {self.profile}/{self.model}.", hint=_PRICES_HINT)
        prices = _load_genai_prices()
        # Aggregators put the maker's name before the model's, and the list may have either spelling.
        for name in dict.fromkeys((self.model, self.model.rpartition("/")[2])):
            try:
                calculation = prices.calc_price(
                    prices.Usage(**tokens),
                    name,
                    provider_id=provider,
                    genai_request_timestamp=self.at,
                    price_context=_IN_A_BATCH if self.batched else None,
                )
            except LookupError:
                continue
            model_price = calculation.model_price
            if model_price.input_mtok is not None or model_price.output_mtok is not None:
                return Decimal(calculation.total_price)
        raise InputError(
            f"genai-prices {prices.__version__} has no price for {provider}/{self.model}.",
            hint=f"{_PRICES_HINT} {_OTHER_NAME_HINT.format(self.profile)}",
        )


def _load_genai_prices() -> Any:
    try:
        import genai_prices  # noqa: PLC0415  optional, and it loads httpx2
    except ImportError as error:
        raise MissingExtra("genai-prices is not installed.", hint=_INSTALL) from error
    return genai_prices


def _tokens_per_call(usage: Usage, calls: int) -> dict[str, Decimal]:
    """Return the tokens of the average call."""
    # genai-prices rejects counts that contradict one another, which some providers report.
    cached = usage.cache_read + usage.cache_write
    tokens = {
        "input_tokens": max(usage.input, cached),
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "cache_write_1h_tokens": min(usage.cache_write_1h, usage.cache_write),
        "output_tokens": max(usage.output, usage.thinking),
        "output_reasoning_tokens": usage.thinking,
    }
    return {name: Decimal(count) / calls for name, count in tokens.items()}


@dataclass(frozen=True, slots=True)
class BatchPrices:
    """The caller's prices, multiplied by the provider's batch discount."""

    prices: PriceTable
    share: Decimal

    def cost_of(self, usage: Usage, calls: int = 1) -> Decimal:
        """Return the cost of ``usage``."""
        return self.prices.cost_of(usage, calls) * self.share


def prices_in_batch(policy: Policy, profile: Profile, model: str) -> PriceTable:
    """Return the prices of the calls of a batch."""
    if isinstance(policy.prices, ListedPrices):
        return replace(policy.prices, batched=True)
    if policy.prices is None:
        return ListedPrices(profile.name, model, batched=True, facts=profile)
    return BatchPrices(policy.prices, profile.batch_price)


@lru_cache(maxsize=256)
def listed_prices(profile: Profile, model: str) -> ListedPrices:
    """Return the listed prices of a model."""
    return ListedPrices(profile.name, model, facts=profile)


def require_listed_prices(profile: Profile, model: str) -> ListedPrices:
    """Return the prices of a model for ``Policy.max_cost``. Raises ``InputError`` if it has none."""
    prices = ListedPrices(profile.name, model, facts=profile)
    try:
        prices.cost_of(Usage())
    except InputError as error:
        reason = Exception.__str__(error)
        raise InputError(f"Policy.max_cost is set, but no price is known: {reason}", hint=error.hint) from error
    return prices


@dataclass(frozen=True, slots=True)
class ModelPrices:
    """The prices of each model of an emission, by ``ModelRequest.route``."""

    tables: tuple[PriceTable, ...]

    def cost_of(self, usage: Usage, calls: int = 1) -> Decimal:
        """Return the cost of ``usage`` at the prices of the first model."""
        return self.tables[0].cost_of(usage, calls)


def prices_of(prices: PriceTable | None, route: int) -> PriceTable | None:
    """Return the prices of one model of an emission."""
    return prices.tables[route] if isinstance(prices, ModelPrices) else prices


@dataclass(frozen=True, slots=True)
class CostSummary:
    """The cost of calls in US dollars, or the reason why there is none."""

    cost: Decimal | None
    reason: str | None = None


def sum_costs(usages: Iterable[tuple[PriceTable | None, Usage, int]]) -> CostSummary:
    """Return the cost of calls. Each usage belongs to a number of calls with prompts of similar length."""
    total = Decimal(0)
    for prices, usage, calls in usages:
        if prices is None:
            return CostSummary(None, "The prices of these calls are unknown.")
        try:
            total += prices.cost_of(usage, calls)
        except InputError as error:
            return CostSummary(None, str(error))
    return CostSummary(total)
