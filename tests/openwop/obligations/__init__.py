"""What OpenWOP asks of a host, and what holds it: the one place that docs/openwop.md is made of."""

from __future__ import annotations

from tests.openwop.obligations.accepting import ACCEPTING
from tests.openwop.obligations.advised import MAY, SHOULD
from tests.openwop.obligations.amiss import AMISS as AMISS
from tests.openwop.obligations.documents import DOCUMENTS
from tests.openwop.obligations.emitting import EMITTING
from tests.openwop.obligations.form import Invariant as Invariant
from tests.openwop.obligations.form import Ruling as Ruling
from tests.openwop.obligations.hosting import HOSTING
from tests.openwop.obligations.invariants import INVARIANTS as INVARIANTS
from tests.openwop.obligations.rulings import RULINGS as RULINGS
from tests.traced.form import Level as Level
from tests.traced.form import Obligation as Obligation

OBLIGATIONS = (*DOCUMENTS, *EMITTING, *ACCEPTING, *HOSTING, *SHOULD, *MAY)
