"""Letting a person answer a decision at this terminal, and saying what the agent does next."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, assert_never

from emitter.decide import Act, Hold, Incorporate, Reopen, continue_after
from emitter.terminal import ask

if TYPE_CHECKING:
    from emitter.decide import Resolution, Unresolved
    from emitter.kinds import BindingMoment

_PATIENCE = 300.0
"""Seconds until a demonstration goes on without an answer."""


def possible() -> bool:
    """Tell whether somebody sits at a terminal here; a continuous-integration machine's terminal has nobody."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI"))


def answer(moment: BindingMoment) -> None:
    """Let the person at this terminal answer; without one, say on standard error how to."""
    if possible():
        sys.stdout.write(f"{next_step(moment, ask(moment, timeout=_PATIENCE))}\n")
    else:
        sys.stderr.write("emitter: nobody is asked without a terminal; `emitter resolve FILE` takes an answer.\n")


def next_step(moment: BindingMoment, resolution: Resolution | Unresolved) -> str:
    """Return what the agent may do now, in one sentence; raises as ``continue_after`` does."""
    continuation = continue_after(resolution, moment)
    match continuation:
        case Act():
            return "The agent now does that, and nothing else."
        case Incorporate():
            return "The agent now takes that up and goes on; the question stands."
        case Reopen():
            return "The agent now deliberates again, and may not put this question a second time."
        case Hold():
            return "The agent now does nothing: no answer is no consent."
        case _:
            assert_never(continuation)
