"""What ought to be so of workflows, reckoned from their lines by rules of its own: the seed's words, and no library."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from emitter.errors import (
    AlreadyUsed,
    ConfirmExpired,
    ConfirmNotYetValid,
    ConfirmRevoked,
    InputError,
    LimitExceeded,
    LimitUnstated,
    NotRevocable,
    OtherCall,
    OutOfScope,
    RiskExceeded,
    WorkflowStopped,
)

if TYPE_CHECKING:
    from emitter.authority import ActionRequest, ConfirmRequest

Why = set[type[Exception]]
_RISKS = ["low", "medium", "high"]
_DELEGATED = "delegate_to_other_agent"


def seconds(timestamp: str) -> float:
    """Return the seconds since 1970 of a timestamp."""
    return datetime.fromisoformat(timestamp).timestamp()


def named(decision: str) -> str:
    """Return the id of the confirm that a decision grants."""
    return f"confirm_{hashlib.sha256(f'emitter.confirm:{decision}'.encode()).hexdigest()[:32]}"


@dataclass
class Approval:
    """A principal's choice: its decision, what it grants, when on the clock of whoever recorded it, and when indeed."""

    decision: Any
    terms: ConfirmRequest
    at: float
    truly: float
    confirm_id: str | None = None
    dead: type[Exception] | None = None
    spent: Counter[str] = field(default_factory=Counter[str])
    uses: int = 0

    def is_over(self, at: float, skew: float) -> bool:
        """Tell whether its time is over."""
        return at + skew >= self.at + self.terms.ttl_seconds


@dataclass
class Flow:
    """A workflow."""

    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    at: float = 0.0
    holds: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    stops: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """When the chain was stopped, by its lines, and indeed."""
    intents: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    receipts: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def stopped(self, step_id: str | None, actor: str) -> bool:
        """Tell whether an actor may not begin a step: each stop holds for everybody but who was handed the control."""
        meant = [each for each in self.holds.values() if each.get("step_id") in (None, step_id)]
        return any(each.get("delegate_to") != actor for each in meant)

    def left(self, step_id: str | None = None) -> list[str]:
        """Return the acts that have no receipt, of a step or of all."""
        left = [each for name, each in self.intents.items() if name not in self.receipts]
        return [each["intent_id"] for each in left if step_id in (None, each.get("step_id"))]


@dataclass
class Reckoning:
    """All workflows, all approvals, and whose clocks may differ by how much."""

    skew: float
    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])
    """By the reference of the decision."""
    flows: dict[str, Flow] = field(default_factory=dict[str, Flow])
    called: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def of(self, confirm_id: str) -> Approval:
        """Return the approval that is confirmed under an id, if it is."""
        return next(each for name, each in self.approvals.items() if named(name) == confirm_id)

    def no_confirm(self, approval: Approval, actor: str, clock: float) -> Why:
        """Return why an approval may not be confirmed."""
        flow = self.flows[approval.terms.scope.workflow_id]
        at = max(clock, flow.at)
        is_late = approval.dead is ConfirmExpired or approval.is_over(at, self.skew)
        late = {ConfirmExpired} if is_late else set[Any]()
        early = {ConfirmNotYetValid} if approval.at > at + self.skew else set[Any]()
        is_before_stop = any(approval.at <= stop + self.skew for stop, _ in flow.stops)
        stopped = {WorkflowStopped} if is_before_stop or flow.stopped(None, actor) else set[Any]()
        return late | early | stopped

    def no_intent(self, approval: Approval, request: ActionRequest, actor: str, clock: float) -> Why:
        """Return why an act may not begin."""
        why, terms = self.halted(approval, request, actor, clock), approval.terms
        if not self._is_covered(terms, request):
            why.add(OutOfScope)
        if _RISKS.index(request.risk_level.value) > _RISKS.index(terms.risk_level.value):
            why.add(RiskExceeded)
        if terms.call != request.call:
            why.add(OtherCall)
        if terms.call is not None and approval.uses:
            why.add(AlreadyUsed)
        return why | self._no_room(approval, request)

    def halted(self, approval: Approval, request: ActionRequest, actor: str, clock: float) -> Why:
        """Return why an act may not go on."""
        flow = self.flows[request.workflow_id]
        why: Why = set() if approval.dead is None else {approval.dead}
        if flow.stopped(request.step_id, actor):
            why.add(WorkflowStopped)
        if approval.is_over(max(clock, flow.at), self.skew):
            why.add(ConfirmExpired)
        return why

    def no_revoke(self, approval: Approval) -> Why:
        """Return why a confirm cannot be taken back."""
        revoked = {ConfirmRevoked} if approval.dead is ConfirmRevoked else set[Any]()
        return revoked if approval.terms.revocable else revoked | {NotRevocable}

    def no_resume(self, workflow_id: str, request_id: str) -> Why:
        """Return why a stop cannot be lifted."""
        held = self.flows[workflow_id].holds.get(request_id)
        if held is None:
            return {InputError}
        return set() if held.get("takeover_mode") in {"pause", "human"} else {WorkflowStopped, InputError}

    def add(self, line: dict[str, Any], truly: float) -> None:
        """Add a line that somebody added to a chain."""
        record = line["record"]
        flow = self.flows[record.get("workflow_id") or record["scope"]["workflow_id"]]
        assert seconds(line["at"]) >= flow.at
        flow.lines.append(line)
        flow.at = seconds(line["at"])
        getattr(self, f"_{record['type'].lower()}")(flow, record, truly)

    def _confirm(self, flow: Flow, record: dict[str, Any], truly: float) -> None:
        approval = self.approvals[record["granted_by"]["decision"]]
        assert approval.confirm_id is None
        assert approval.dead is None
        assert {name: record[name] for name in approval.terms.to_json()} == approval.terms.to_json()
        assert all(stop < approval.truly for _, stop in flow.stops) or not self.skew
        assert truly < approval.truly + approval.terms.ttl_seconds or not self.skew
        approval.confirm_id = record["confirm_id"]

    def _revoke(self, _: Flow, record: dict[str, Any], truly: float) -> None:
        del truly
        self.of(record["confirm_id"]).dead = ConfirmRevoked

    def _expire(self, flow: Flow, record: dict[str, Any], truly: float) -> None:
        del truly
        approval = self.of(record["confirm_id"])
        assert approval.dead is None
        assert approval.is_over(flow.at, self.skew)
        approval.dead = ConfirmExpired

    def _stop(self, flow: Flow, record: dict[str, Any], truly: float) -> None:
        flow.holds[record["request_id"]] = record
        if record["stop_scope"] == "step":
            return
        flow.stops.append((flow.at, truly))
        for each in self.approvals.values():
            if each.confirm_id is not None and self.flows[each.terms.scope.workflow_id] is flow:
                each.dead = each.dead or WorkflowStopped

    def _resume(self, flow: Flow, record: dict[str, Any], truly: float) -> None:
        del truly
        del flow.holds[record["request_id"]]

    def _intent(self, flow: Flow, record: dict[str, Any], truly: float) -> None:
        approval = self.of(record["authorization_ref"])
        assert record["intent_id"] not in flow.intents
        assert truly < approval.truly + approval.terms.ttl_seconds or not self.skew
        flow.intents[record["intent_id"]] = record
        approval.spent.update(record["spends"])
        approval.uses += 1
        assert all(approval.spent[name] <= most for name, most in approval.terms.limits.items())
        assert approval.uses == 1 or approval.terms.call is None

    def _receipt(self, flow: Flow, record: dict[str, Any], truly: float) -> None:
        del truly
        intent = flow.intents[record["intent_ref"]]
        assert record["intent_ref"] not in flow.receipts
        assert record["authorization_ref"] == intent["authorization_ref"]
        flow.receipts[record["intent_ref"]] = record

    def _is_covered(self, terms: ConfirmRequest, request: ActionRequest) -> bool:
        scope, verb = terms.scope, request.capability or request.action
        pairs = ((scope.step_ids, request.step_id), (scope.targets, request.target), (scope.capabilities, verb))
        is_within = all(named is None or wanted in named for named, wanted in pairs)
        return is_within and scope.workflow_id == request.workflow_id

    def _no_room(self, approval: Approval, request: ActionRequest) -> Why:
        limits, takes = approval.terms.limits, Counter(request.spends)
        if not request.is_pure:
            takes["max_side_effects"] = max(1, takes["max_side_effects"])
        sums = {name for name in {*limits, *request.spends} if name != "max_side_effects"}
        is_unstated = any(name not in request.spends or (takes[name] and name not in limits) for name in sums)
        is_over = any(approval.spent[name] + takes[name] > most for name, most in limits.items())
        return ({LimitUnstated} if is_unstated else set()) | ({LimitExceeded} if is_over else set())
