"""The decision: what may be asked, how it is answered, and what each answer allows the agent to do next."""

from emitter.decide.continuation import Act as Act
from emitter.decide.continuation import Continuation as Continuation
from emitter.decide.continuation import Hold as Hold
from emitter.decide.continuation import Incorporate as Incorporate
from emitter.decide.continuation import Reopen as Reopen
from emitter.decide.continuation import continue_after as continue_after
from emitter.decide.digest import digest as digest
from emitter.decide.digest import digest_of as digest_of
from emitter.decide.resolution import MAX_ANSWER as MAX_ANSWER
from emitter.decide.resolution import RESOLUTION_SCHEMA as RESOLUTION_SCHEMA
from emitter.decide.resolution import Dialogue as Dialogue
from emitter.decide.resolution import FreeText as FreeText
from emitter.decide.resolution import Resolution as Resolution
from emitter.decide.resolution import Selected as Selected
from emitter.decide.resolution import Unanswered as Unanswered
from emitter.decide.resolution import Unresolved as Unresolved
from emitter.decide.resolution import dialogue as dialogue
from emitter.decide.resolution import free_text as free_text
from emitter.decide.resolution import of_json as of_json
from emitter.decide.resolution import selected as selected
from emitter.decide.resolution import to_json as to_json
from emitter.decide.wellformed import DRAFT as DRAFT
from emitter.decide.wellformed import FIELD as FIELD
from emitter.decide.wellformed import Malformed as Malformed
from emitter.decide.wellformed import read as read
from emitter.decide.wellformed import read_text as read_text
