"""The door to decisions: ``emit_binding_moment``, its async twin, and what they return."""

from emitter.door.result import Emission as Emission
from emitter.door.result import Trace as Trace
from emitter.moment.door import aemit_binding_moment as aemit_binding_moment
from emitter.moment.door import emit_binding_moment as emit_binding_moment
from emitter.moment.result import Withheld as Withheld
from emitter.moment.streaming import astream_binding_moment as astream_binding_moment
from emitter.moment.streaming import stream_binding_moment as stream_binding_moment
