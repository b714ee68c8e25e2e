"""A page of obligations: what of them is open, a section for each part, and the command that writes it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tests.traced.markdown import ROOT, code_of, table, tests_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.traced.form import Obligation

_HEADER = ("", "", "Obligation", "Code", "Tests")


def open_points(obligations: Iterable[Obligation]) -> str:
    """Return the section of what is held in part, or not at all."""
    reported = [each for each in obligations if each.beyond]
    lines = (f"- **{e.id}**, {'in part' if e.tests else 'not met'}: *{e.line}* {e.beyond}\n" for e in reported)
    return f"## Not met, or met in part\n\n{''.join(lines)}"


def section(title: str, obligations: Iterable[Obligation]) -> str:
    """Return the section of a part."""
    lines = [(each.id, each.level.value, _asked(each), _code(each), _held(each)) for each in obligations]
    return f"## {title}\n\n{table(_HEADER, lines)}"


def _asked(each: Obligation) -> str:
    return f"{each.line} {each.note}".strip()


def _code(each: Obligation) -> str:
    return "<br>".join(map(code_of, each.code))


def _held(each: Obligation) -> str:
    in_part = "in part: see [above](#not-met-or-met-in-part)" if each.beyond else ""
    return "<br>".join(filter(None, [tests_of(each.tests), in_part]))


def run(module: str, place: Path, page: Callable[[], str]) -> int:
    """Write a page, or say whether it is what would be written."""
    named = place.relative_to(ROOT)
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=f"Writes {named}.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help=f"write {named}")
    what.add_argument("--check", action="store_true", help="end with 1 where it is not what would be written")
    if parser.parse_args().write:
        place.write_text(page(), "utf-8")
        return 0
    same = place.read_text("utf-8") == page()
    if not same:
        sys.stderr.write(f"It is not what would be written. Run: python -m {module} --write\n")
    return 0 if same else 1
