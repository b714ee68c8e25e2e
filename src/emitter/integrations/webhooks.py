"""Push the events of decisions to a service of yours, in the form of Standard Webhooks. Needs the extra ``webhooks``.

Each event of the ledger is delivered in order and at least once, by any of your processes: the store records each
delivery. A delivery has the digest of the envelope, but no words of the envelope or of the principal. If the record of
a decision cannot be read, its event has an ``error`` instead of the answer, and the others are delivered.

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, read 2026-11-23
through standardwebhooks 1.1.0.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import importlib
import json
import time
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, cast

from emitter.decisions import ledger_log
from emitter.decisions.ledger_entries import MARKER_ENTRY, ResolvedDecision, pending_of
from emitter.decisions.resolution import Selected
from emitter.errors import EmitterError, InputError, MissingExtra, StoreAltered, UnknownDecision, UnsignedAnswer
from emitter.events import Level, LogAppended, RunEvent, format_timestamp
from emitter.messages import as_mapping
from emitter.stores import NewEntry
from emitter.strict_http import ExchangeFailed, exchange
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.decisions.ledger import Ledger
    from emitter.messages import Json

try:
    from standardwebhooks import Webhook
except ImportError as error:
    raise MissingExtra("Webhooks need standardwebhooks.", extra="webhooks") from error
EVENT_TYPES: Final = (
    ledger_log.OPENED_MESSAGE,
    ledger_log.APPROVED_MESSAGE,
    ledger_log.DETAIL_ASKED_MESSAGE,
    ledger_log.RESOLVED_MESSAGE,
    ledger_log.UNRESOLVED_MESSAGE,
)
"""The types of the events that are delivered. ``decision.unresolved`` covers expiry and withdrawal."""
_DELIVERED_MESSAGE: Final = "webhook.delivered"
_MIN_SECRET_BYTES: Final = 24
_TIMEOUT_SECONDS: Final = 15.0
_GONE: Final = 410


class WebhookFailed(EmitterError):
    """The endpoint did not accept a delivery. The next ``Webhooks.deliver`` starts with it again."""


class Webhooks:
    """Delivers the events of a ledger to one endpoint.

    Args:
        ledger: The ledger.
        url: The endpoint: ``https``, or ``http`` on loopback.
        secret: The shared secret: ``whsec_`` and at least 24 bytes in base64.
        inbox_url: Where the inbox is mounted, for a link to each decision, such as ``https://x.example/inbox``.
        attempts: How often a delivery is tried before ``deliver`` gives up.
        sleep: Waits for seconds between two attempts.
        transport: The ``httpx2`` transport, for tests.

    Raises:
        InputError: The URL or the secret is invalid.
    """

    def __init__(  # noqa: PLR0913  most have a default
        self,
        ledger: Ledger,
        url: str,
        secret: str,
        *,
        inbox_url: str | None = None,
        attempts: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        transport: Any = None,
    ) -> None:
        self._ledger = ledger
        self._url = _check_url(url)
        self._webhook = Webhook(_decode_secret(secret))
        self._inbox_url = inbox_url
        self._attempts = attempts
        self._sleep = sleep
        self._transport = transport
        self._run_id = f"emitter.webhooks.{hashlib.sha256(url.encode()).hexdigest()[:32]}"
        self._delivered_to = -1

    def deliver(self) -> int:
        """Deliver the events that were not delivered yet, and return the number of deliveries.

        Call it at regular intervals. A delivery is repeated after an exponential delay; one process at a time makes it.
        The receiver recognises a repeated delivery by its ``webhook-id``.

        Raises:
            WebhookFailed: The endpoint is gone, or did not accept a delivery after all attempts.
            StoreFailed: The store cannot be used.
        """
        self._ledger.last_sequence()  # records what has expired
        count = 0
        for document in self._ledger.store.events(ledger_log.LEDGER_RUN_ID, self._find_cursor()):
            if as_mapping(document["payload"]).get("message") in EVENT_TYPES:
                stored = self._ledger.store.get_or_create(
                    self._run_id, str(document["eventId"]), partial(self._deliver_once, document)
                )
                count += stored.created
            self._delivered_to = cast("int", document["sequence"])
        return count

    def _find_cursor(self) -> int:
        """Return the number of the latest event that was delivered, by this process or another."""
        if self._delivered_to < 0:
            marks = self._ledger.store.events(self._run_id)
            lines = (as_mapping(as_mapping(mark["payload"]).get("fields")).get("line") for mark in marks)
            self._delivered_to = max((line for line in lines if isinstance(line, int)), default=-1)
        return self._delivered_to

    def _deliver_once(self, document: Mapping[str, Json]) -> NewEntry:
        """Deliver an event, and return the marker to store."""
        # The marker is stored after the delivery: a process that is killed in between delivers the event again.
        self._send(str(document["eventId"]), json.dumps(self._payload(document), separators=(",", ":")))
        event = LogAppended(Level.INFO, _DELIVERED_MESSAGE, {"line": document["sequence"]})
        timestamp = format_timestamp(time.time())
        causation_id = str(document["causationId"])
        mark = RunEvent(event, generate_id(), self._run_id, "webhooks", timestamp, 0, causation_id)
        return NewEntry(MARKER_ENTRY, (mark,))

    def _payload(self, document: Mapping[str, Json]) -> dict[str, Json]:
        payload, reference = as_mapping(document["payload"]), str(document["causationId"])
        data: dict[str, Json] = {"reference": reference, **as_mapping(payload.get("fields"))}
        try:
            decision = self._ledger.find_by_reference(reference)
        except (UnsignedAnswer, StoreAltered, UnknownDecision) as error:
            # The decisions after this one are delivered nevertheless.
            data["error"] = _RECORD_ERRORS[type(error)]
            return {"type": payload.get("message"), "timestamp": document["timestamp"], "data": data}
        data = {"decision_id": pending_of(decision).decision_id, **data}
        if payload.get("message") == ledger_log.RESOLVED_MESSAGE and isinstance(decision, ResolvedDecision):
            data["principal"] = decision.principal
            if isinstance(decision.resolution, Selected):
                data |= {"option": decision.resolution.index, "action": decision.action}
        if self._inbox_url is not None:
            data["link"] = f"{self._inbox_url.rstrip('/')}/decisions/{reference}"
        return {"type": payload.get("message"), "timestamp": document["timestamp"], "data": data}

    def _send(self, message_id: str, body: str) -> None:
        """Send a delivery until it is accepted."""
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential  # noqa: PLC0415  39 ms

        retrying = Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=wait_random_exponential(0.5, 60),
            retry=retry_if_exception_type(_NotAccepted),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            retrying(self._send_once, message_id, body)
        except _NotAccepted as error:
            raise WebhookFailed(f"The endpoint accepted no delivery in {self._attempts} attempts: {error}") from None

    def _send_once(self, message_id: str, body: str) -> None:
        httpx2 = _import_httpx2()
        now = datetime.now(UTC)
        headers = {
            "content-type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._webhook.sign(message_id, now, body),
        }
        request = httpx2.Request("POST", self._url, content=body.encode(), headers=headers)
        try:
            # The status is all that counts, so the body of the answer is not read.
            answer = exchange(request, seconds=_TIMEOUT_SECONDS, max_bytes=None, transport=self._transport)
        except ExchangeFailed as error:
            raise _NotAccepted(f"{error}.") from None
        status = answer.status
        if status == _GONE:
            raise WebhookFailed("The endpoint is gone (status 410).", hint="Stop delivering to it.")
        if status not in range(200, 300):
            raise _NotAccepted(f"status {status}.")


_RECORD_ERRORS: Final[Mapping[type[Exception], str]] = {
    UnsignedAnswer: "unsigned_answer",
    StoreAltered: "store_altered",
    UnknownDecision: "unknown_decision",
}
"""The ``error`` of an event whose decision cannot be read."""


class _NotAccepted(Exception):
    """A delivery that may be tried again."""


def _import_httpx2() -> Any:
    try:
        return importlib.import_module("httpx2")
    except ImportError as error:
        raise MissingExtra("Webhooks need httpx2.", extra="webhooks") from error


def _check_url(url: str) -> str:
    httpx2 = _import_httpx2()
    try:
        parts = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise InputError("url cannot be read.", hint="Pass an https address.") from error
    if parts.host and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.host))):
        return url
    raise InputError("url must be an https address.", hint="Use http on loopback only.")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _decode_secret(secret: str) -> bytes:
    try:
        decoded = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if not secret.startswith("whsec_") or len(decoded) < _MIN_SECRET_BYTES:
        raise InputError(
            f"The webhook's secret must be whsec_ and at least {_MIN_SECRET_BYTES} bytes in base64.",
            hint="Make one with: echo whsec_$(openssl rand -base64 32)",
        )
    return decoded
