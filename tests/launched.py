"""A program for the tests of ``tests.launching``."""

import os
import signal
import sys

if __name__ == "__main__":
    print(os.environ if sys.argv[1] == "environment" else os.getpid(), flush=True)  # noqa: T201  the test reads it
    if sys.argv[1] == "waiting":
        signal.pause()
