"""The authorization envelope: what may be shown as established, each kind with what it rests on.

Source: RFC-0010, "Authorization Envelope". What is ours says so where it stands.
"""

from emitter.kinds.authorization.parts import GrammarMode as GrammarMode
from emitter.kinds.authorization.parts import NarrativePolicy as NarrativePolicy
from emitter.kinds.authorization.parts import OracleConflict as OracleConflict
from emitter.kinds.authorization.parts import OracleValue as OracleValue
from emitter.kinds.authorization.parts import OracleVerificationRecord as OracleVerificationRecord
from emitter.kinds.authorization.parts import Provenance as Provenance
from emitter.kinds.authorization.parts import RefusalCode as RefusalCode
from emitter.kinds.authorization.parts import RefusalReason as RefusalReason
from emitter.kinds.authorization.parts import Specificity as Specificity
from emitter.kinds.authorization.parts import Tier as Tier
from emitter.kinds.authorization.variants import AUTHORIZATION as AUTHORIZATION
from emitter.kinds.authorization.variants import Action as Action
from emitter.kinds.authorization.variants import AuthorizationEnvelope as AuthorizationEnvelope
from emitter.kinds.authorization.variants import Classification as Classification
from emitter.kinds.authorization.variants import DisputeSummary as DisputeSummary
from emitter.kinds.authorization.variants import Measurement as Measurement
from emitter.kinds.authorization.variants import Narrative as Narrative
from emitter.kinds.authorization.variants import Refusal as Refusal
from emitter.kinds.authorization.workflow import AuthoritativeIntent as AuthoritativeIntent
from emitter.kinds.authorization.workflow import EnforcementMode as EnforcementMode
from emitter.kinds.authorization.workflow import WorkflowDeclaration as WorkflowDeclaration
