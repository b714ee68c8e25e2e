"""What is written down between a decision and an act; each record is a closed, frozen object.

Source: the delegation invariants (CONFIRM, STOP, RECEIPT). What is ours says so.
"""

from emitter.authority.records.form import RiskLevel as RiskLevel
from emitter.authority.records.grant import BoundCall as BoundCall
from emitter.authority.records.grant import Confirm as Confirm
from emitter.authority.records.grant import ConfirmRequest as ConfirmRequest
from emitter.authority.records.grant import Expire as Expire
from emitter.authority.records.grant import Granted as Granted
from emitter.authority.records.grant import Revoke as Revoke
from emitter.authority.records.grant import Scope as Scope
from emitter.authority.records.line import Chained as Chained
from emitter.authority.records.line import Line as Line
from emitter.authority.records.receipt import ActionRequest as ActionRequest
from emitter.authority.records.receipt import Intent as Intent
from emitter.authority.records.receipt import Receipt as Receipt
from emitter.authority.records.receipt import Result as Result
from emitter.authority.records.stop import Resume as Resume
from emitter.authority.records.stop import Stop as Stop
from emitter.authority.records.stop import StopScope as StopScope
from emitter.authority.records.stop import TakeoverMode as TakeoverMode
