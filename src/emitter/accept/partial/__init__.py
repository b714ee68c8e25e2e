"""Put an envelope together that came in chunks, and act on none of it before it is whole.

Source: ai-envelope.md, ``PartialInfo``. Chunks share a ``correlationId``, and an emission is complete at the first
chunk whose ``isPartial`` is false. What OpenWOP leaves open beyond that (its gap E1) is settled here, and is ours:

- Where every ``payload`` is a text, the texts are fragments: joined in the order of ``index`` they are the payload
  as strict JSON. Such an emission is complete when the last chunk is there and every index below its.
- Where none is, each is the payload so far, for whoever shows it while it grows. The last stands alone: its payload
  is the envelope's, whatever became of those before it.
- Chunks come in any order, and more than once. Those that contradict each other never become an envelope.
"""

from emitter.accept.partial.assembly import Assembly as Assembly
from emitter.accept.partial.verdict import Bounds as Bounds
from emitter.accept.partial.verdict import Broken as Broken
from emitter.accept.partial.verdict import Complete as Complete
from emitter.accept.partial.verdict import Expired as Expired
from emitter.accept.partial.verdict import Repeated as Repeated
from emitter.accept.partial.verdict import Verdict as Verdict
from emitter.accept.partial.verdict import Waiting as Waiting
