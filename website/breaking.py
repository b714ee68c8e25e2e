"""Compares the public names with those of an earlier commit. What breaks a caller needs a line in the changelog.

    python -m website.breaking origin/main

Exits with 1 if a name of the reference was removed or changed so that a caller may break, and CHANGELOG.md is the same.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import griffe

from website.reference import PAGES, is_public, load_package

if TYPE_CHECKING:
    from collections.abc import Iterator


def find_breakages(before: griffe.Module, after: griffe.Module) -> Iterator[str]:
    """Yield a line for each change of a public name that may break a caller."""
    old, new = _public_names(before), _public_names(after)
    yield from (f"{name}: removed" for name in sorted(old.keys() - new.keys()))
    paths = tuple(path for name, path in old.items() if name in new)
    for breakage in griffe.find_breaking_changes(before, after):
        changed = breakage.obj.canonical_path
        if any(changed == path or changed.startswith((f"{path}.", f"{path}(")) for path in paths):
            yield f"{changed}: {breakage.kind.value.lower()}"


def _public_names(package: griffe.Module) -> dict[str, str]:
    """Return the names of the reference's modules, each with the path at which it is defined."""
    names = dict[str, str]()
    for module in (each.partition(":")[0] for page in PAGES for each in page.modules):
        with suppress(KeyError):  # the package does not have the module
            found = package if module == "emitter" else package[module.removeprefix("emitter.")]
            members = ((name, member) for name, member in found.members.items() if is_public(found, member))
            names |= {
                f"{module}.{name}": member.target_path if member.is_alias else member.path for name, member in members
            }
    return names


def is_changed(ref: str, file: str) -> bool:
    """Return whether a file differs from that of an earlier commit."""
    return subprocess.run(["git", "diff", "--quiet", ref, "--", file], check=False).returncode != 0  # noqa: S607


def main(arguments: list[str]) -> int:
    """Print the changes, and return the exit status."""
    ref = arguments[0] if arguments else "origin/main"
    before = griffe.load_git("emitter", ref=ref, search_paths=["src"])
    breakages = list(find_breakages(before, load_package()))
    sys.stdout.write("".join(f"{line}\n" for line in breakages))
    if breakages and not is_changed(ref, "CHANGELOG.md"):
        sys.stderr.write("These changes may break a caller. Add a line about them to CHANGELOG.md.\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
