"""The handshake keeps its word: what may follow on a veto of the question, and what may not.

Source: draft-morrison-binding-moment-envelope-00, section 6.2.
"""

from emitter.decide.handshake.promise import Broken as Broken
from emitter.decide.handshake.promise import Promise as Promise
from emitter.decide.handshake.promise import violations_after as violations_after
from emitter.decide.handshake.question import SAME as SAME
from emitter.decide.handshake.question import same_question as same_question
from emitter.decide.handshake.question import wording as wording
