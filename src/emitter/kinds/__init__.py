"""The kinds of envelope that this library speaks, and the document around them."""

from emitter.kinds.authorization import AUTHORIZATION as AUTHORIZATION
from emitter.kinds.authorization import AuthorizationEnvelope as AuthorizationEnvelope
from emitter.kinds.binding_moment import BINDING_MOMENT as BINDING_MOMENT
from emitter.kinds.binding_moment import OPEN_HATCHES as OPEN_HATCHES
from emitter.kinds.binding_moment import BindingMoment as BindingMoment
from emitter.kinds.binding_moment import Hatches as Hatches
from emitter.kinds.binding_moment import Meta as Meta
from emitter.kinds.binding_moment import Option as Option
from emitter.kinds.binding_moment import Question as Question
from emitter.kinds.document import DOCUMENT as DOCUMENT
from emitter.kinds.envelope import AIEnvelope as AIEnvelope
from emitter.kinds.envelope import EnvelopeMeta as EnvelopeMeta
from emitter.kinds.envelope import Source as Source
from emitter.kinds.envelope import Trust as Trust
from emitter.kinds.withheld import CLARIFICATION_REQUEST as CLARIFICATION_REQUEST
from emitter.kinds.withheld import DELIBERATION as DELIBERATION
from emitter.kinds.withheld import ERROR as ERROR
from emitter.kinds.withheld import ClarificationRequest as ClarificationRequest
from emitter.kinds.withheld import Deliberation as Deliberation
from emitter.kinds.withheld import ErrorReport as ErrorReport
