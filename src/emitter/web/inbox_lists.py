"""The lists of the inbox: open decisions by urgency, closed ones by time, filtered and in pages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import StoreAltered, UnsignedAnswer
from emitter.web.inbox_pages import KINDS, Listing, Row, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emitter.decisions.ledger import Ledger
    from emitter.decisions.principals import Principal

PAGE_SIZE: Final = 50
_MAX_SCANNED: Final = 500
"""Closed decisions that are read for one page. A filter that finds few offers to look further."""


class Catalog:
    """The decisions of a ledger in the order in which people read them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[tuple[str, int], PendingDecision] = {}

    def open_page(
        self, query: Mapping[str, str], may_see: Callable[[PendingDecision], bool], principal: Principal
    ) -> Listing:
        """Return a page of open decisions: those with a deadline first, by deadline, and then the newest."""
        visible = tuple(pending for pending in self._load_open() if may_see(pending))
        chosen = {name: query[name] for name in ("agent", "kind", "assigned") if query.get(name)}
        assignees = {"me": principal.id, "nobody": ""}
        assignee = assignees.get(chosen.get("assigned", ""))
        rows = [pending for pending in visible if _is_chosen(pending, chosen) and assignee in (None, pending.assignee)]
        last = max(1, math.ceil(len(rows) / PAGE_SIZE))
        number = min(max(1, _parse_number(query.get("page", ""))), last)
        first = (number - 1) * PAGE_SIZE
        shown = rows[first : first + PAGE_SIZE]
        neighbours = {"Previous": number - 1, "Next": number + 1}
        pages = {
            name: f"?{urlencode({**chosen, 'page': page})}" for name, page in neighbours.items() if 1 <= page <= last
        }
        agents = sorted({pending.agent for pending in visible})
        return Listing("Open", _count_open(len(rows), first, len(shown)), shown, agents, chosen, pages)

    def closed_page(self, query: Mapping[str, str], may_see: Callable[[PendingDecision], bool]) -> Listing:
        """Return a page of closed decisions, latest first."""
        chosen = {name: query[name] for name in ("agent", "kind") if query.get(name)}
        references = self._ledger.closed_references()
        before = query.get("before", "")
        start = references.index(before) + 1 if before in references else 0
        scanned, shown = start, list[Row]()
        for decision in self._load(references[start : start + _MAX_SCANNED]):
            scanned += 1
            if isinstance(decision, str) or _is_visible(decision, chosen, may_see):
                shown.append(decision)
            if len(shown) == PAGE_SIZE:
                break
        is_more = 0 < scanned < len(references)
        pages = {"Earlier": f"?{urlencode({**chosen, 'before': references[scanned - 1]})}"} if is_more else {}
        pending = (*self._load_open(), *(_pending_of(row) for row in shown if not isinstance(row, str)))
        agents = sorted({each.agent for each in pending if may_see(each)})
        count = f"{len(shown):,} closed decisions are shown, the latest first."
        return Listing("Closed", count, shown, agents, chosen, pages)

    def _load_open(self) -> list[PendingDecision]:
        """Return the open decisions, of which only new ones are read from the store."""
        known, opened = self._open, dict[tuple[str, int], PendingDecision]()
        assigned = self._ledger.assignment_counts()
        for reference in self._ledger.open_references():
            version = reference, assigned.get(reference, 0)
            decision = known.get(version) or next(self._load((reference,)))
            if isinstance(decision, PendingDecision):  # otherwise it was altered, or answered just now
                opened[version] = decision
        self._open = opened
        return sorted(opened.values(), key=_urgency)

    def _load(self, references: tuple[str, ...]) -> Iterator[Row]:
        for reference in references:
            try:
                yield self._ledger.find_by_reference(reference)
            except (StoreAltered, UnsignedAnswer):
                yield reference


def _pending_of(decision: PendingDecision | ResolvedDecision) -> PendingDecision:
    return decision.pending if isinstance(decision, ResolvedDecision) else decision


def _is_visible(
    decision: PendingDecision | ResolvedDecision,
    chosen: Mapping[str, str],
    may_see: Callable[[PendingDecision], bool],
) -> bool:
    return _is_chosen(_pending_of(decision), chosen) and may_see(_pending_of(decision))


def _urgency(pending: PendingDecision) -> tuple[float, float]:
    return math.inf if pending.expires_at is None else pending.expires_at, -pending.opened_at


def _is_chosen(pending: PendingDecision, chosen: Mapping[str, str]) -> bool:
    kind = chosen.get("kind", "")
    return chosen.get("agent", pending.agent) == pending.agent and (kind not in KINDS or kind_of(pending) == kind)


def _parse_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1  # noqa: PLR2004  digits


def _count_open(count: int, first: int, shown: int) -> str:
    if not count:
        return "No decision waits for an answer."
    noun = "decision waits" if count == 1 else "decisions wait"
    return f"{count:,} {noun} for an answer. Numbers {first + 1:,} to {first + shown:,} are shown."
