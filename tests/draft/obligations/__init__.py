"""What the draft asks for, and what holds it: the one place that docs/binding-moment.md is made of."""

from __future__ import annotations

from tests.draft.obligations.delivery import DELIVERY
from tests.draft.obligations.envelope import ENVELOPE
from tests.draft.obligations.handshake import HANDSHAKE
from tests.draft.obligations.renderer import RENDERER
from tests.draft.obligations.security import SECURITY
from tests.draft.obligations.slots import SLOTS

PASSAGES = (*ENVELOPE, *SLOTS, *HANDSHAKE, *DELIVERY, *RENDERER, *SECURITY)
