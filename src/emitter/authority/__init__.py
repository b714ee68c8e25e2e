"""From decision to act: what was approved, and nothing else, is what happens, and there is a receipt of it.

``Authority`` confirms what a principal chose, stops, does an act once and receipts it; ``Authority.guard`` does all of
it around a tool. ``emitter.authority.proposal`` has the proposals of single calls, ``emitter.authority.envelope`` the
authorization envelope.

Source: the delegation invariants, RFC-0010 (authorization envelope), and AAuth R3 (per-call proposals). What they leave
open, and is ours, says so where it stands.
"""

from emitter.authority.acting import Work as Work
from emitter.authority.authority import Authority as Authority
from emitter.authority.guard import Asked as Asked
from emitter.authority.guard import Brief as Brief
from emitter.authority.guard import Guarded as Guarded
from emitter.authority.guard import Guarding as Guarding
from emitter.authority.guard import aemitted as aemitted
from emitter.authority.guard import emitted as emitted
from emitter.authority.guard import template as template
from emitter.authority.hooks import ActionResult as ActionResult
from emitter.authority.hooks import Hook as Hook
from emitter.authority.records import ActionRequest as ActionRequest
from emitter.authority.records import BoundCall as BoundCall
from emitter.authority.records import Confirm as Confirm
from emitter.authority.records import ConfirmRequest as ConfirmRequest
from emitter.authority.records import Intent as Intent
from emitter.authority.records import Line as Line
from emitter.authority.records import Receipt as Receipt
from emitter.authority.records import Result as Result
from emitter.authority.records import Resume as Resume
from emitter.authority.records import Revoke as Revoke
from emitter.authority.records import RiskLevel as RiskLevel
from emitter.authority.records import Scope as Scope
from emitter.authority.records import Stop as Stop
from emitter.authority.records import StopScope as StopScope
from emitter.authority.records import TakeoverMode as TakeoverMode
from emitter.authority.records.foreign import ForeignConfirm as ForeignConfirm
from emitter.authority.records.foreign import ForeignReceipt as ForeignReceipt
from emitter.authority.records.foreign import ForeignRecord as ForeignRecord
from emitter.authority.records.foreign import ForeignStop as ForeignStop
from emitter.authority.records.foreign import read_foreign as read_foreign
from emitter.authority.running import Act as Act
from emitter.authority.running import current_act as current_act
from emitter.authority.stopping import Stopped as Stopped
from emitter.authority.stopping import StopRequest as StopRequest
from emitter.authority.writing import Effects as Effects
from emitter.errors import PartiallyDone as PartiallyDone
