"""Per-call proposals: the document that a person approves one call by, and whether a call is the one approved.

Source: draft-hardt-aauth-r3-02 (AAuth Rich Resource Requests), sections 5, 7, 9 and 10. This is the resource's side:
it builds, hashes, keeps and matches. It mints no token, checks no signature and answers no request.
"""

from emitter.authority.proposal.annotation import AccessMode as AccessMode
from emitter.authority.proposal.annotation import access_annotations as access_annotations
from emitter.authority.proposal.claims import Access as Access
from emitter.authority.proposal.claims import Operations as Operations
from emitter.authority.proposal.claims import decide_access as decide_access
from emitter.authority.proposal.claims import granted_operations as granted_operations
from emitter.authority.proposal.claims import per_call_operations as per_call_operations
from emitter.authority.proposal.digests import Digested as Digested
from emitter.authority.proposal.digests import digest_object as digest_object
from emitter.authority.proposal.digests import r3_s256 as r3_s256
from emitter.authority.proposal.display import Display as Display
from emitter.authority.proposal.document import PROPOSAL_SCHEMA as PROPOSAL_SCHEMA
from emitter.authority.proposal.matching import Mismatch as Mismatch
from emitter.authority.proposal.matching import mismatch as mismatch
from emitter.authority.proposal.proposal import Proposal as Proposal
from emitter.authority.proposal.proposal import propose as propose
from emitter.authority.proposal.proposal import read_proposal as read_proposal
from emitter.authority.proposal.shelf import Shelf as Shelf
from emitter.authority.proposal.shelf import fresh_uri as fresh_uri
from emitter.authority.proposal.vocabulary import VOCABULARIES as VOCABULARIES
from emitter.authority.proposal.vocabulary import VOCABULARY_MCP as VOCABULARY_MCP
