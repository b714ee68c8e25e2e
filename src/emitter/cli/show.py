"""Printing what an emission came to."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from emitter.moment import Emission
from emitter.render import plain_text

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment
    from emitter.moment import Withheld


def show(decision: Emission[BindingMoment] | Withheld, *, as_json: bool) -> None:
    """Print the decision, or the envelope as JSON."""
    if as_json:
        text = json.dumps(decision.envelope.to_json(), indent=2, ensure_ascii=False)
    elif isinstance(decision, Emission):
        text = plain_text.binding_moment(decision.value)
    else:
        text = plain_text.withheld(decision.reason)
    sys.stdout.write(f"{text}\n")
