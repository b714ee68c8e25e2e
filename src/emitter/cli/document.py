"""Printing JSON: for programs, so in ASCII, which every encoding can carry."""

from __future__ import annotations

import json
import sys


def write(document: object, *, indent: int | None = 2) -> None:
    """Print ``document``; on one line where ``indent`` is None."""
    sys.stdout.write(json.dumps(document, indent=indent) + "\n")
