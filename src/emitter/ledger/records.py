"""What stands in the store of a decision, and how it is read again; words of a principal stand apart from it.

Of a free text or an objection there is a hash with a salt of the decision's own, by which the same words are known
when they come again, and by which words that were kept are known to be these. The hash is slow on purpose: whoever
holds the store could otherwise try short answers by the million. The words are an entry of their own, which can be
encrypted and deleted: see ``emitter.ledger.words``.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from types import NoneType
from typing import TYPE_CHECKING, Final, cast

from emitter.decide import Dialogue, FreeText, Malformed, Selected, digest, read
from emitter.decide.canonical import HALF_PAIR
from emitter.decide.digest import chosen, statement
from emitter.errors import InputError, StoreAltered
from emitter.kinds import BINDING_MOMENT
from emitter.ledger.values import Outcome, Pending, Unspoken
from emitter.store import Entry
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.decide import Resolution
    from emitter.ledger.values import Known
    from emitter.wire import Json

NOTED: Final = Entry("emitter.decision.noted", {}, {})
"""What is kept where it only matters that something is told once."""
_EXPIRED: Final = "emitter.decision.expired"
_RESOLVED: Final = "emitter.decision.resolved"
_ELSEWHERE: Final = "Something else wrote into it, or another release; look at the ledger's log."
_OPENED: Final = {
    "decisionId": (str,),
    "agent": (str,),
    "openedAt": (int, float),
    "expiresAt": (int, float, NoneType),
    "actions": (list,),
}
_SALT: Final = re.compile("([0-9a-f]{32})?")
_COST: Final = 2**13
"""Of scrypt: some 20 ms and 8 MB."""


def opened(pending: Pending) -> Entry:
    """Return what is kept of a decision that was opened: all of it, so that another process can resolve it."""
    about: dict[str, Json] = {
        "decisionId": pending.decision_id,
        "digest": pending.digest,
        "agent": pending.agent,
        "openedAt": pending.opened_at,
        "expiresAt": pending.expires_at,
        "actions": list(pending.actions),
    }
    if pending.signed:
        about["signed"] = True
    return Entry(BINDING_MOMENT, about, {"binding_moment": pending.moment.to_json()})


def pending(entry: Entry) -> Pending:
    """Return the decision that an entry tells of; raises ``StoreAltered`` where it is not what was opened."""
    about, moment = entry.outcome, read(entry.envelope.get("binding_moment"))
    if isinstance(moment, Malformed) or digest(moment) != about.get("digest") or not fits(about, _OPENED):
        raise StoreAltered("What the store keeps of a decision is not the envelope that was opened.", hint=_ELSEWHERE)
    return Pending(
        decision_id=about["decisionId"],
        digest=about["digest"],
        moment=moment,
        agent=about["agent"],
        opened_at=about["openedAt"],
        expires_at=about["expiresAt"],
        actions=tuple(cast("list[str | None]", sequence(about["actions"]))),
        signed=about.get("signed") is True,
    )


_ENDED: Final[Mapping[str, tuple[type, ...]]] = {"expiredAt": (int, float)}
_ANSWERED: Final[Mapping[str, tuple[type, ...]]] = {
    "outcome": (str,),
    "digest": (str,),
    "resolvedAt": (int, float),
    "channel": (str,),
}
_CHOSEN: Final = {**_ANSWERED, "index": (int,)}
_SPOKEN: Final = {**_ANSWERED, "salt": (str,), "hash": (str,)}


def fits(members: Mapping[str, Json], types: Mapping[str, tuple[type, ...]]) -> bool:
    """Tell whether each member is there and of one of its types."""
    return all(name in members and type(members[name]) in known for name, known in types.items())


def expired(at: float) -> Entry:
    """Return what is kept of a decision whose time is over."""
    return Entry(_EXPIRED, {"expiredAt": at}, {})


def is_expired(entry: Entry) -> bool:
    """Tell whether an entry says that a decision's time is over, and not how it was resolved."""
    return entry.type == _EXPIRED


def resolved(resolution: Resolution, at: float, channel: str) -> Entry:
    """Return what is kept of a resolution: an option's index, and of words a hash."""
    about: dict[str, Json] = {"outcome": Outcome.of(resolution).value, "digest": resolution.digest}
    if isinstance(resolution, Selected):
        about["index"] = resolution.index
    else:
        salt = os.urandom(16)
        about |= {"salt": salt.hex(), "hash": _hashed(resolution, salt)}
    return Entry(_RESOLVED, {**about, "resolvedAt": at, "channel": channel}, {})


def signed(entry: Entry, pending: Pending, sign: Callable[[str], str]) -> Entry:
    """Return what is kept of a resolution, with a signature of it."""
    signature = sign(statement_in(entry, pending))
    if not isinstance(signature, str) or HALF_PAIR.search(signature):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("sign= returned no text.", hint="It returns a signature of the digest that it is given.")
    return replace(entry, outcome={**entry.outcome, "signature": signature})


def signature(entry: Entry) -> str | None:
    """Return the signature of a resolution, None where it has none."""
    found = entry.outcome.get("signature")
    return found if isinstance(found, str) else None


def statement_in(entry: Entry, pending: Pending) -> str:
    """Return the digest that the signature of a resolution is of."""
    about = entry.outcome
    if about["outcome"] == Outcome.SELECTED.value:
        index: int = about["index"]
        answer = chosen(index, pending.actions[index] if pending.actions else None)
    else:
        answer = {name: about[name] for name in ("outcome", "salt", "hash")}
    return statement(pending.reference, pending.digest, answer, timestamp(about["resolvedAt"]), about["channel"])


def timestamp(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def check_closed(entry: Entry, pending: Pending) -> Entry:
    """Return how a decision ended; raises ``StoreAltered`` where that is not what was written of this decision."""
    about = entry.outcome
    if is_expired(entry) and fits(about, _ENDED):
        return entry
    forms = {each.value: _CHOSEN if each is Outcome.SELECTED else _SPOKEN for each in Outcome}
    form = forms.get(str(about.get("outcome")))
    options = len(pending.moment.question.options)
    is_whole = form is not None and fits(about, form) and about["digest"] == pending.digest
    if not is_whole or about.get("index", 0) not in range(options) or _SALT.fullmatch(about.get("salt", "")) is None:
        raise StoreAltered("What the store keeps of a decision's end is not what was written of it.", hint=_ELSEWHERE)
    return entry


def known(entry: Entry) -> Known:
    """Return what an entry tells of a resolution."""
    named, outcome = str(entry.outcome["digest"]), Outcome(entry.outcome["outcome"])
    return Selected(named, entry.outcome["index"]) if outcome is Outcome.SELECTED else Unspoken(named, outcome)


def tells_of(entry: Entry, resolution: Resolution) -> bool:
    """Tell whether a resolution is the one that an entry was made of."""
    about = entry.outcome
    if about["outcome"] != Outcome.of(resolution).value:
        return False
    if isinstance(resolution, Selected):
        return bool(about["index"] == resolution.index)
    return hmac.compare_digest(str(about["hash"]), _hashed(resolution, bytes.fromhex(about["salt"])))


def said(resolution: FreeText | Dialogue) -> str:
    """Return the principal's own words."""
    return resolution.answer if isinstance(resolution, FreeText) else resolution.objection


def spoken(of: Unspoken, words: str) -> FreeText | Dialogue:
    """Return the resolution that the principal's words make."""
    return FreeText(of.digest, words) if of.outcome is Outcome.FREE_TEXT else Dialogue(of.digest, words)


def _hashed(resolution: FreeText | Dialogue, salt: bytes) -> str:
    return hashlib.scrypt(said(resolution).encode(), salt=salt, n=_COST, r=8, p=1).hex()
