"""Secret links to decisions, and the cookie and form token that an answer must carry.

Source: OWASP's Cross-Site Request Forgery Prevention Cheat Sheet (signed double-submit cookie).
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

TOKEN_FIELD: Final = "token"  # noqa: S105  the name of a field
"""The form field that holds the form's token."""
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True, repr=False)
class Link:
    """The secret link to one decision, with the values that its page's cookie and forms carry."""

    decision_id: str
    token: str
    cookie: str
    form_token: str

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"/decide/{self.token}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name. Each link has its own, because all ports of a host share their cookies."""
        return f"emitter-{hashlib.sha256(self.token.encode()).hexdigest()[:16]}"

    def check(self, cookie: str, fields: Mapping[str, str]) -> None:
        """Raise ``BadToken`` if an answer does not come from the page."""
        checks = (  # both are always compared
            _constant_time_equal(cookie, self.cookie),
            _constant_time_equal(fields.get(TOKEN_FIELD, ""), self.form_token),
        )
        if not all(checks):
            raise BadToken("The answer does not come from this decision's page.", hint="Open the link again.")


@dataclass(slots=True, repr=False)
class Links:
    """The links of one server."""

    _key: bytes = field(default_factory=lambda: secrets.token_bytes(_TOKEN_BYTES), init=False)
    _links: dict[bytes, Link] = field(default_factory=dict[bytes, Link], init=False)
    _tickets: dict[bytes, Link] = field(default_factory=dict[bytes, Link], init=False)

    def add(self, decision_id: str) -> Link:
        """Return a new link to a decision."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        link = Link(decision_id, token, self._derive("cookie", token), self._derive("form", token))
        self._links[_hash_token(token)] = link
        return link

    def find(self, token: str) -> Link:
        """Return the link with this token, or raise ``UnknownDecision``."""
        return _require_link(self._links.get(_hash_token(token)))

    def ticket(self, link: Link) -> str:
        """Return a path that redirects to a link once. It is for a browser's command line, which others can read."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._tickets[_hash_token(token)] = link
        return f"/open/{token}"

    def peek(self, ticket: str) -> Link:
        """Return a ticket's link without using the ticket up, or raise ``UnknownDecision``."""
        return _require_link(self._tickets.get(_hash_token(ticket)))

    def redeem(self, ticket: str) -> Link:
        """Return a ticket's link, and use the ticket up, or raise ``UnknownDecision``."""
        return _require_link(self._tickets.pop(_hash_token(ticket), None))

    def _derive(self, purpose: str, token: str) -> str:
        return hmac.new(self._key, f"{purpose}:{token}".encode(), hashlib.sha256).hexdigest()


_LINK_HINT: Final = "Open the link exactly as you received it. It works until the decision is answered."


def _require_link(link: Link | None) -> Link:
    if link is None:
        raise UnknownDecision("There is nothing here.", hint=_LINK_HINT)
    return link


def _hash_token(token: str) -> bytes:
    """Return the key for looking a token up, so that the lookup's timing reveals nothing about it."""
    return hashlib.sha256(token.encode()).digest()


def _constant_time_equal(actual: str, expected: str) -> bool:
    return hmac.compare_digest(actual.encode(), expected.encode())
