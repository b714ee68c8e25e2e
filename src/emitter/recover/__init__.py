"""Read the one JSON document that an almost-JSON answer holds, or say that it holds none.

A repair changes syntax, never a value, and an unfinished document is never finished: every doubt ends in
``None``, because a refusal costs one more call and a wrong value costs a wrong decision.
"""

from emitter.recover.ladder import read as read
from emitter.recover.ladder import recover as recover
from emitter.recover.result import Path as Path
from emitter.recover.result import Recovered as Recovered
from emitter.recover.result import Retracted as Retracted
from emitter.recover.result import Several as Several
from emitter.recover.retraction import Stance as Stance
from emitter.recover.retraction import stance as stance
from emitter.recover.thinking import without_blocks as without_blocks
