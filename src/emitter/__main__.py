"""``python -m emitter`` is the command ``emitter``."""

import sys

from emitter.cli import main

sys.exit(main())
