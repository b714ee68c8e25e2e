"""A desk that takes the vendors' batches, too.

A batch is answered after so many looks, each of its requests as a single call would be; it is run when the batch
ends, and stands in the ledger as if it had been sent alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.profile.model import WireName
from emitter.testing.batches import anthropic, google, openai
from emitter.testing.batches.store import Batches
from emitter.testing.desk import Desk, Handled
from emitter.testing.ledger import NOTHING, Call, Entry
from emitter.testing.requests import speaker

if TYPE_CHECKING:
    from emitter.testing.desk import Answers, Request
    from emitter.testing.ledger import Ledger

_HANDLERS = {
    WireName.OPENAI_RESPONSES: openai.handle,
    WireName.ANTHROPIC: anthropic.handle,
    WireName.GOOGLE: google.handle,
}


class BatchDesk(Desk):
    """Answers requests about batches, and leaves all others to the desk that it is."""

    def __init__(self, answers: Answers, ledger: Ledger, *, seed: int, check_schemas: bool) -> None:
        super().__init__(answers, ledger, seed=seed, check_schemas=check_schemas)
        self.batches = Batches(super().handle)

    def reset(self) -> None:
        """Forget the batches, too."""
        super().reset()
        self.batches.reset()

    def handle(self, request: Request) -> Handled:
        """Return the answer to a request; one about batches is not in the ledger, for it costs nothing."""
        response = _HANDLERS[speaker(request.headers)](request, self.batches)
        if response is None:
            return super().handle(request)
        self.batches.requests.append(f"{request.method} {request.path}")
        call = Call(None, request.path, "", None, streamed=False, behaviour=None, status=response.status, usage=NOTHING)
        return Handled(response, Entry(call))
