"""What a run's numbers come to: one line for each library, and one for each target of speed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import overhead
from benchmarks.libraries import EMITTER, SDK, WIRES
from benchmarks.truth import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

Results = Mapping[str, Any]
Row = Mapping[str, Any]

CUT = ("cut at the budget", "cut, yet valid JSON", "thinking ate the budget")
REFUSALS = ("refusal", "content filter")


def titled(library: str, retries: int | None) -> str:
    """Return how a library with its setting is called."""
    return library if retries is None else f"{library}, retries={retries}"


def by_library(faults: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the cells of each library and setting."""
    found: dict[str, list[Row]] = defaultdict(list)
    for each in faults:
        found[titled(each["library"], each["retries"])].append(each)
    return found


@dataclass(frozen=True, slots=True)
class Standing:
    """One library over all faults and wires: counts of situations, the mean calls of a refusal, tokens in all."""

    title: str
    situations: int
    right: int
    truth: int
    wrong: int
    nothing: int
    cured: str
    refusal_calls: float
    tokens: int


def standings(faults: Sequence[Row]) -> list[Standing]:
    """Return every library's line."""
    return [_standing(title, cells) for title, cells in by_library(faults).items()]


def _standing(title: str, cells: Sequence[Row]) -> Standing:
    outcomes = [each["outcome"] for each in cells]
    refused = [each["calls"] for each in cells if each["fault"] in REFUSALS]
    cut = [each["outcome"] == Outcome.RIGHT.value for each in cells if each["fault"] in CUT]
    return Standing(
        title,
        len(cells),
        outcomes.count(Outcome.RIGHT.value),
        sum(each["truth"] for each in cells),
        outcomes.count(Outcome.WRONG.value),
        outcomes.count(Outcome.NONE.value),
        f"{sum(cut)} of {len(cut)}",
        sum(refused) / len(refused) if refused else 0.0,
        sum(each["tokens"] for each in cells),
    )


@dataclass(frozen=True, slots=True)
class Target:
    """A ratio that must be reached: ``most`` at most, or else ``least`` at least; None where it was not measured."""

    what: str
    ratio: float | None
    most: float | None = None
    least: float | None = None

    @property
    def reached(self) -> bool | None:
        """Whether it is, as far as it was measured."""
        if self.ratio is None:
            return None
        if self.most is not None:
            return self.ratio <= self.most
        return self.least is None or self.ratio >= self.least


MOST = {"openai-responses": 1.6, "openai-chat": 1.6, "anthropic": 1.6, "google": 1.3}
"""The processor time that an emission may take, in times of the SDK's lowest call."""
_BESIDE_BAML = ("openai-chat", "anthropic")


def targets(results: Results) -> list[Target]:
    """Return every target of speed, by ratios within this one run."""
    return [*_overheads(results["overhead"]), *_streams(results["streaming"]), *_rest(results)]


def _overheads(wires: Mapping[str, Mapping[str, float]]) -> Iterator[Target]:
    for wire in WIRES:
        spent = wires[wire]
        for form in (overhead.OWN_FORM, overhead.MOMENT):
            what = f"one warm `{form}`, {wire}: CPU, times the SDK's lowest call"
            yield Target(what, spent[form] / spent[overhead.LOW_LEVEL], most=MOST[wire])
        if wire in _BESIDE_BAML:
            theirs = spent.get("baml")
            ratio = None if theirs is None else spent[overhead.OWN_FORM] / theirs
            yield Target(f"one warm `emit`, {wire}: CPU, times BAML's typed call", ratio, most=1)


def _streams(points: Sequence[Row]) -> Iterator[Target]:
    for wire in WIRES:
        mine = {
            each["kilobytes"]: each["seconds"] for each in points if (each["contender"], each["wire"]) == ("emit", wire)
        }
        ratio = mine[500] / mine[50] if {50, 500} <= mine.keys() else None
        yield Target(f"a stream of 500 KB, {wire}: CPU, times one of 50 KB", ratio, most=12)


def _rest(results: Results) -> Iterator[Target]:
    spent = results["imports"]
    ratio = spent["import emitter"]["ms"] / spent["import pydantic"]["ms"]
    yield Target("`import emitter`: times `import pydantic`", ratio, most=0.5)
    load = results["load"]
    what = f"{load['total']:,} emissions, {load['in_flight']} in flight: throughput, times raw `httpx2`"
    yield Target(what, load["ratio"], least=0.6)
    yield Target(
        "recovery of 1 MB of hostile text, the worst kind: CPU, times 100 KB", _recovery(results["recovery"]), most=15
    )


def _recovery(points: Sequence[Row]) -> float | None:
    ours: dict[str, dict[int, float]] = defaultdict(dict)
    for each in points:
        if each["reader"] == EMITTER.name and each["seconds"]:
            ours[each["text"]][each["kilobytes"]] = each["seconds"]
    found = [times[1000] / times[100] for times in ours.values() if {100, 1000} <= times.keys()]
    return max(found, default=None)


SHOWN = {"emit": "emitter.stream", SDK.contender: "SDK helper"}
"""How contenders are called in pictures, where their own name says too little."""
