"""Serve the host until it is interrupted: ``python -m tests.openwop [PORT] [MODEL=CAPABILITY,... ...]``.

OpenWOP's own suite is pointed at the address that is written. Its scenario ``model-capability-substituted`` expects
that ``anthropic/claude-3-5-sonnet`` provides structured output, which the library's facts about that model deny: it
has no such mode. Serve with ``anthropic/claude-3-5-sonnet=structured-output,function-calling`` to say otherwise, and
with the variable ``OPENWOP_CANARY_SECRET_VALUE`` for the scenarios that look for a secret.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event

from tests.openwop.host import Host
from tests.openwop.running import FOLDER, absent
from tests.openwop.serving import served


def arguments(given: list[str]) -> tuple[int, dict[str, frozenset[str]]]:
    """Return the port, and what the host says that models provide."""
    facts = {name: frozenset(said.split(",")) for name, mark, said in (each.partition("=") for each in given) if mark}
    return next((int(each) for each in given if each.isdigit()), 0), facts


if __name__ == "__main__":
    port, facts = arguments(sys.argv[1:])
    with served(Host(facts=facts), port) as running, suppress(KeyboardInterrupt):
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        for each in absent():
            sys.stderr.write(f"{each} is not served: {FOLDER} is absent.\n")
        Event().wait()
