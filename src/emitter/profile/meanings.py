"""What the vendors' own words mean: the total stop table and the fault table."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, field_validator

from emitter.profile.facts import Facts, Pattern, Table
from emitter.wire import FaultKind, Stop


class Stops(Facts):
    """The total stop table: each raw reason and what it means.

    A reason counts only where ``reasons`` names it whole. ``families`` name the beginnings, before a colon, of
    reasons that an adapter composes of two fields (``failed:server_error``, ``block:SAFETY``), so that a detail that
    is new keeps the meaning of its family. A family never means ``complete``. Any other reason is ``unknown``.
    """

    reasons: dict[str, Stop]
    families: dict[str, Stop] = Field(default_factory=dict)

    @field_validator("families")
    @classmethod
    def _fail_closed(cls, families: dict[str, Stop]) -> dict[str, Stop]:
        complete = [name for name, stop in families.items() if stop is Stop.COMPLETE]
        if complete:
            raise ValueError(f"{complete[0]} means complete, which only a reason that is named whole may")
        return families

    def meaning(self, raw: str) -> Stop:
        """Return what ``raw`` means; a reason that no row names fails closed."""
        family, colon, _ = raw.partition(":")
        return self.reasons.get(raw) or (self.families.get(family) if colon else None) or Stop.UNKNOWN


class FaultRule(Table):
    """One row of a fault table: every condition given must hold.

    ``status`` is the HTTP status, ``code`` and ``type`` the fields of the error body (``status`` strings
    of Google count as ``type``), ``message`` a regular expression searched in the error message.
    """

    means: Stop | FaultKind
    status: int | None = None
    code: str | None = None
    type: str | None = None
    message: Pattern | None = None

    def fits(self, status: int | None, code: str, kind: str, message: str) -> bool:
        """Tell whether an error with these fields is meant."""
        return (
            self.status in (None, status)
            and self.code in (None, code)
            and self.type in (None, kind)
            and (self.message is None or re.search(self.message, message) is not None)
        )


class Faults(Facts):
    """The fault table: ``rules`` in order, then the plain meaning of the HTTP status.

    A key of ``statuses`` is a status (``"429"``) or a family (``"5xx"``).
    """

    rules: tuple[FaultRule, ...] = ()
    statuses: dict[Annotated[str, Field(pattern=r"^[1-5](\d\d|xx)$")], FaultKind] = Field(default_factory=dict)

    def meaning(self, status: int | None, code: str, kind: str, message: str) -> Stop | FaultKind:
        """Return what the error means."""
        for rule in self.rules:
            if rule.fits(status, code, kind, message):
                return rule.means
        for key in (str(status), f"{str(status)[:1]}xx"):
            if key in self.statuses:
                return self.statuses[key]
        return FaultKind.SERVER
