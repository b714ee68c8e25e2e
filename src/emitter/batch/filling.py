"""Putting requests together into batches that the vendor takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.adapters.adapter import ADAPTERS
from emitter.sinks import new_id
from emitter.wire import Fault, FaultKind

if TYPE_CHECKING:
    from emitter.batch.settings import Batch
    from emitter.batch.underway import Underway
    from emitter.batch.vendor import Vendor
    from emitter.batch.vendor.shapes import Channel, Packed

_TAG = 16
_AROUND = 64
"""Bytes that may stand around all requests."""


class Lot:
    """A batch that is being put together; every id in it begins with its ``tag``."""

    def __init__(self) -> None:
        self.tag = new_id()[:_TAG]
        self.size = _AROUND
        self.emissions: list[Underway] = []
        self.requests: list[Packed] = []

    def add(self, emission: Underway, request: Packed) -> None:
        """Add a request."""
        self.emissions.append(emission)
        self.requests.append(request)
        self.size += request.size

    def next_id(self) -> str:
        """Return the id of the next request: the tag and its place."""
        return f"{self.tag}-{len(self.requests)}"


def place_of(ident: str | None, tag: str, size: int) -> int | None:
    """Return the place that an id of a batch of ``size`` stands for, or None where it is none of its."""
    begin, _, place = (ident or "").rpartition("-")
    if begin != tag or not (place.isascii() and place.isdecimal()):
        return None
    return int(place) if int(place) < size else None


class Filling:
    """Fills one batch after the other."""

    def __init__(self, vendor: Vendor, channel: Channel, how: Batch) -> None:
        limits = channel.profile.batches
        if limits is None:
            raise RuntimeError("The profile says nothing of batches.")
        self._vendor, self._channel = vendor, channel
        self._requests = min(limits.requests, how.max_requests or limits.requests)
        self._size = min(limits.bytes, how.max_bytes)
        self._lot = Lot()

    @property
    def begun(self) -> bool:
        """Whether the batch that is being filled holds anything."""
        return bool(self._lot.requests)

    def add(self, emission: Underway) -> Lot | None:
        """Add the call that an emission is due; return the batch before it, where it no longer fits in there.

        An emission whose request is too large for any batch goes on with that fault.
        """
        if emission.due is None:
            raise RuntimeError("The emission is due no call.")
        profile, wire = self._channel.profile, self._channel.wire
        body = ADAPTERS[wire].encode(emission.due.request, profile.wires[wire])
        request = self._vendor.packed(self._lot.next_id(), body, wire)
        if request.size + _AROUND > self._size:
            told = f"The request has {request.size} bytes, and a batch may have {self._size}."
            emission.go(Fault(FaultKind.TOO_LARGE, told), answered=False)
            return None
        full = None
        if self._lot.requests and not self._fits(request):
            full = self.take()
            request = self._vendor.packed(self._lot.next_id(), body, wire)
        self._lot.add(emission, request)
        return full

    def _fits(self, request: Packed) -> bool:
        return len(self._lot.requests) < self._requests and self._lot.size + request.size <= self._size

    def take(self) -> Lot | None:
        """Return the batch as far as it is filled, and begin another."""
        lot, self._lot = self._lot, Lot()
        return lot if lot.requests else None
