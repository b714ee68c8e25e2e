"""Per-call proposals: the document by which a person approves one call.

Use `propose` to build one, `ProposalStore` to keep and serve it, and `find_mismatch` to compare a later call with it.
The module implements the resource's side; it issues no tokens, verifies no signatures and serves no requests.

Source: draft-hardt-aauth-r3-02 (AAuth Rich Resource Requests), sections 5, 7, 9 and 10.
"""

from emitter.authority.proposals.access import AccessDecision as AccessDecision
from emitter.authority.proposals.access import AccessMode as AccessMode
from emitter.authority.proposals.access import ClaimedOperations as ClaimedOperations
from emitter.authority.proposals.access import Mismatch as Mismatch
from emitter.authority.proposals.access import access_annotations as access_annotations
from emitter.authority.proposals.access import decide_access as decide_access
from emitter.authority.proposals.access import find_mismatch as find_mismatch
from emitter.authority.proposals.access import granted_operations as granted_operations
from emitter.authority.proposals.access import per_call_operations as per_call_operations
from emitter.authority.proposals.document import PROPOSAL_SCHEMA as PROPOSAL_SCHEMA
from emitter.authority.proposals.document import VOCABULARIES as VOCABULARIES
from emitter.authority.proposals.document import VOCABULARY_MCP as VOCABULARY_MCP
from emitter.authority.proposals.document import DigestedParameter as DigestedParameter
from emitter.authority.proposals.document import make_digest_object as make_digest_object
from emitter.authority.proposals.document import r3_s256 as r3_s256
from emitter.authority.proposals.proposal import Display as Display
from emitter.authority.proposals.proposal import Proposal as Proposal
from emitter.authority.proposals.proposal import propose as propose
from emitter.authority.proposals.proposal import read_proposal as read_proposal
from emitter.authority.proposals.store import ProposalStore as ProposalStore
from emitter.authority.proposals.store import new_proposal_uri as new_proposal_uri
