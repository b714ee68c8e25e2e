"""The notebook runs from top to bottom without keys (under ``make check-all``), and what it counts of us holds.

No time is asserted: how fast something is, a full run says on a quiet machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.faults import FAULTS
from benchmarks.libraries import ALL, EMITTER, ROOT, SDK, WIRES
from benchmarks.matrix import Cell, measured, plain
from benchmarks.results import FILE, SECTIONS, load
from benchmarks.summary import CUT, REFUSALS, standings, targets
from benchmarks.table import tables
from benchmarks.truth import Outcome

from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS = ("_API_KEY", "_BASE_URL", "_PROXY")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Run the notebook in quick mode, with this library and the SDKs alone, and return its numbers."""
    if not FULL:
        pytest.skip("the notebook runs under make check-all")
    for package in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("benchmark")
    bare = {name: each for name, each in os.environ.items() if not name.upper().endswith(_KEYS)}
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.notebook", str(folder / "executed.ipynb")],
        cwd=ROOT,
        env={
            **bare,
            "BENCHMARK": "quick",
            "BENCHMARK_ONLY": f"{EMITTER.name},{SDK.name}",
            "BENCHMARK_RESULTS": str(folder / "results.json"),
        },
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()[-4000:]
    executed = json.loads((folder / "executed.ipynb").read_text("utf-8"))
    pictures = [
        out for cell in executed["cells"] for out in cell.get("outputs", ()) if "image/png" in out.get("data", {})
    ]
    return {**load(folder / "results.json"), "pictures": len(pictures), "words": json.dumps(executed)}


@pytest.fixture(scope="module")
def ours() -> list[dict[str, Any]]:
    """Return this library's cells."""
    return plain(measured([(EMITTER, None)]))


def test_every_section_is_measured(results: Mapping[str, Any]) -> None:
    """The file has every section, none of them empty, and the notebook a picture for five of them."""
    assert [name for name in SECTIONS if results[name]] == list(SECTIONS)
    assert results["pictures"] == 6


def test_what_is_left_out_is_named(results: Mapping[str, Any]) -> None:
    """A library that was not measured stands in the file and in the notebook, by name and with the reason."""
    absent = {each.name for each in ALL} - {EMITTER.name, SDK.name}

    assert set(results["about"]["missing"]) == absent
    assert all(each in results["words"] for each in absent)


def test_nothing_tells_of_the_machine(results: Mapping[str, Any]) -> None:
    """Neither the notebook nor the numbers hold a path or a user's name."""
    reported = results["words"] + json.dumps(results["about"])

    assert not [each for each in (str(ROOT), str(Path.home()), sys.prefix) if each in reported]


def test_every_fault_is_tried_on_every_wire(ours: list[dict[str, Any]]) -> None:
    """The matrix is whole."""
    assert {(each["wire"], each["fault"]) for each in ours} == {
        (wire, fault.name) for wire in WIRES for fault in FAULTS
    }


def test_no_wrong_value_and_no_untold_cause(ours: list[dict[str, Any]]) -> None:
    """This library never returns what is not the answer, and never hides what went wrong."""
    allowed = {Outcome.RIGHT.value, Outcome.TYPED.value}

    assert [each for each in ours if each["outcome"] not in allowed or not each["truth"]] == []


@pytest.mark.parametrize("fault", REFUSALS)
def test_a_refusal_is_asked_once(ours: list[dict[str, Any]], fault: str) -> None:
    """A refusal is one call on every wire, and never sent again."""
    assert [each["calls"] for each in ours if each["fault"] == fault] == [1] * len(WIRES)


@pytest.mark.parametrize("fault", CUT)
def test_a_cut_is_cured_by_a_larger_budget(ours: list[dict[str, Any]], fault: str) -> None:
    """What fits twice the budget is had with the second call, whole."""
    found = [(each["calls"], each["outcome"]) for each in ours if each["fault"] == fault]

    assert found == [(2, Outcome.RIGHT.value)] * len(WIRES)


def test_what_can_be_read_costs_one_call(ours: list[dict[str, Any]]) -> None:
    """A fence, words around the document, and words behind it cost nothing."""
    readable = {"clean", "fenced", "in prose", "trailing text"}

    assert {each["calls"] for each in ours if each["fault"] in readable} == {1}


def test_nothing_is_lost_under_load(results: Mapping[str, Any]) -> None:
    """Every emission comes back right, and the server was asked once for each."""
    reported = results["load"]["aemit_many"]

    assert (reported["right"], reported["served"]) == (results["load"]["total"],) * 2


def test_an_import_brings_nothing_heavy(results: Mapping[str, Any]) -> None:
    """``import emitter`` loads no SDK, no tokenizer and no repairer; the first name no SDK either."""
    imports = results["imports"]
    sdks = {"openai", "anthropic", "google.genai", "httpx2", "tiktoken", "json_repair"}

    assert imports["import emitter"]["heavy"] == []
    assert not sdks & set(imports["from emitter import emit_binding_moment"]["heavy"])


def test_the_tables_are_made_of_the_numbers(results: Mapping[str, Any]) -> None:
    """Every library and every target has its line, and what is left out is named."""
    made = tables(results)

    assert all(f"| {each.title} " in made for each in standings(results["faults"]))
    assert all(f"| {each.what} " in made for each in targets(results))
    assert "BAML (left out by BENCHMARK_ONLY)" in made


@pytest.mark.skipif(not FILE.exists(), reason="benchmarks/results.json is absent: make benchmark")
def test_the_kept_numbers_are_those_of_a_full_run() -> None:
    """The numbers that the README shows come from a full run in the form of today, and tell of no lie."""
    kept = load()
    cells = [Cell(**each) for each in kept["faults"]]
    mine = [each for each in cells if each.library == EMITTER.name]

    assert kept["about"]["mode"] == "full"
    assert list(kept) == list(SECTIONS)
    assert len(mine) == len(FAULTS) * len(WIRES)
    assert all(each.truth for each in mine)
