"""Run exactly what a person approved, once, and keep a receipt of it.

`Authority` confirms a decision, executes the action it approved, writes a receipt and stops a workflow on request.
`Authority.guard` wraps a tool so that each call goes through these steps. `emitter.authority.proposals` builds the
proposals of single calls, and `emitter.authority.envelopes` emits and enforces authorization envelopes.

Source: the delegation invariants, RFC-0010 (authorization envelope) and AAuth R3 (per-call proposals).
"""

from emitter.authority.audit import ForeignConfirm as ForeignConfirm
from emitter.authority.audit import ForeignReceipt as ForeignReceipt
from emitter.authority.audit import ForeignRecord as ForeignRecord
from emitter.authority.audit import ForeignStop as ForeignStop
from emitter.authority.audit import read_foreign as read_foreign
from emitter.authority.authority import Authority as Authority
from emitter.authority.configuration import ActionOutcome as ActionOutcome
from emitter.authority.configuration import AuthorityHook as AuthorityHook
from emitter.authority.context import RunningAction as RunningAction
from emitter.authority.context import current_action as current_action
from emitter.authority.execution import Effects as Effects
from emitter.authority.execution import Execution as Execution
from emitter.authority.grants import StopRequest as StopRequest
from emitter.authority.grants import StopResult as StopResult
from emitter.authority.guard.briefing import ApprovalRequest as ApprovalRequest
from emitter.authority.guard.briefing import BriefWriter as BriefWriter
from emitter.authority.guard.briefing import abrief_with_model as abrief_with_model
from emitter.authority.guard.briefing import brief_from_template as brief_from_template
from emitter.authority.guard.briefing import brief_with_model as brief_with_model
from emitter.authority.guard.calls import GuardedTool as GuardedTool
from emitter.authority.guard.options import GuardOptions as GuardOptions
from emitter.authority.guard.value_classes import register_argument_class as register_argument_class
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
from emitter.authority.states import ApprovalState as ApprovalState
from emitter.errors import PartiallyDone as PartiallyDone
