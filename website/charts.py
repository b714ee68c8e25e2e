"""Takes the charts of the benchmark out of its notebook, which is committed with its outputs."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = "benchmark.md"
_HEADING = re.compile(r"^## (?:\d+\. )?(.+)\n\n(.+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, with the heading and the text that stand above it."""

    heading: str
    text: str
    picture: bytes


def read_charts(notebook: Path) -> tuple[Chart, ...]:
    """Return the charts of a notebook."""
    return tuple(_charts(json.loads(notebook.read_text(encoding="utf-8"))["cells"]))


def _charts(cells: list[dict[str, Any]]) -> Iterator[Chart]:
    heading, text = "", ""
    for cell in cells:
        if cell["cell_type"] == "markdown" and (found := _HEADING.search("".join(cell["source"]))):
            heading, text = found.groups()
        for output in cell.get("outputs", ()):
            if picture := output.get("data", {}).get("image/png"):
                yield Chart(heading, text, base64.b64decode(picture))
                text = ""


def render_charts(charts: tuple[Chart, ...]) -> str:
    """Return the section that shows the charts."""
    parts, shown = ["\n## Charts\n"], ""
    for number, chart in enumerate(charts):
        if chart.heading != shown:
            shown = chart.heading
            parts += [f"### {shown}\n", f"{chart.text}\n"]
        parts.append(f"![Chart: {shown}](charts/{number}.png)\n")
    return "\n".join(parts)
