"""Many reports as one page: a line a profile, then what went wrong, grouped by reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.schema.proof.verdict import LAWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.schema.proof.verdict import Report

COLUMNS = (
    *("schemas", "compiled", "refused", "plain", "degraded", "outside", "missing", "growth"),
    *("enforced", "accepted", "decodable", "sound", "faithful", "checked"),
    *("crashes", "timeouts", "drawn", "unsaid", "excused", "unjudged", "median ms", "max ms", "max bytes"),
)
EXAMPLES = 5
_WIDTH = 110


@dataclass(slots=True)
class Group:
    """Failures of one law for one reason."""

    law: str
    reason: str
    detail: str
    cases: dict[str, None] = field(default_factory=dict[str, None])
    profiles: Counter[str] = field(default_factory=Counter[str])

    def to_json(self) -> dict[str, Any]:
        """Return the group as JSON."""
        return {
            "law": self.law,
            "reason": self.reason,
            "profiles": dict(self.profiles),
            "examples": [*self.cases][:EXAMPLES],
            "detail": self.detail,
        }


def row(reports: list[Report]) -> dict[str, str]:
    """Return a profile's cells: how many schemas hold each law, of those that it is asked of."""
    sums = Counter[str]()
    for each in reports:
        sums.update(each.counts)
    red = {law: sum(each.red(law) for each in reports) for law in LAWS}
    refused = sum(each.refused is not None for each in reports)
    enforced = sum(each.enforced for each in reports)
    compiled = len(reports) - refused - red["total"] - red["timeout"]
    times = sorted(each.seconds * 1000 for each in reports)
    cells = {
        "schemas": len(reports),
        "compiled": compiled,
        "refused": refused,
        "plain": sum(each.size > 0 and not each.enforced for each in reports),
        "degraded": sum(each.degraded for each in reports),
        "outside": red["accepted"],
        "missing": sums["missing"],
        "growth": f"{max((each.growth for each in reports if each.degraded), default=0):.1f}",
        "enforced": enforced,
        **{law: enforced - red[law] for law in ("accepted", "decodable", "sound")},
        "faithful": f"{sums['faithful']}/{sums['instances']}",
        "checked": f"{compiled - red['checked']}/{compiled}",
        "crashes": red["total"],
        "timeouts": red["timeout"],
        "drawn": sums["drawn"],
        "unsaid": sums["unsaid"],
        "excused": "/".join(str(sums[f"excused by {each}"]) for each in ("place", "keyword", "decoder")),
        "unjudged": sums["unjudged"],
        "median ms": f"{times[len(times) // 2]:.1f}",
        "max ms": f"{times[-1]:.0f}",
        "max bytes": max(each.size for each in reports),
    }
    return {name: str(each) for name, each in cells.items()}


def rows(reports: Iterable[Report]) -> dict[str, dict[str, str]]:
    """Return the cells of every profile."""
    by_profile: defaultdict[str, list[Report]] = defaultdict(list)
    for each in reports:
        by_profile[each.profile].append(each)
    return {name: row(each) for name, each in sorted(by_profile.items())}


def groups(reports: Iterable[Report]) -> list[Group]:
    """Return the failures by law and reason, the most frequent of each law first; refusals come last."""
    found: dict[tuple[str, str], Group] = {}
    for report in reports:
        reported = [(each.law, each.reason, each.detail) for each in report.failures]
        reported.extend([("refused", report.refused, report.pointer or "#")] if report.refused is not None else [])
        for law, reason, detail in reported:
            group = found.setdefault((law, reason), Group(law, reason, detail))
            group.cases[report.case] = None
            group.profiles[report.profile] += 1
    order = (*LAWS, "refused")
    return sorted(found.values(), key=lambda each: (order.index(each.law), -each.profiles.total()))


def page(reports: list[Report]) -> Iterator[str]:
    """Yield the lines of the page."""
    table = {"profile": dict(zip(COLUMNS, COLUMNS, strict=True)), **rows(reports)}
    widths = [max(len(cells[name]) for cells in table.values()) + 2 for name in COLUMNS]
    first = max(map(len, table))
    for profile, cells in table.items():
        yield profile.ljust(first) + "".join(cells[n].rjust(w) for n, w in zip(COLUMNS, widths, strict=True))
    yield (
        "outside: schemas that the vendor's rules refuse. missing: names and values that the request does not hold. "
        "growth: the largest of those degraded, in times of the schema as given."
    )
    yield "accepted, decodable, sound: schemas of those enforced. faithful: instances. excused: place/keyword/decoder."
    law = ""
    for each in groups(reports):
        if each.law != law:
            law = each.law
            yield f"\n{law}"
        yield f"  {each.profiles.total()} x {each.reason[:_WIDTH]}  ({', '.join(each.profiles)})"
        yield f"      e.g. {', '.join([*each.cases][:EXAMPLES])}"
        if each.detail and law != "refused":
            yield f"      {each.detail[: 2 * _WIDTH]}"
