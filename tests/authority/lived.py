"""A workflow that had all that can befall one, its chain, and how one forges it: with hashes that hold."""

from __future__ import annotations

import copy
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from emitter.authority import Authority, StopRequest
from emitter.authority.audit import export_lines
from emitter.authority.chain import compute_genesis_hash
from emitter.authority.signing import make_signer, new_key, public_jwk
from emitter.decisions.canonical_json import CanonicalProfile, digest_of
from emitter.errors import ConfirmExpired
from emitter.stores import MemoryStore
from tests.authority.execution.making import act, granted, work
from tests.decisions.ledger.asking import Hand

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.stores import Store

KEY = new_key()
PUBLIC = public_jwk(KEY)
TYPES = "CONFIRM INTENT RECEIPT REVOKE CONFIRM STOP RESUME CONFIRM INTENT RECEIPT EXPIRE CONFIRM INTENT".split()  # noqa: SIM905  one line
"""What the chain has, in its order."""

Document = dict[str, Any]


class Killed(BaseException):
    """The process ends amid an act."""


def killed() -> None:
    """Be a tool amid which the process ends."""
    raise Killed


def failed() -> None:
    """Be a tool that fails."""
    raise LookupError("nobody may read this")


def lived(store: Store, workflow_id: str = "w", sign: Callable[[str], str] | None = None) -> Authority:
    """Return an authority under which a workflow had all that can befall one, a second for each record."""
    clock = Hand()
    authority = Authority(store, clock=_ticking(clock), sign=sign)
    scope = {"workflow_id": workflow_id}
    paid = {"workflow_id": workflow_id, "capability": "purchase", "risk_level": "high", "spends": {"budget_usd": 742}}

    buying = {**scope, "capabilities": ("purchase",)}
    first = granted(authority, scope=buying, limits={"budget_usd": 800, "max_side_effects": 3})
    authority.execute(first.confirm_id, work(act("paid", **paid)))
    authority.revoke(first.confirm_id, reason="It was enough.")
    granted(authority, scope=scope)
    paused = authority.stop(StopRequest(workflow_id, takeover_mode="pause", reason="Let me look."))
    authority.resume(workflow_id, paused.stop.request_id)
    short = granted(authority, scope={**scope, "targets": ("mom",)}, ttl_seconds=60)
    with suppress(LookupError):
        authority.execute(short.confirm_id, work(act("failed", workflow_id=workflow_id), failed))
    clock.now += 60
    with suppress(ConfirmExpired):
        authority.execute(short.confirm_id, work(act("late", workflow_id=workflow_id)))
    last = granted(authority, scope=scope)
    with suppress(Killed):
        authority.execute(last.confirm_id, work(act("killed", workflow_id=workflow_id), killed))
    return authority


@cache
def _chains(workflow_id: str, *, signed: bool) -> tuple[Document, ...]:
    sign = make_signer(KEY) if signed else None
    return tuple(lived(MemoryStore(), workflow_id, sign).lines(workflow_id))


def chain(workflow_id: str = "w", *, signed: bool = False) -> list[Document]:
    """Return the lines of its chain, which may be changed."""
    return copy.deepcopy(list(_chains(workflow_id, signed=signed)))


def text(lines: list[Document]) -> bytes:
    """Return the lines as they stand in a file."""
    return b"".join(export_lines(lines))


def forged(lines: list[Document], workflow_id: str = "w") -> list[Document]:
    """Return the lines with numbers and hashes that hold, as anybody can make them; signatures stay."""
    prev, made = compute_genesis_hash(workflow_id), list[Document]()
    for number, each in enumerate(lines):
        made.append(hashed({**each, "seq": number, "prev": prev}))
        prev = made[-1]["hash"]
    return made


def hashed(line: Document) -> Document:
    """Return a line with the hash that it must have."""
    members = {name: value for name, value in line.items() if name not in {"hash", "signature"}}
    return {**line, "hash": digest_of(members, CanonicalProfile.WIRE)}


def _ticking(clock: Hand) -> Callable[[], float]:
    def now() -> float:
        clock.now += 1
        return clock.now

    return now
