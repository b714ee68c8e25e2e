"""The interface of a vendor's batch API, the vendors that have one, and how requests are partitioned into batches."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from emitter.adapters import ADAPTERS
from emitter.bulk.batches import anthropic_batches, google_batches, openai_batches
from emitter.errors import InputError
from emitter.messages import Fault, FaultKind
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.bulk.batches.emissions import Batch, BatchedEmission
    from emitter.bulk.batches.vendor_api import (
        BatchConnection,
        BatchItemResult,
        CandidateBatch,
        PackedRequest,
        UnconfirmedBatch,
        VendorBatchStatus,
    )
    from emitter.messages import Json
    from emitter.profiles import ProviderProfile, WireFormat


class BatchVendor(Protocol):
    """The functions of every vendor module. All of them raise what the SDK raises."""

    def pack_request(self, custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:
        """Return a request in the form that a batch takes."""
        ...

    async def submit(self, connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:
        """Create a batch that can be found by its tag, and return its id."""
        ...

    async def get_status(self, connection: BatchConnection, batch_id: str) -> VendorBatchStatus:
        """Return the state of a batch."""
        ...

    def iter_results(
        self, connection: BatchConnection, batch_id: str, status: VendorBatchStatus
    ) -> AsyncGenerator[BatchItemResult]:
        """Yield the outcomes of an ended batch, in any order."""
        ...

    async def find_candidates(self, connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
        """Return the batches that may be the unconfirmed one."""
        ...

    async def cancel(self, connection: BatchConnection, batch_id: str) -> None:
        """Cancel a batch."""
        ...


BATCH_VENDORS: Mapping[str, BatchVendor] = MappingProxyType(
    {"openai": openai_batches, "anthropic": anthropic_batches, "google": google_batches}
)
"""The vendors with a batch API, by the name of their profile."""


def get_batch_vendor(profile: ProviderProfile) -> BatchVendor:
    """Return the batch API of a profile. Raises ``InputError`` if it has none."""
    if profile.name not in BATCH_VENDORS or profile.batches is None:
        raise InputError(
            f"{profile.title} has no batch interface that emitter supports.",
            hint=f"Leave batch= out, or use a model of {', '.join(BATCH_VENDORS)}.",
        )
    return BATCH_VENDORS[profile.name]


_TAG_LENGTH = 16
_OVERHEAD = 64
"""Bytes that may surround all requests."""


class PendingBatch:
    """A batch that is being filled. The ids of its requests begin with its ``tag``."""

    def __init__(self) -> None:
        self.tag = generate_id()[:_TAG_LENGTH]
        self.size = _OVERHEAD
        self.emissions: list[BatchedEmission] = []
        self.requests: list[PackedRequest] = []

    def add(self, emission: BatchedEmission, request: PackedRequest) -> None:
        """Add a request."""
        self.emissions.append(emission)
        self.requests.append(request)
        self.size += request.size

    def next_id(self) -> str:
        """Return the id of the next request: the tag and its position."""
        return f"{self.tag}-{len(self.requests)}"


def parse_position(custom_id: str | None, tag: str, size: int) -> int | None:
    """Return the position in an id of a batch of ``size`` requests, or None if it belongs to another batch."""
    prefix, _, position = (custom_id or "").rpartition("-")
    if prefix != tag or not (position.isascii() and position.isdecimal()):
        return None
    return int(position) if int(position) < size else None


class BatchBuilder:
    """Fills one batch after the other."""

    def __init__(self, vendor: BatchVendor, connection: BatchConnection, options: Batch) -> None:
        limits = connection.profile.batches
        if limits is None:
            raise RuntimeError("The profile has no batch limits.")
        self._vendor, self._connection = vendor, connection
        self._max_requests = min(limits.requests, options.max_requests or limits.requests)
        self._max_size = min(limits.bytes, options.max_bytes)
        self._pending = PendingBatch()

    @property
    def has_requests(self) -> bool:
        """Whether the current batch has requests."""
        return bool(self._pending.requests)

    def add(self, emission: BatchedEmission) -> PendingBatch | None:
        """Add the next call of an emission. Returns the previous batch if the call did not fit.

        An emission whose request is too large for any batch continues with that fault.
        """
        if emission.next_call is None:
            raise RuntimeError("The emission has no next call.")
        profile, wire = self._connection.profile, self._connection.wire
        body = ADAPTERS[wire].encode(emission.next_call.request, profile.wires[wire])
        request = self._vendor.pack_request(self._pending.next_id(), body, wire)
        if request.size + _OVERHEAD > self._max_size:
            message = f"The request has {request.size} bytes, and a batch may have {self._max_size}."
            emission.advance(Fault(FaultKind.TOO_LARGE, message), by_vendor=False)
            return None
        full = None
        if self._pending.requests and not self._fits(request):
            full = self.flush()
            request = self._vendor.pack_request(self._pending.next_id(), body, wire)
        self._pending.add(emission, request)
        return full

    def _fits(self, request: PackedRequest) -> bool:
        return len(self._pending.requests) < self._max_requests and self._pending.size + request.size <= self._max_size

    def flush(self) -> PendingBatch | None:
        """Return the current batch, and begin another."""
        batch, self._pending = self._pending, PendingBatch()
        return batch if batch.requests else None
