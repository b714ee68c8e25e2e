"""The interface of the vendors' batch modules, and the values that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from emitter.messages import ExpectedAnswer, Fault, FaultKind

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from emitter.deadline import Deadline
    from emitter.messages import CallResult, Json
    from emitter.policy import Policy
    from emitter.profiles import Profile, WireFormat


@dataclass(frozen=True, slots=True)
class BatchConnection:
    """The client, profile and wire format that requests go through.

    ``policy`` limits each of them, and ``deadline`` the whole run.
    """

    client: Any
    profile: Profile
    wire: WireFormat
    policy: Policy
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class SubmittedBatch:
    """A batch at the vendor.

    Attributes:
        batch_id: The vendor's id.
        size: The number of its requests, which limits the size of its results.
        expect: Returns what the answer to a request must match, by the request's custom id.
    """

    batch_id: str
    size: int
    expect: Callable[[str], ExpectedAnswer] = lambda _: ExpectedAnswer()


@dataclass(frozen=True, slots=True)
class PackedRequest:
    """A request in the form that a batch takes, and its size in bytes."""

    payload: Any
    size: int


@dataclass(frozen=True, slots=True)
class RejectedRequest:
    """A reason why the vendor rejected a whole batch. ``request_index`` is the invalid request, counted from 0."""

    fault: Fault
    request_index: int | None = None


@dataclass(frozen=True, slots=True)
class VendorBatchStatus:
    """The state of a batch.

    ``done`` and ``failed`` count requests, as far as the vendor reports them. At the end, ``missing_fault`` is the
    outcome of a request without a result, ``invalid`` has the reasons why the batch was rejected, and ``result_source``
    is what the vendor's module reads the results from.
    """

    has_ended: bool
    done: int = 0
    failed: int = 0
    missing_fault: Fault | None = None
    invalid: tuple[RejectedRequest, ...] = ()
    result_source: Any = None


@dataclass(frozen=True, slots=True)
class BatchItemResult:
    """The outcome of one request. ``custom_id`` is None if it is unreadable."""

    custom_id: str | None
    answer: CallResult | None = None


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """A batch whose submission may be the unconfirmed one. ``is_ours`` is None while that is unknown."""

    batch_id: str
    is_ours: bool | None


@dataclass(frozen=True, slots=True)
class UnconfirmedBatch:
    """A batch whose submission was not confirmed: its tag, its number of requests, and the time."""

    tag: str
    size: int
    submitted_at: dt.datetime


class BatchVendor(Protocol):
    """The functions of every vendor module. Those that send raise ``BatchRequestFailed``."""

    def pack_request(self, custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:
        """Return a request in the form that a batch takes."""
        ...

    async def submit(self, connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:
        """Create a batch that can be found by its tag, and return its id."""
        ...

    async def get_status(self, connection: BatchConnection, batch: SubmittedBatch) -> VendorBatchStatus:
        """Return the state of a batch."""
        ...

    def iter_results(
        self, connection: BatchConnection, batch: SubmittedBatch, status: VendorBatchStatus
    ) -> AsyncGenerator[BatchItemResult]:
        """Yield the outcomes of an ended batch, in any order."""
        ...

    async def find_candidates(self, connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
        """Return the batches that may be the unconfirmed one."""
        ...

    async def cancel(self, connection: BatchConnection, batch_id: str) -> None:
        """Cancel a batch."""
        ...


HTTP_OK, HTTP_SERVER_ERROR = 200, 500
EXPIRED = Fault(FaultKind.TIMEOUT, "The batch expired before the vendor processed this request.")
CANCELLED = Fault(FaultKind.CANCELLED, "The batch was cancelled before the vendor processed this request.")
MISSING_RESULT = Fault(FaultKind.PROTOCOL, "The results of the batch do not contain this request.")
