"""Run thousands of emissions with a bounded number in flight, and iterate over their results."""

from emitter.bulk.api import aemit_binding_moments as aemit_binding_moments
from emitter.bulk.api import aemit_many as aemit_many
from emitter.bulk.api import emit_binding_moments as emit_binding_moments
from emitter.bulk.api import emit_many as emit_many
from emitter.bulk.batches import Batch as Batch
from emitter.bulk.jobs import Job as Job
from emitter.bulk.jobs import JobResult as JobResult
from emitter.bulk.progress import RunProgress as RunProgress
from emitter.bulk.progress import RunStats as RunStats
from emitter.bulk.runs import AsyncRun as AsyncRun
from emitter.bulk.runs import Run as Run
