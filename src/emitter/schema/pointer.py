"""JSON pointers into a schema or a document."""

from __future__ import annotations

LONGEST_NAME = 1_000
"""The most characters of one name in a pointer: pointers are many."""

_ESCAPES = str.maketrans({"~": "~0", "/": "~1"})


def below(where: str, *steps: str | int) -> str:
    """Return the pointer that leads on from ``where``; a name of absurd length is cut."""
    for each in steps:
        name = str(each)
        if "/" in name or "~" in name or len(name) > LONGEST_NAME:
            name = name[:LONGEST_NAME].translate(_ESCAPES)
        where = f"{where}/{name}"
    return where


def escaped(name: str) -> str:
    """Return a name as it stands in a pointer, whole."""
    return name.translate(_ESCAPES)
