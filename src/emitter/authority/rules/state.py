"""What the lines of a workflow's chain come to: a fold, so that each process that reads them comes to the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from emitter.authority.chain import genesis
from emitter.authority.records import (
    Confirm,
    Expire,
    Intent,
    Receipt,
    Resume,
    Revoke,
    Stop,
    StopScope,
    TakeoverMode,
)
from emitter.authority.records.form import plus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.authority.records import Line
    from emitter.authority.records.form import Amount


class End(str, Enum):
    """Why a confirm authorizes nothing more."""

    REVOKED = "revoked"
    EXPIRED = "expired"
    STOPPED = "stopped"


class Spent(dict[str, "Amount"]):
    """How much was spent of each limit: 0 of one that nothing was spent of."""

    def __missing__(self, name: str) -> int:
        return 0


@dataclass(slots=True)
class Held:
    """A confirm, what was spent of it, and why it is dead, if it is."""

    confirm: Confirm
    spent: Spent = field(default_factory=Spent)
    uses: int = 0
    end: End | None = None


@dataclass(slots=True)
class State:
    """All that is known of a workflow, up to its line ``last``."""

    workflow_id: str
    last: Line | None = None
    confirms: dict[str, Held] = field(default_factory=dict[str, Held])
    granted: dict[str, str] = field(default_factory=dict[str, str])
    """Confirms by the decision that granted them."""
    expired: set[str] = field(default_factory=set[str])
    """Confirms whose time was over before they were granted: they never are."""
    intents: dict[str, Intent] = field(default_factory=dict[str, Intent])
    receipts: dict[str, Receipt] = field(default_factory=dict[str, Receipt])
    """By the intent that each is of."""
    places: dict[str, int] = field(default_factory=dict[str, int])
    """The numbers of the receipts' lines."""
    stops: dict[str, Stop] = field(default_factory=dict[str, Stop])
    holding: dict[str, Stop] = field(default_factory=dict[str, Stop])
    """The stops that were not lifted: each of them holds by itself, whatever came after it."""
    stopped_at: str | None = None
    """When the chain was last stopped: what was approved until then is dead."""

    @property
    def next(self) -> int:
        """The number of the next line."""
        return 0 if self.last is None else self.last.seq + 1

    @property
    def head(self) -> str:
        """The hash that the next line follows on."""
        return genesis(self.workflow_id) if self.last is None else self.last.hash

    @property
    def unfinished(self) -> Mapping[str, Intent]:
        """The intents that have no receipt, in the order in which they were written."""
        return {name: each for name, each in self.intents.items() if name not in self.receipts}

    def stop_for(self, step_id: str | None, actor: str) -> Stop | None:
        """Return a stop that keeps an actor from beginning a step, if there is one."""
        for stop in self.holding.values():
            is_meant = stop.step_id is None or stop.step_id == step_id
            is_delegate = stop.takeover_mode is TakeoverMode.DELEGATE and stop.delegate_to == actor
            if is_meant and not is_delegate:
                return stop
        return None

    def add(self, line: Line) -> None:
        """Add the line that follows."""
        record = line.record
        match record:
            case Confirm():
                self.confirms[record.confirm_id] = Held(record)
                self.granted[record.granted_by.decision] = record.confirm_id
            case Revoke():
                self._end(record.confirm_id, End.REVOKED)
            case Expire():
                self._expire(record.confirm_id)
            case Stop():
                self._stop(record, line.at)
            case Resume():
                del self.holding[record.request_id]
            case Intent():
                self.intents[record.intent_id] = record
                self._use(record)
            case Receipt():
                self.receipts[record.intent_ref] = record
                self.places[record.receipt_id] = line.seq
            case _:
                assert_never(record)
        self.last = line

    def _use(self, intent: Intent) -> None:
        held = self.confirms[intent.authorization_ref]
        for name, amount in intent.spends.items():
            held.spent[name] = plus(held.spent[name], amount)
        held.uses += 1

    def _end(self, confirm_id: str, end: End) -> None:
        held = self.confirms[confirm_id]
        if held.end is None or end is End.REVOKED:
            held.end = end

    def _expire(self, confirm_id: str) -> None:
        if confirm_id in self.confirms:
            self._end(confirm_id, End.EXPIRED)
        else:
            self.expired.add(confirm_id)

    def _stop(self, stop: Stop, at: str) -> None:
        self.stops[stop.request_id] = stop
        self.holding[stop.request_id] = stop
        if stop.stop_scope is StopScope.CHAIN:
            self.stopped_at = at
            for each in self.confirms:
                self._end(each, End.STOPPED)
