"""Emit, read, handle and enforce authorization envelopes.

A model proposes a draft, the host authorizes it, and a client handles each kind of envelope. The models are in
`emitter.models.authorization`.

Source: RFC-0010, "Authorization Envelope".
"""

from emitter.authority.envelopes.drafts import DEFAULT_NARRATIVE as DEFAULT_NARRATIVE
from emitter.authority.envelopes.drafts import AuthorizationConstraints as AuthorizationConstraints
from emitter.authority.envelopes.drafts import AuthorizationDraft as AuthorizationDraft
from emitter.authority.envelopes.drafts import EnvelopeStamp as EnvelopeStamp
from emitter.authority.envelopes.drafts import ProposedAction as ProposedAction
from emitter.authority.envelopes.drafts import ProposedClassification as ProposedClassification
from emitter.authority.envelopes.drafts import ProposedDispute as ProposedDispute
from emitter.authority.envelopes.drafts import ProposedMeasurement as ProposedMeasurement
from emitter.authority.envelopes.drafts import ProposedNarrative as ProposedNarrative
from emitter.authority.envelopes.drafts import ProposedRefusal as ProposedRefusal
from emitter.authority.envelopes.emission import AuthorizationEmission as AuthorizationEmission
from emitter.authority.envelopes.emission import aemit_authorization as aemit_authorization
from emitter.authority.envelopes.emission import emit_authorization as emit_authorization
from emitter.authority.envelopes.enforcement import authorize_draft as authorize_draft
from emitter.authority.envelopes.enforcement import dump_authorization as dump_authorization
from emitter.authority.envelopes.enforcement import enforce_workflow as enforce_workflow
from emitter.authority.envelopes.enforcement import handle_envelope as handle_envelope
from emitter.authority.envelopes.enforcement import read_authorization as read_authorization
from emitter.authority.envelopes.oracles import OracleReading as OracleReading
from emitter.authority.envelopes.oracles import UnverifiedClaim as UnverifiedClaim
from emitter.authority.envelopes.oracles import VerifyRecord as VerifyRecord
from emitter.authority.schemas import AUTHORIZATION_SCHEMA as AUTHORIZATION_SCHEMA
from emitter.authority.schemas import WORKFLOW_SCHEMA as WORKFLOW_SCHEMA
