"""Thousands of emissions with a bounded number in flight, and what they come to."""

from emitter.many.decisions import aemit_binding_moments as aemit_binding_moments
from emitter.many.decisions import emit_binding_moments as emit_binding_moments
from emitter.many.door import aemit_many as aemit_many
from emitter.many.door import emit_many as emit_many
from emitter.many.item import Item as Item
from emitter.many.job import Job as Job
from emitter.many.run import AsyncRun as AsyncRun
from emitter.many.tally import RunProgress as RunProgress
from emitter.many.threaded import Run as Run
