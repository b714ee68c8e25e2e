"""The events of an emission, in OpenWOP's standard vocabulary.

Each record is one payload of ``run-event-payloads.schema.json``; ``RunEvent`` is the document around it.
No event that this library tells on its own carries content, a secret or a word of the model's text, but for the
questions of a clarification, which are there to be read. Field names follow OpenWOP in snake case
and are projected to its camel case.
"""

from emitter.events.document import RunEvent as RunEvent
from emitter.events.document import payload as payload
from emitter.events.records import CALLING as CALLING
from emitter.events.records import REMARK as REMARK
from emitter.events.records import CapBreached as CapBreached
from emitter.events.records import ClarificationRequested as ClarificationRequested
from emitter.events.records import EnvelopeRefusal as EnvelopeRefusal
from emitter.events.records import EnvelopeTruncated as EnvelopeTruncated
from emitter.events.records import Event as Event
from emitter.events.records import InterruptRequested as InterruptRequested
from emitter.events.records import Level as Level
from emitter.events.records import LogAppended as LogAppended
from emitter.events.records import ModelCapabilityInsufficient as ModelCapabilityInsufficient
from emitter.events.records import ModelCapabilitySubstituted as ModelCapabilitySubstituted
from emitter.events.records import NlToFormatEngaged as NlToFormatEngaged
from emitter.events.records import NodeCompleted as NodeCompleted
from emitter.events.records import NodeFailed as NodeFailed
from emitter.events.records import ProviderUsage as ProviderUsage
from emitter.events.records import Reason as Reason
from emitter.events.records import RecoveryApplied as RecoveryApplied
from emitter.events.records import ReplayDiverged as ReplayDiverged
from emitter.events.records import ReplayDivergedAtRefusal as ReplayDivergedAtRefusal
from emitter.events.records import RetryAttempted as RetryAttempted
from emitter.events.records import RetryExhausted as RetryExhausted
