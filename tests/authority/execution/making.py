"""What the tests of the authority ask for, approve and do."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import ActionRequest, Authority, ConfirmRequest, Execution, RiskLevel, Scope
from emitter.authority.chain import verify_chain
from emitter.decisions import select_option
from tests.decisions.ledger.asking import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.authority import Confirm
    from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision

_numbers = count()
S256 = "A" * 43


def asked(**terms: Any) -> ConfirmRequest:
    """Return a request for authority over workflow ``w``, for ten minutes; ``scope`` may leave the workflow out."""
    scope = {"workflow_id": "w", **terms.pop("scope", {})}
    defaults = {"limits": {}, "ttl_seconds": 600, "risk_level": RiskLevel.HIGH}
    return ConfirmRequest.from_members(**{**defaults, "scope": Scope.from_members(**scope), **terms})


def act(intent_id: str = "i", **members: Any) -> ActionRequest:
    """Return a request to write to mom, in workflow ``w``."""
    defaults = {"workflow_id": "w", "action": "send", "target": "mom"}
    return ActionRequest.from_members(intent_id=intent_id, **{**defaults, **members})


def work(request: ActionRequest | str = "i", tool: Callable[[], Any] = lambda: "done", **rest: Any) -> Execution:
    """Return an act that can be done."""
    return Execution(act(request) if isinstance(request, str) else request, tool, **rest)


def opened(authority: Authority, *actions: str | None, **rest: Any) -> PendingDecision:
    """Put a decision between what is granted and what is not."""
    return authority.ledger.open(moment(f"Number {next(_numbers)}?"), actions=actions, **rest)


def approved(authority: Authority, request: ConfirmRequest) -> ResolvedDecision:
    """Have a principal choose the option that grants what is asked for."""
    pending = opened(authority, request.digest, None)
    return authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))


def granted(authority: Authority, **terms: Any) -> Confirm:
    """Ask for authority, have it approved, and confirm it."""
    request = asked(**terms)
    return authority.confirm(approved(authority, request), request)


def nested(depth: int) -> Any:
    """Return a list in lists, so deep."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def shared(levels: int) -> Any:
    """Return a value of few objects, which would be 2 ** levels if each were written wherever it stands."""
    value: Any = 1
    for _ in range(levels):
        value = [value, value]
    return value


def types(authority: Authority, workflow_id: str = "w") -> list[str]:
    """Return the types of a chain's records, each of whose lines holds."""
    return [each.record.type for each in verify_chain(authority.lines(workflow_id))]


@contextmanager
def refused(
    authority: Authority, kind: type[Exception], workflow_id: str = "w"
) -> Generator[pytest.ExceptionInfo[Any]]:
    """See that an error of just this kind is raised, and that nothing was added to a chain by what raised it."""
    before = list(authority.lines(workflow_id))
    with pytest.raises(kind) as found:
        yield found
    assert type(found.value) is kind
    assert list(authority.lines(workflow_id)) == before
