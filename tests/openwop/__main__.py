"""Serve the host until it is interrupted: ``python -m tests.openwop [PORT]``.

OpenWOP's own suite is pointed at the address that is written.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event

from tests.openwop.running import FOLDER, absent
from tests.openwop.serving import served

if __name__ == "__main__":
    with served(port=int(sys.argv[1]) if len(sys.argv) > 1 else 0) as running, suppress(KeyboardInterrupt):
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        for each in absent():
            sys.stderr.write(f"{each} is not served: {FOLDER} is absent.\n")
        Event().wait()
