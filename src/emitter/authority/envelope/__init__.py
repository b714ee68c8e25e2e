"""The authorization envelope: emitted, read, handled and enforced.

Source: RFC-0010, "Authorization Envelope". A model proposes (``draft``), the host authorizes, a client handles every
kind. Its types are in ``emitter.kinds.authorization``.
"""

from emitter.authority.envelope.authorize import authorize as authorize
from emitter.authority.envelope.door import Authorized as Authorized
from emitter.authority.envelope.door import aemit_authorization as aemit_authorization
from emitter.authority.envelope.door import emit_authorization as emit_authorization
from emitter.authority.envelope.draft import Draft as Draft
from emitter.authority.envelope.draft import ProposedAction as ProposedAction
from emitter.authority.envelope.draft import ProposedClassification as ProposedClassification
from emitter.authority.envelope.draft import ProposedDispute as ProposedDispute
from emitter.authority.envelope.draft import ProposedMeasurement as ProposedMeasurement
from emitter.authority.envelope.draft import ProposedNarrative as ProposedNarrative
from emitter.authority.envelope.draft import ProposedRefusal as ProposedRefusal
from emitter.authority.envelope.enforce import enforce as enforce
from emitter.authority.envelope.handle import handle as handle
from emitter.authority.envelope.reading import OracleReading as OracleReading
from emitter.authority.envelope.schemas import AUTHORIZATION_SCHEMA as AUTHORIZATION_SCHEMA
from emitter.authority.envelope.schemas import WORKFLOW_SCHEMA as WORKFLOW_SCHEMA
from emitter.authority.envelope.terms import DEFAULT_NARRATIVE as DEFAULT_NARRATIVE
from emitter.authority.envelope.terms import Stamp as Stamp
from emitter.authority.envelope.terms import Terms as Terms
from emitter.authority.envelope.verifying import Unverified as Unverified
from emitter.authority.envelope.verifying import Verify as Verify
from emitter.authority.envelope.wire import read_authorization as read_authorization
from emitter.authority.envelope.wire import to_json as to_json
