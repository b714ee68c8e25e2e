"""The seven hooks, by the names that the seed gives them; each is a method, and one may have any of them.

Source: delegation-invariants, "Stable hook points". They are called synchronously; around an async tool a hook may be a
coroutine function, and is waited for. What a hook raises before an act stops the act, and nothing was recorded; what
one raises after an act is told as an event: the act happened, and so did its receipt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

if TYPE_CHECKING:
    from emitter.authority.records import ActionRequest, Confirm, ConfirmRequest, Receipt, Stop

NAMES: Final = (
    "before_confirm",
    "after_confirm",
    "before_execute",
    "after_execute",
    "on_stop",
    "on_takeover",
    "emit_receipt",
)


@dataclass(frozen=True, slots=True)
class ActionResult:
    """An act that ended: what was asked for, its receipt, and what it returned (None where it raised)."""

    request: ActionRequest
    receipt: Receipt
    value: Any = None


@runtime_checkable
class BeforeConfirm(Protocol):
    """Called with what is about to be confirmed; raises where it shall not be.

    Around a guarded call it is called before the principal is asked, and again before the confirm is written.
    """

    def before_confirm(self, confirm_request: ConfirmRequest, /) -> object:
        """Look at it, and raise to stop it."""
        ...


@runtime_checkable
class AfterConfirm(Protocol):
    """Called once a confirm stands in the chain."""

    def after_confirm(self, confirm_record: Confirm, /) -> object:
        """Take notice."""
        ...


@runtime_checkable
class BeforeExecute(Protocol):
    """Called before an act's intent is written; raises where it shall not begin."""

    def before_execute(self, action_request: ActionRequest, /) -> object:
        """Look at it, and raise to stop it."""
        ...


@runtime_checkable
class AfterExecute(Protocol):
    """Called once an act has ended and has its receipt."""

    def after_execute(self, action_result: ActionResult, /) -> object:
        """Take notice."""
        ...


@runtime_checkable
class OnStop(Protocol):
    """Called once a stop stands in the chain: nothing begins any more."""

    def on_stop(self, stop_request: Stop, /) -> object:
        """Tell whoever runs."""
        ...


@runtime_checkable
class OnTakeover(Protocol):
    """Called after ``on_stop``, where the stop has a takeover mode."""

    def on_takeover(self, takeover_request: Stop, /) -> object:
        """Hand the control over."""
        ...


@runtime_checkable
class EmitReceipt(Protocol):
    """Called with every receipt, once it stands in the chain."""

    def emit_receipt(self, receipt_record: Receipt, /) -> object:
        """Send it on."""
        ...


Hook = BeforeConfirm | AfterConfirm | BeforeExecute | AfterExecute | OnStop | OnTakeover | EmitReceipt
