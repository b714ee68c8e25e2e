"""Links to decisions: a token that nobody guesses, and what an answer must carry to come from the page behind it.

Source: OWASP's Cross-Site Request Forgery Prevention Cheat Sheet (the signed double-submit cookie; ``SameSite`` and the
origin are checked beside it).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.errors import BadToken, UnknownDecision

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN: Final = "token"  # noqa: S105  a field's name
"""The field of a form that holds its token."""

_BYTES: Final = 32


@dataclass(frozen=True, slots=True, repr=False)
class Link:
    """One decision's way in; ``cookie`` and ``form`` are what a browser and a form of its page carry."""

    decision_id: str
    token: str
    cookie: str
    form: str

    @property
    def path(self) -> str:
        """The page's path."""
        return f"/decide/{self.token}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name: cookies of one machine are shared by all its ports, so each link has its own."""
        return f"emitter-{hashlib.sha256(self.token.encode()).hexdigest()[:16]}"

    def check(self, cookie: str, fields: Mapping[str, str]) -> None:
        """Raise ``BadToken`` for an answer that does not come from the page."""
        right = _same(cookie, self.cookie), _same(fields.get(TOKEN, ""), self.form)
        if not all(right):
            raise BadToken("The answer does not come from this decision's page.", hint="Open the link again.")


@dataclass(slots=True, repr=False)
class Links:
    """The links of one server."""

    _key: bytes = field(default_factory=lambda: secrets.token_bytes(_BYTES), init=False)
    _links: dict[bytes, Link] = field(default_factory=dict[bytes, Link], init=False)
    _tickets: dict[bytes, Link] = field(default_factory=dict[bytes, Link], init=False)

    def add(self, decision_id: str) -> Link:
        """Return a new link to a decision."""
        token = secrets.token_urlsafe(_BYTES)
        link = Link(decision_id, token, self._derived("cookie", token), self._derived("form", token))
        self._links[_hidden(token)] = link
        return link

    def find(self, token: str) -> Link:
        """Return the link with this token; raises ``UnknownDecision``."""
        return _found(self._links.get(_hidden(token)))

    def ticket(self, link: Link) -> str:
        """Return the path that leads to a link once: for a browser's command line, which others can read."""
        token = secrets.token_urlsafe(_BYTES)
        self._tickets[_hidden(token)] = link
        return f"/open/{token}"

    def peek(self, ticket: str) -> Link:
        """Return the link that a ticket leads to, and leave it unspent; raises ``UnknownDecision``."""
        return _found(self._tickets.get(_hidden(ticket)))

    def redeem(self, ticket: str) -> Link:
        """Return the link that a ticket leads to, and spend it; raises ``UnknownDecision``."""
        return _found(self._tickets.pop(_hidden(ticket), None))

    def _derived(self, purpose: str, token: str) -> str:
        return hmac.new(self._key, f"{purpose}:{token}".encode(), hashlib.sha256).hexdigest()


_AS_TOLD: Final = "Open the link as it was told; it works until the decision is answered."


def _found(link: Link | None) -> Link:
    if link is None:
        raise UnknownDecision("There is nothing here.", hint=_AS_TOLD)
    return link


def _hidden(token: str) -> bytes:
    """Return what a token is looked up by, so that the time of a look-up tells nothing of it."""
    return hashlib.sha256(token.encode()).digest()


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())
