"""Which test it is, whatever runs it: what its luck and the name of its cassette are made from."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNFIT = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
"""What some file system refuses in a name."""
_LONGEST = 120
"""Characters of a file's name, so that most file systems take it in any script."""


def identity(item: pytest.Item) -> str:
    """Return the test's id from the root folder on, without the group that pytest-xdist adds to it."""
    return "::".join((_file(item).as_posix(), *_names(item)))


def seed(item: pytest.Item) -> int:
    """Return the test's own seed, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(identity(item).encode(), digest_size=4).digest(), "big")


def cassette_path(item: pytest.Item, name: str | None, folder: str) -> Path:
    """Return where the test's cassette is; raises ``InputError`` for a name that leads out of its folder.

    ``folder`` is relative to the root folder; empty: ``cassettes`` beside the test's file. A test without a
    name of its own has a file of its own.
    """
    beside = item.path.parent / "cassettes"
    root = item.config.rootpath / folder if folder else beside
    if name is not None:
        return root / f"{_checked(name).removesuffix('.json')}.json"
    within = _file(item).parent if folder else Path()
    return root / within / item.path.stem / f"{_fit('.'.join(_names(item)))}.json"


def _file(item: pytest.Item) -> Path:
    root = item.config.rootpath
    return item.path.relative_to(root) if item.path.is_relative_to(root) else Path(item.path.name)


def _names(item: pytest.Item) -> Iterable[str]:
    return [each.name for each in item.listchain() if each is item or isinstance(each, pytest.Class)]


def _fit(name: str) -> str:
    """Return a name for a file; where it had to be changed it stays one of a kind."""
    fit = _UNFIT.sub("-", name)[:_LONGEST]
    return fit if fit == name else f"{fit}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"


def _checked(name: object) -> str:
    parts = name.split("/") if isinstance(name, str) else [""]
    if not all(each.strip(". ") and not _UNFIT.search(each) for each in parts):
        raise InputError(
            f"{name!r} is no name for a cassette.",
            hint="It is a path such as 'checkout/refused', and stays inside the folder of cassettes.",
        )
    return "/".join(parts)
