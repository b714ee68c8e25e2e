"""The pictures of the notebook; each is made from the rows of a run's results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Patch

from benchmarks import overhead
from benchmarks.libraries import WIRES
from benchmarks.summary import MOST, SHOWN, by_library
from benchmarks.truth import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_KINDS = {
    "the right value": "#2e8b57",
    "an error that names the cause": "#a8d5ba",
    "an error that names something else": "#f4c27a",
    "None": "#e07b39",
    "a WRONG value as success": "#b2182b",
    "nothing: it hung or died": "#222222",
}
_NAMES = tuple(_KINDS)
_OURS = "#2e8b57"
_OTHERS = "#9aa5b1"
_GREEN = 2
"""The place of a colour too like our own."""


def calm() -> None:
    """Make the pictures small, so that the notebook stays so, and the same on every machine."""
    mpl.rcParams.update({"figure.dpi": 72, "savefig.dpi": 72, "font.size": 9, "axes.spines.right": False})
    mpl.rcParams.update({"axes.spines.top": False, "figure.constrained_layout.use": True, "svg.hashsalt": "emitter"})


def kind(cell: Mapping[str, Any]) -> int:
    """Return the place of a cell's outcome in the legend."""
    match Outcome(cell["outcome"]):
        case Outcome.RIGHT:
            return 0
        case Outcome.NONE:
            return 3
        case Outcome.WRONG:
            return 4
        case Outcome.LOST:
            return 5
        case _:
            return 1 if cell["truth"] else 2


def heat_map(cells: Sequence[Mapping[str, Any]]) -> Figure:
    """Show every library against every fault; the columns within a fault are its wires."""
    rows, faults = by_library(cells), list(dict.fromkeys(each["fault"] for each in cells))
    wires = list(dict.fromkeys(each["wire"] for each in cells))
    found = np.full((len(rows), len(faults) * len(wires)), np.nan)
    for at, each in enumerate(rows.values()):
        for cell in each:
            found[at, faults.index(cell["fault"]) * len(wires) + wires.index(cell["wire"])] = kind(cell)
    figure, axes = plt.subplots(figsize=(11, 1.6 + 0.32 * len(rows)))
    colours = ListedColormap(list(_KINDS.values()))
    axes.imshow(found, aspect="auto", cmap=colours, norm=BoundaryNorm(np.arange(len(_KINDS) + 1) - 0.5, colours.N))
    axes.set_yticks(range(len(rows)), list(rows))
    middle = np.arange(len(faults)) * len(wires) + (len(wires) - 1) / 2
    axes.set_xticks(middle, faults, rotation=40, ha="right")
    for at in range(len(faults) * len(wires) + 1):
        axes.axvline(at - 0.5, color="white", lw=3 if at % len(wires) == 0 else 0.5)
    for at in range(len(rows) + 1):
        axes.axhline(at - 0.5, color="white", lw=2)
    handles = [Patch(color=colour, label=name) for name, colour in _KINDS.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)
    axes.set_title(f"within each fault, from the left: {', '.join(wires)}", fontsize=8)
    return _shown_once(figure)


def billed(cells: Sequence[Mapping[str, Any]], faults: Sequence[str]) -> Figure:
    """Show the tokens billed for some faults, the mean over the wires, as multiples of a clean call."""
    rows = by_library(cells)
    figure, each_axes = plt.subplots(1, len(faults), figsize=(11, 1 + 0.26 * len(rows)), sharey=True)
    for axes, fault in zip(each_axes, faults, strict=True):
        shares = [_mean(each, fault) / _mean(each, "clean") for each in rows.values()]
        bars = axes.barh(list(rows), shares, color=[_OURS if "emitter" in name else _OTHERS for name in rows])
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=8)
        axes.set_title(fault, fontsize=9)
        axes.margins(x=0.2)
    each_axes[0].invert_yaxis()
    figure.supxlabel("tokens billed, as multiples of this library's own clean call", fontsize=9)
    return _shown_once(figure)


def _shown_once(figure: Figure) -> Figure:
    """Let go of a figure, which a notebook would show once more at the end of the cell otherwise."""
    plt.close(figure)
    return figure


def _mean(cells: Sequence[Mapping[str, Any]], fault: str) -> float:
    found = [each["tokens"] for each in cells if each["fault"] == fault]
    return sum(found) / len(found)


def overheads(wires: Mapping[str, Mapping[str, float]]) -> Figure:
    """Show the processor time of one call, with the target as a line."""
    figure, each_axes = plt.subplots(1, len(wires), figsize=(11, 3.2), sharey=True)
    for axes, (wire, spent) in zip(each_axes, wires.items(), strict=True):
        names = sorted(spent, key=lambda name: spent[name])
        colours = [_OURS if name in (overhead.MOMENT, overhead.OWN_FORM) else _OTHERS for name in spent]
        bars = axes.barh(list(spent), list(spent.values()), color=colours)
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=8)
        line = MOST[wire] * spent[overhead.LOW_LEVEL]
        axes.axvline(line, color="black", ls=":", lw=1)
        axes.set_title(wire, fontsize=9)
        axes.margins(x=0.15)
        axes.set_xlim(0, spent[names[-1]] * 1.2)
    each_axes[0].invert_yaxis()
    figure.supxlabel("ms of processor time a call; dotted: the most that an emission may take", fontsize=9)
    return _shown_once(figure)


def streams(points: Sequence[Mapping[str, Any]]) -> Figure:
    """Show the cost of streams against their size; what was extrapolated is dashed and hollow."""
    shown = [wire for wire in WIRES if any(each["wire"] == wire for each in points)]
    sizes, colours = sorted({each["kilobytes"] for each in points}), _colours(each["contender"] for each in points)
    figure, each_axes = plt.subplots(1, len(shown), figsize=(11, 3.8), sharey=True)
    for axes, wire in zip(each_axes, shown, strict=True):
        here = [each for each in points if each["wire"] in (wire, "no wire")]
        for name in dict.fromkeys(each["contender"] for each in here):
            line = [each for each in here if each["contender"] == name]
            _line(axes, colours[name], [(each["kilobytes"], each["seconds"], each["estimated"]) for each in line])
        _log(axes, wire, sizes)
    each_axes[0].set_ylabel("seconds of processor time")
    _legend(figure, {SHOWN.get(name, name): colour for name, colour in colours.items()})
    figure.supxlabel(
        "KB of answer, in deltas of 20 characters; hollow and dashed: stopped and extrapolated", fontsize=9
    )
    return _shown_once(figure)


def recoveries(points: Sequence[Mapping[str, Any]]) -> Figure:
    """Show the cost of recovery against size, and where a reader was stopped or gave up."""
    texts, colours = list(dict.fromkeys(each["text"] for each in points)), _colours(each["reader"] for each in points)
    sizes = sorted({each["kilobytes"] for each in points})
    figure, each_axes = plt.subplots(1, len(texts), figsize=(11, 3), sharey=True)
    for axes, text in zip(each_axes, texts, strict=True):
        for name, colour in colours.items():
            line = [each for each in points if (each["reader"], each["text"]) == (name, text)]
            _line(axes, colour, [(each["kilobytes"], each["seconds"], False) for each in line if each["seconds"]])
            for each in (each for each in line if each["seconds"] is None):
                axes.annotate(
                    each["end"], (each["kilobytes"], 1e-2), rotation=90, fontsize=7, color=colour, ha="center"
                )
        _log(axes, text, sizes)
    each_axes[0].set_ylabel("seconds of processor time")
    _legend(figure, colours)
    figure.supxlabel("KB of text", fontsize=9)
    return _shown_once(figure)


def _colours(names: Iterable[str]) -> dict[str, Any]:
    """Return a colour for each name, this library's being its own."""
    rest = (each for at, each in enumerate(mpl.color_sequences["tab10"]) if at != _GREEN)
    return {each: _OURS if each in ("emit", "emitter") else next(rest) for each in dict.fromkeys(names)}


def _legend(figure: Figure, colours: Mapping[str, Any]) -> None:
    handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=8)


def memory(load: Mapping[str, Any], names: Sequence[str]) -> Figure:
    """Show the memory of the process while it works."""
    figure, axes = plt.subplots(figsize=(6, 2.2))
    for name in names:
        samples = load[name]["memory_mb"]
        axes.plot(np.linspace(0, load["total"], len(samples) + 1)[1:], samples, label=name)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("answers")
    axes.set_ylabel("MB resident")
    axes.legend(frameon=False)
    return _shown_once(figure)


def _line(axes: Axes, colour: Any, points: Sequence[tuple[float, float, bool]]) -> None:
    style: dict[str, Any] = {
        "color": colour,
        "lw": 2.5 if colour == _OURS else 1,
        "zorder": 5 if colour == _OURS else 2,
    }
    real = [each[:2] for each in points if not each[2]]
    beyond = [each[:2] for each in points if each[2]]
    for line, form in ((real, "o-"), ([*real[-1:], *beyond], "--")):
        axes.plot([x for x, _ in line], [y for _, y in line], form, ms=3, **style)
    axes.plot([x for x, _ in beyond], [y for _, y in beyond], "o", ms=4, mfc="white", **style)


def _log(axes: Axes, title: str, sizes: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{each}" for each in sizes])
    axes.set_xticks([], minor=True)
    axes.set_title(title, fontsize=9)
