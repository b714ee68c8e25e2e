"""A secret of the tests, and an envelope that holds it."""

from __future__ import annotations

from typing import Any

from tests.openwop.asking import envelope

VALUE, SECRET = "sk-live-77f0-quoxil-4c1e", "payment-key"
CANARIES = [{"value": VALUE, "secretId": SECRET}]
MARK = f"[REDACTED:{SECRET}]"


def error(message: str, **more: Any) -> dict[str, Any]:
    """Return a report of an error."""
    return envelope("error", payload={"code": "tool_failed", "message": message, **more})
