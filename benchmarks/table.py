"""Make the tables of README.md and docs/benchmark.md from ``results.json``.

``python -m benchmarks.table`` prints them. ``--write`` puts them between the marks of each page, and ``--check`` exits
with 1 if a page differs.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from benchmarks import overhead
from benchmarks.libraries import EMITTER, ROOT, SDK, WIRES
from benchmarks.page import NONE, markdown, note, number, say
from benchmarks.results import load
from benchmarks.summary import Target, standings, targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

BEGIN = "<!-- benchmark: made by `python -m benchmarks.table --write`, never by hand -->"
END = "<!-- /benchmark -->"
_HEAD = (
    *("library", "right", "told the truth", "wrong value", "`None`"),
    *("cuts cured", "calls for a refusal", "tokens billed", "CPU ms a call"),
)
_SHORT_HEAD = ("library", "right value", "true cause named", "wrong value", "cut answers cured", "calls for a refusal")
_CONTENDERS = {EMITTER.name: overhead.MOMENT, SDK.name: overhead.TYPED}


def tables(results: Mapping[str, Any]) -> str:
    """Return both tables, with what was measured and what was not, between the marks."""
    return "\n".join([BEGIN, *_reported(results), "", *libraries(results), "", *speeds(results), END])


def summary(results: Mapping[str, Any]) -> str:
    """Return the README's table, between the marks: each library with its defaults."""
    rows = [
        (
            each.title,
            *(str(each.right), str(each.truth), str(each.wrong + each.nothing)),
            each.cured,
            number(each.refusal_calls),
        )
        for each in standings(results["faults"])
        if "retries=" not in each.title
    ]
    return "\n".join([BEGIN, *markdown(_SHORT_HEAD, rows), END])


PAGES = {ROOT / "README.md": summary, ROOT / "docs" / "benchmark.md": tables}
"""The pages with tables, and what makes them."""


def libraries(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of the libraries."""
    yield from markdown(_HEAD, [_row(each, results["overhead"]) for each in standings(results["faults"])])


def speeds(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of the targets."""
    yield from markdown(("what", "measured", "wanted", "reached"), [_target(each) for each in targets(results)])


def _row(standing: Any, spent: Mapping[str, Mapping[str, float]]) -> Sequence[str]:
    of = f" of {standing.situations}"
    return (
        standing.title,
        f"{standing.right}{of}",
        f"{standing.truth}{of}",
        str(standing.wrong),
        str(standing.nothing),
        standing.cured,
        number(standing.refusal_calls),
        f"{standing.tokens:,}",
        _range(standing.title, spent),
    )


def _range(title: str, spent: Mapping[str, Mapping[str, float]]) -> str:
    name = _CONTENDERS.get(title, title.lower())
    found = [spent[wire][name] for wire in WIRES if name in spent[wire]]
    return f"{min(found):.1f}–{max(found):.1f}" if found else NONE  # noqa: RUF001  a range


def _target(target: Target) -> Sequence[str]:
    wanted = f"≤ {target.most:g}" if target.most is not None else f"≥ {target.least:g}"
    return target.what, number(target.ratio, 2), wanted, {True: "yes", False: "**no**", None: NONE}[target.reached]


def _reported(results: Mapping[str, Any]) -> Iterator[str]:
    about = results["about"]
    when = f"{about['date']} on {about['machine']}, {about['python']}"
    yield f"A {about['mode']} run of {when}; tokens are {about['tokens']}. With {_with(about['versions'])}."
    if about["missing"]:
        left_out = ", ".join(f"{name} ({why})" for name, why in about["missing"].items())
        yield f"Left out: {left_out}."


def _with(versions: Mapping[str, Mapping[str, str]]) -> str:
    """Name every package once for each version it was measured in; the environments differ."""
    found: dict[str, list[str]] = {}
    for packages in versions.values():
        for name, version in packages.items():
            found.setdefault(name, [])
            found[name].extend([] if version in found[name] else [version])
    return ", ".join(f"{name} {' and '.join(each)}" for name, each in sorted(found.items()))


def _current(text: str) -> tuple[int, int] | None:
    """Return where in a text the tables stand."""
    start, end = text.find(BEGIN), text.find(END)
    return None if start < 0 or end < start else (start, end + len(END))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, compare or write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="compare with the pages")
    choice.add_argument("--write", action="store_true", help="put them into the pages, between the marks")
    options = parser.parse_args(arguments)
    results = load()
    return max(_update(page, make(results), options) for page, make in PAGES.items())


def _update(page: Path, made: str, options: argparse.Namespace) -> int:
    """Print, compare or write the tables of one page."""
    if not (options.check or options.write):
        say(made)
        return 0
    text = page.read_text("utf-8")
    place = _current(text)
    if place is None:
        note(f"{page.name} has no marks. Put these two lines where the tables belong:\n{BEGIN}\n{END}")
        return 1
    if options.write:
        page.write_text(text[: place[0]] + made + text[place[1] :], "utf-8")
    elif text[place[0] : place[1]] != made:
        note(f"{page.name} differs from benchmarks/results.json. Run python -m benchmarks.table --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
