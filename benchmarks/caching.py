"""Count the tokens and dollars of 50 emissions of one form, with the vendors' prompt caches and without.

The simulated vendor caches by the vendors' published rules and gives every hit that they allow, which no vendor
promises. Prices are those of genai-prices. Tokens are exact if tiktoken's ranks are installed, and otherwise an
estimate that is never too low.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from emitter import Emitter
from emitter.messages import Usage
from emitter.testing import PromptCaches, Text, simulator

Setting: TypeAlias = "Literal[True, False] | None"
EMISSIONS = 50
MODELS = (
    "openai/gpt-6-sol",
    "openai/gpt-5.4",
    "anthropic/claude-sonnet-5-5",
    "bedrock/eu.anthropic.claude-sonnet-5-5",
    "bedrock/amazon.nova-pro-v1:0",
    "google/gemini-3.8-flash",
)
SETTINGS: tuple[Setting, ...] = (False, None, True)
NAMES = {False: "False", None: "default", True: "True"}
_GOODS = ("paper", "glass", "timber", "copper", "cotton", "leather", "rubber", "cement", "coffee", "spices")
_RULES = (
    "The heading of {goods} of grade {grade} is {heading}, for goods that are cut to size and not assembled.",
    "Where {goods} of grade {grade} comes in parts, the declaration names the heading of the whole, {heading}.",
    "A sample of {goods} below {grade} kilograms is declared under {heading} without a value, and with a reason.",
    "Waste of {goods} of grade {grade} keeps the heading {heading} if it is sorted, and is declared by weight.",
)
HANDBOOK = "\n".join(
    rule.format(goods=goods, grade=grade, heading=f"{40 + index:02}{10 * grade + index:02}")
    for index, goods in enumerate(_GOODS)
    for grade in (1, 2, 3)
    for rule in _RULES
)


@dataclass(frozen=True)
class Declaration:
    """The heading under which goods are declared.

    Attributes:
        heading: Four digits of the handbook.
        packages: The number of packages.
        reason: The rule that decides it, in one sentence.
    """

    heading: Literal["4010", "4121", "4232", "4343", "4454"]
    packages: int
    reason: str


ANSWER = Text({"heading": "4010", "packages": 3, "reason": "Paper of grade 1 that is cut to size."})


@dataclass(frozen=True, slots=True)
class Bill:
    """What the emissions of one form cost."""

    usage: Usage
    cost: Decimal

    def line(self, model: str, setting: Setting) -> str:
        """Return a line of the table."""
        usage = self.usage
        full = usage.input - usage.cache_read - usage.cache_write
        counts = f"{full:>9,} {usage.cache_write:>9,} {usage.cache_read:>9,} {usage.output:>7,}"
        return f"{model:<40} {NAMES[setting]:<8} {counts} {self.cost:>9.4f}"


def measure(model: str, setting: Setting) -> Bill:
    """Emit one form for ``EMISSIONS`` shipments, one after the other."""
    usage, costs = Usage(), list[Decimal | None]()
    with simulator(answers=ANSWER, prompt_caches=PromptCaches()) as vendor:
        emitter = Emitter(model, client=vendor.client(model), instructions=HANDBOOK, cache_prompt=setting)
        for number in range(EMISSIONS):
            emission = emitter.emit(
                Declaration, f"Shipment {number}: {number + 2} crates of paper, cut to A4, grade 1."
            )
            usage += emission.usage
            costs.append(emission.cost)
        if vendor.billed != usage:
            raise AssertionError(f"{model}: the vendor bills {vendor.billed}, and {usage} was read")
    if None in costs:
        raise AssertionError(f"{model} has no price")
    return Bill(usage, sum(filter(None, costs), Decimal(0)))


def main() -> None:
    """Print the table."""
    lines = [
        f"{EMISSIONS} emissions of one form, one after the other, by cache_prompt=: tokens of input at the full",
        "price, written to the cache and read from it, tokens of output, and US dollars",
        f"{'':<40} {'':<8} {'input':>9} {'written':>9} {'read':>9} {'output':>7} {'dollars':>9}",
        *(measure(model, setting).line(model, setting) for model in MODELS for setting in SETTINGS),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
