"""What a test's marks and the command line ask of its cassette and its vendor."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError
from emitter.testing.pytest_plugin.identity import cassette_path, identity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a test's cassette is and what is done with it.

    ``recorded`` is shared by the tests of a session: which test wrote which file.
    """

    test: str
    path: Path
    recording: bool
    allow_unused: bool
    recorded: dict[Path, str]

    def command(self, mode: str) -> str:
        """Return the command that records the cassette."""
        return f"pytest --emitter-record={mode} {shlex.quote(self.test)}"


def plan(item: pytest.Item, recorded: dict[Path, str]) -> Plan:
    """Return what is asked of a test's cassette.

    Raises ``InputError`` for a mark that makes no sense, and where the cassette would be overwritten by another
    test than the one that has just recorded it.
    """
    name, allow_unused = _cassette(item.get_closest_marker("emitter_cassette"))
    path = cassette_path(item, name, item.config.getini("emitter_cassettes"))
    mode, test = item.config.getoption("emitter_record"), identity(item)
    if recorded.get(path, test) != test:
        raise InputError(
            f"{path} has just been recorded by {recorded[path]}.",
            hint="Give each test a cassette of its own: leave its name out, or choose another one.",
        )
    recording = mode == "all" or (mode == "once" and (path in recorded or not path.exists()))
    return Plan(test, path, recording, allow_unused, recorded)


def vendor_options(item: pytest.Item, make: Callable[..., object]) -> dict[str, Any]:
    """Return the options for ``make``, the simulator, that a test's mark holds; raises ``InputError``."""
    marker = item.get_closest_marker("emitter_vendor")
    if marker is None:
        return {}
    known = inspect.signature(make).parameters
    unknown = [repr(each) for each in marker.kwargs if each not in known]
    if marker.args or unknown:
        wrong = f"has no option {', '.join(unknown)}" if unknown else "takes named options only"
        raise InputError(f"The mark emitter_vendor {wrong}.", hint=f"Its options are {', '.join(known)}.")
    return dict(marker.kwargs)


def _cassette(marker: pytest.Mark | None) -> tuple[str | None, bool]:
    if marker is None:
        return None, False

    def emitter_cassette(name: str | None = None, *, allow_unused: bool = False) -> tuple[str | None, bool]:
        return name, allow_unused

    try:
        return emitter_cassette(*marker.args, **marker.kwargs)
    except TypeError as error:
        raise InputError(
            f"The mark emitter_cassette does not hold: {str(error).rpartition('.')[2]}.",
            hint="It is emitter_cassette(name, allow_unused=False), and both may be left out.",
        ) from error
