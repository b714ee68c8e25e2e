"""``emitter`` at the terminal that is its standard error, which it controls: as in a window, or over SSH."""

import fcntl
import os
import sys
import termios
from contextlib import suppress

from emitter.cli import main

if __name__ == "__main__":
    with suppress(PermissionError):  # it leads a session already
        os.setsid()
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)
    sys.exit(main(sys.argv[1:]))
