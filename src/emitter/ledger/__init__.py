"""The ledger: which decisions are open, how each was resolved, once, and how often vetoes are used.

It remembers what the dual veto of draft-morrison-binding-moment-envelope-00 (section 6) needs, in any of the
library's stores, so that a resolution counts once among all threads and processes that share one.

What is kept, and what is not (section 12 of the draft): the envelope of a decision is, whole, so that another process
can resolve it; so are agent, channel, times, the digests of actions and, of a resolution, which of the three it is and
the index of an option. The words of a free text or an objection are kept as ``Ledger(words=...)`` says: as plain text
for a week, encrypted, for another time, or not at all. A salted hash stands beside them, by which the same answer is
known when it comes again. Events carry neither words of the principal, nor of the envelope but for its
``decision_class``, nor the decision's id: they call it by a hash, ``Pending.reference``.
"""

from emitter.ledger.details import DetailRequest as DetailRequest
from emitter.ledger.ledger import Ledger as Ledger
from emitter.ledger.rates import DEFAULT_THRESHOLDS as DEFAULT_THRESHOLDS
from emitter.ledger.rates import Measure as Measure
from emitter.ledger.rates import Rates as Rates
from emitter.ledger.rates import Thresholds as Thresholds
from emitter.ledger.values import Known as Known
from emitter.ledger.values import Outcome as Outcome
from emitter.ledger.values import Pending as Pending
from emitter.ledger.values import Resolved as Resolved
from emitter.ledger.values import Unspoken as Unspoken
from emitter.ledger.words import KeepWords as KeepWords
from emitter.ledger.words import Unkept as Unkept
