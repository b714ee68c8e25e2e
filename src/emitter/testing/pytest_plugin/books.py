"""What reached the simulated vendor, as text for the report of a failed test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.testing.ledger import Call
    from emitter.testing.simulation import Simulator
    from emitter.wire import Usage

_SHOWN = 20


def told(vendor: Simulator, seed: int, *, prompts: bool) -> str:
    """Return the calls with their stops and tokens, and what was billed; the requests themselves if asked for."""
    calls = vendor.calls
    head = f"{len(calls)} call{'' if len(calls) == 1 else 's'}, billed {_usage(vendor.billed)}; seed {seed}"
    first = max(0, len(calls) - _SHOWN)
    left = [f"({first} earlier ones are left out)"] if first else []
    lines = [_line(number, each, prompts=prompts) for number, each in enumerate(calls[first:], first + 1)]
    return "\n".join([head, *left, *lines])


def _line(number: int, call: Call, *, prompts: bool) -> str:
    wire = call.wire.value if call.wire else f"{call.path.partition('?')[0]} (no vendor's)"
    behaviour = type(call.behaviour).__name__ if call.behaviour else "refused as it stood"
    status = "cut before its status" if call.status is None else str(call.status)
    form = ", streamed" if call.streamed else ""
    line = f"{number:>3}. {wire} {call.model}{form}: {behaviour}, {status}, {_usage(call.usage)}"
    return f"{line}\n{json.dumps(call.body, indent=1, ensure_ascii=False)}" if prompts else line


def _usage(usage: Usage) -> str:
    thinking = f" ({usage.thinking} of them thinking)" if usage.thinking else ""
    return f"{usage.input} + {usage.output} tokens{thinking}"
