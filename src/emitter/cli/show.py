"""Printing what an emission came to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli.document import write
from emitter.moment import Emission
from emitter.render import plain_text

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment
    from emitter.moment import Withheld


def show(decision: Emission[BindingMoment] | Withheld, *, as_json: bool) -> None:
    """Print the decision, or the envelope as JSON."""
    if as_json:
        write(decision.envelope.to_json())
    elif isinstance(decision, Emission):
        sys.stdout.write(f"{plain_text.binding_moment(decision.value)}\n")
    else:
        sys.stdout.write(f"{plain_text.withheld(decision.reason)}\n")
