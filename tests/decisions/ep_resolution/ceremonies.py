"""A ceremony, a key, and what a relying party pins of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from emitter.decisions.canonical_json import digest_of
from emitter.decisions.ep_resolution import Ceremony, build_ep_resolution
from tests.decisions.ep_resolution.authenticator import ORIGIN, RP_ID, Authenticator
from tests.decisions.resolution.moments import moment

MOMENT = moment()
RELEASE = digest_of({"tool": "release", "amount": 100})
HOLD = digest_of({"tool": "hold"})
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
CEREMONY = Ceremony(
    principal="ep:principal:ada",
    principal_key_id="ep:key:ada#1",
    initiator="spiffe://operator.example/agent/7",
    nonce="res_1",
    issued_at=NOW,
    expires_at=NOW + timedelta(minutes=10),
    actions=(RELEASE, HOLD),
)
KEY = Authenticator()


def expected(action: str = RELEASE, option: int = 0, **changes: Any) -> dict[str, Any]:
    """Return what a relying party pins for an action."""
    return {
        "bindingMoment": MOMENT.to_json(),
        "expectedActionHash": action,
        "expectedSelectedOption": option,
        "expectedNonce": CEREMONY.nonce,
        "expectedInitiator": CEREMONY.initiator,
        "evaluationTime": "2026-11-20T12:05:00Z",
        "principalKeys": {CEREMONY.principal_key_id: {"principal": CEREMONY.principal, "public_key": KEY.public_key}},
        "rpId": RP_ID,
        "allowedOrigins": [ORIGIN],
        **changes,
    }


def exported(resolution: Any, **changes: Any) -> dict[str, Any]:
    """Return the signed record of a resolution."""
    return build_ep_resolution(resolution, MOMENT, ceremony=CEREMONY, authenticator=KEY, **changes)
