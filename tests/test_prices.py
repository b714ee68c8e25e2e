"""What calls cost by the price list, without a vendor."""

from __future__ import annotations

import datetime as dt
import pickle
import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from genai_prices import data_snapshot
from genai_prices.data import providers
from genai_prices.types import ModelPrice, TieredPrices
from hypothesis import given
from hypothesis import strategies as st

from emitter.attempts import Attempt, Verdict
from emitter.bulk.progress import RunStats
from emitter.core.effects import EmissionOutcome
from emitter.errors import InputError
from emitter.messages import Usage
from emitter.policy import Policy, Prices
from emitter.prices import BatchPrices, ListedPrices, prices_in_batch, sum_costs
from emitter.profiles import find_profile, load_profile, profile_names

if TYPE_CHECKING:
    from collections.abc import Iterator

NOVEMBER = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
MILLION = 1_000_000
USED = Usage(input=MILLION, output=500_000, cache_read=200_000, cache_write=100_000, thinking=400_000)


def listed(model: str, *, batched: bool = False, at: dt.datetime = NOVEMBER) -> ListedPrices:
    """Return the prices of a model on a day whose prices do not change any more."""
    profile, name = find_profile(model)
    return ListedPrices(profile.name, name, batched=batched, at=at)


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        # 4 in, 0.20 from the cache, 5 into it, 20 out
        ("anthropic/claude-opus-5-5", USED, "13.34"),
        ("anthropic/claude-opus-5-5", Usage(input=250, output=100), "0.003"),
        # on Bedrock 10 % more in a region; the global endpoint costs as much as the plain API
        ("anthropic/us.anthropic.claude-opus-5-5", Usage(input=250, output=100), "0.0033"),
        ("anthropic/global.anthropic.claude-opus-5-5", Usage(input=250, output=100), "0.003"),
        # 2 in and 10 out up to 272,000 tokens, 4 and 15 for a longer prompt
        ("openai/gpt-6-sol", Usage(input=272_000, output=1000), "0.554"),
        ("openai/gpt-6-sol", Usage(input=272_001, output=1000), "1.103004"),
        ("openai/gpt-6-sol-2026-09-22", Usage(input=272_000, output=1000), "0.554"),
        # thinking is a part of the output, not a charge of its own
        ("openai/gpt-6-sol", Usage(output=1000, thinking=900), "0.01"),
        ("azure/gpt-4o", Usage(input=MILLION), "2.5"),
        ("google/gemini-3.8-flash", Usage(input=MILLION, output=MILLION), "4.5"),
        ("google/models/gemini-3.8-flash", Usage(input=MILLION, output=MILLION), "4.5"),
        ("groq/openai/gpt-oss-20b", Usage(input=MILLION), "0.075"),
        ("openrouter/openai/gpt-6-sol", Usage(input=1000), "0.002"),
        ("openai/gpt-6-sol", Usage(), "0"),
    ],
)
def test_a_call_costs_what_the_list_says(model: str, usage: Usage, dollars: str) -> None:
    """Cached tokens and long prompts have prices of their own."""
    assert listed(model).cost_of(usage) == Decimal(dollars)


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("anthropic/claude-opus-5-5", USED, "6.67"),
        ("openai/gpt-6-sol", Usage(input=1000, output=1000), "0.006"),
        # two models whose batch price is not listed, and is the standard one
        ("anthropic/claude-opus-4-1-20250805", Usage(input=MILLION), "15"),
        ("openai/gpt-3.5-turbo-1106", Usage(input=MILLION), "1"),
    ],
)
def test_a_call_in_a_batch_costs_less(model: str, usage: Usage, dollars: str) -> None:
    """By the batch prices of the list, where it has any."""
    assert listed(model, batched=True).cost_of(usage) == Decimal(dollars)


def test_a_price_is_that_of_the_day() -> None:
    """DeepSeek is cheaper off-peak, and Gemini 3.6 Flash becomes dearer in 2027."""
    usage = Usage(input=MILLION)
    hours = [NOVEMBER.replace(hour=hour) for hour in (2, 12)]
    assert [listed("deepseek/deepseek-flash", at=at).cost_of(usage) for at in hours] == [
        Decimal("0.3"),
        Decimal("0.15"),
    ]
    assert listed("google/gemini-3.6-flash").cost_of(usage) == Decimal("0.75")
    assert listed("google/gemini-3.6-flash", at=NOVEMBER.replace(year=2027)).cost_of(usage) == Decimal("1.5")


@pytest.mark.parametrize(
    ("model", "reason", "hint"),
    [
        ("openai/gpt-99", "no price for openai/gpt-99", "Pass Policy(prices=Prices("),
        ("azure/my-deployment", "no price for azure/my-deployment", "Pass Policy(prices=Prices("),
        ("openai/whisper-1", "no price for openai/whisper-1", "Pass Policy(prices=Prices("),
        ("ollama/llama3", "no price list for ollama/llama3", "Pass Policy(prices=Prices("),
    ],
)
def test_a_model_without_a_price_has_no_cost(model: str, reason: str, hint: str) -> None:
    """It is not free: there is no cost, and a reason."""
    with pytest.raises(InputError, match=reason) as raised:
        listed(model).cost_of(USED)
    assert raised.value.hint.startswith(hint)

    found = sum_costs([(listed(model), USED, 1)])
    assert found.cost is None
    assert reason in str(found.reason)


def test_without_the_package_there_is_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says what to install, and what else to pass."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    found = sum_costs([(listed("openai/gpt-6-sol"), USED, 1)])
    assert found.cost is None
    assert "pip install 'llm-emitter[prices]'" in str(found.reason)
    assert "Policy(prices=Prices(" in str(found.reason)

    assert sum_costs([(Prices(input=1, output=2), USED, 1)]).cost == Decimal(2)


def test_what_used_nothing_costs_nothing() -> None:
    """Also where no price is known."""
    assert sum_costs([]).cost == 0


def test_the_callers_prices_are_those_outside_a_batch() -> None:
    """In a batch the provider's share of them counts."""
    openai = load_profile("openai")
    own = prices_in_batch(Policy(prices=Prices(input=2, output=10)), openai, "gpt-99")
    assert own == BatchPrices(Prices(input=2, output=10), Decimal("0.5"))
    assert own.cost_of(Usage(input=MILLION)) == 1
    assert prices_in_batch(Policy(), openai, "gpt-6-sol") == ListedPrices("openai", "gpt-6-sol", batched=True)
    assert prices_in_batch(Policy(), load_profile("mistral"), "m").cost_of is not None


def test_prices_can_be_pickled() -> None:
    """They are a part of every result."""
    for prices in (listed("openai/gpt-6-sol"), BatchPrices(Prices(1, 2), Decimal("0.5"))):
        assert pickle.loads(pickle.dumps(prices)) == prices


def test_nothing_is_imported_or_fetched_for_it() -> None:
    """The package is imported by the first price, and its list is the one that it came with."""
    program = (
        "import sys; from emitter import Policy, Prices, emit, emit_many; from emitter.prices import ListedPrices;"
        "assert 'genai_prices' not in sys.modules;"
        "from emitter.messages import Usage;"
        "ListedPrices('openai', 'gpt-6-sol').cost_of(Usage(1, 1));"
        "from genai_prices import data_snapshot as d; import threading;"
        "assert d._custom_snapshot is None and threading.active_count() == 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
    assert data_snapshot._custom_snapshot is None


counts = st.integers(0, 10**7)
usages = st.builds(Usage, counts, counts, counts, counts, counts)
priced = st.sampled_from(
    ["openai/gpt-6-sol", "anthropic/claude-haiku-5-5", "google/gemini-2.5-pro", "deepseek/deepseek-flash", "openai/o3"]
)


@given(priced, usages, st.booleans())
def test_every_usage_has_a_cost(model: str, usage: Usage, batched: bool) -> None:
    """A provider may report parts that are larger than the whole."""
    cost = listed(model, batched=batched).cost_of(usage)
    assert 0 <= cost <= listed(model).cost_of(usage)


@given(priced, st.integers(1, 400_000), st.integers(1, 100_000), st.integers(1, 2000))
def test_many_equal_calls_cost_as_much_as_each_of_them(model: str, prompt: int, answer: int, calls: int) -> None:
    """Whose sum is priced by the length of one prompt, not of all."""
    prices = listed(model)
    together = prices.cost_of(Usage(calls * prompt, calls * answer), calls)
    assert abs(together - calls * prices.cost_of(Usage(prompt, answer))) < Decimal("1e-6")


@given(st.lists(st.tuples(st.integers(1, 400_000), st.integers(0, 1000)), max_size=20))
def test_a_run_costs_as_much_as_its_calls(calls: list[tuple[int, int]]) -> None:
    """The run keeps sums, and still prices each call by the length of its own prompt."""
    prices = listed("openai/gpt-6-sol")
    stats = RunStats(None, prices)
    for number, (prompt, answer) in enumerate(calls, 1):
        stats.add_outcome(
            EmissionOutcome((Attempt(number, Verdict.COMPLETE, 1, corrected=False, usage=Usage(prompt, answer)),))
        )
    each = sum((prices.cost_of(Usage(*call)) for call in calls), Decimal(0))
    assert stats.cost is not None
    assert abs(stats.cost - each) < Decimal("1e-6")


LISTS = {row.provider for name in profile_names() for row in load_profile(name).prices}
"""The price lists that the profiles name."""


def tiered_prices() -> Iterator[TieredPrices]:
    """Yield every price that depends on the length of the prompt."""
    for model in (model for provider in providers if provider.id in LISTS for model in provider.models):
        prices = [model.prices] if isinstance(model.prices, ModelPrice) else [each.prices for each in model.prices]
        for price in (*prices, *(variant.prices for variant in model.price_variants or ())):
            yield from (value for value in vars(price).values() if isinstance(value, TieredPrices))


def test_prices_change_at_whole_thousands_of_tokens() -> None:
    """Or directly below, which means that the price holds from the whole thousand on. The sums of a run rely on it."""
    starts = {tier.start for prices in tiered_prices() for tier in prices.tiers}
    assert starts
    assert {start % 1000 for start in starts} == {0, 999}


@pytest.mark.parametrize("name", profile_names())
def test_a_price_list_is_one_that_the_package_has(name: str) -> None:
    """By its id, since the package also guesses."""
    assert {row.provider for row in load_profile(name).prices} <= {provider.id for provider in providers}


@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
def test_a_batch_costs_the_share_that_the_profile_states(name: str) -> None:
    """For input and output, in every batch price of the package. Some reads from a cache are not cheaper."""
    named_without_a_discount = ("image", "gpt-3.5-turbo-1106")
    share, provider = load_profile(name).batch_price, next(each for each in providers if each.id == name)
    in_a_batch = [
        (base_price(model.get_prices(NOVEMBER), kind), base_price(model.get_prices(NOVEMBER, BATCH), kind))
        for model in provider.models
        if any(variant.when == BATCH for variant in model.price_variants or ())
        if not any(name in model.id for name in named_without_a_discount)
        for kind in ("input_mtok", "output_mtok")
    ]
    assert len(in_a_batch) > 20
    assert {batch / standard for standard, batch in in_a_batch if standard and batch} == {share}


BATCH = {"processing": "batch"}


def base_price(prices: ModelPrice, kind: str) -> Decimal | None:
    """Return a price for short prompts."""
    price = getattr(prices, kind)
    return price.base if isinstance(price, TieredPrices) else price
