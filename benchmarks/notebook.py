"""Runs ``examples/benchmark.ipynb`` from top to bottom: ``python -m benchmarks.notebook``.

With ``BENCHMARK=full`` in the environment it takes some minutes, writes ``benchmarks/results.json``, and keeps the
notebook with its outputs: they are small (tables, and pictures of some kilobytes), and whoever reads the notebook where
it is kept wants to see them. Otherwise it is quick and the executed copy goes to ``build/``. Nothing of the machine
stays in it: no times of execution, no warnings, no paths.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbclient import NotebookClient

from benchmarks.libraries import ROOT
from benchmarks.page import note

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTEBOOK = ROOT / "examples" / "benchmark.ipynb"
_PATIENCE = 3600
_LARGEST = 400_000
"""Characters that the notebook may have."""


def executed(path: Path = NOTEBOOK) -> Any:
    """Return the notebook with what its cells put out; raises ``CellExecutionError`` where one fails."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=_PATIENCE, resources={"metadata": {"path": str(path.parent)}}).execute()
    return _clean(notebook)


def _clean(notebook: Any) -> Any:
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_plain(each) for each in cell.outputs if each.get("name") != "stderr"]
    return notebook


def _plain(output: Any) -> Any:
    """Return an output without its count, and a picture without the words for those who cannot show it."""
    if "execution_count" in output:
        output.execution_count = None
    if "image/png" in output.get("data", {}):
        output.data.pop("text/plain", None)
        output.metadata = {}
    return output


def written(notebook: Any) -> str:
    """Return the notebook as text; raises ``ValueError`` where it holds a path of this machine or is too large."""
    text: str = nbformat.writes(notebook) + "\n"
    for each in (str(ROOT), str(Path.home()), sys.prefix):
        if each in text:
            raise ValueError(f"the notebook's outputs hold a path of this machine: {each}")
    if len(text) > _LARGEST:
        raise ValueError(f"the notebook has {len(text):,} characters; {_LARGEST:,} are the most")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute, and write the copy to the path that is named, or to where the mode says."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    full = os.environ.get("BENCHMARK") == "full"
    target = Path(given[0]) if given else NOTEBOOK if full else ROOT / "build" / NOTEBOOK.name
    text = written(executed())
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")
    note(f"written: {target.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
