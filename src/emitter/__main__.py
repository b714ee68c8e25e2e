"""Run the command line with ``python -m emitter``."""

import sys

from emitter.cli import main

sys.exit(main())
