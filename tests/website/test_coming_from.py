"""The programs of docs/coming-from do the same with both libraries: ours, and the one that a reader comes from."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from emitter.testing import Text, simulator

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "coming-from").glob("*.md"))
ANSWER = Text({"vendor": "Acme", "total": 12.5})


def blocks(page: Path, language: str) -> str:
    """Return the blocks of a page that are written in a language."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))


def run(interpreter: Path, program: str, folder: Path) -> str:
    """Return what a program prints whose vendors are simulated."""
    (folder / "program.py").write_text(program)
    with simulator(answers=ANSWER) as vendor:
        done = subprocess.run(
            [interpreter, "program.py"],
            cwd=folder,
            env={**os.environ, **vendor.environment(), "BAML_LOG": "off", "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_our_program_prints_the_invoice(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is run as it stands."""
    with simulator(answers=ANSWER) as vendor:
        for name, value in vendor.environment().items():
            monkeypatch.setenv(name, value)
        exec(blocks(page, "python"), {})  # noqa: S102  the page's program
    assert capsys.readouterr().out == "Acme 12.5\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_their_program_prints_the_same(page: Path, tmp_path: Path) -> None:
    """It runs in the environment that ``make peers`` installs."""
    bin_folder = ROOT / ".venv" / f"peer-{page.stem}" / "bin"
    if not bin_folder.exists():
        pytest.skip(f"{page.stem} is not installed: make peers")
    if source := blocks(page, "baml"):
        generate(bin_folder, source, tmp_path)

    assert run(bin_folder / "python", blocks(page, "py"), tmp_path) == "Acme 12.5\n"


def generate(bin_folder: Path, source: str, folder: Path) -> None:
    """Generate BAML's client beside the program."""
    version = subprocess.run([bin_folder / "baml-cli", "--version"], capture_output=True, text=True, check=True)
    generator = f"""
generator python {{
  output_type "python/pydantic"
  output_dir ".."
  version "{version.stdout.split()[-1]}"
  default_client_mode sync
}}
"""
    (folder / "baml_src").mkdir()
    (folder / "baml_src" / "main.baml").write_text(source + generator)
    subprocess.run([bin_folder / "baml-cli", "generate"], cwd=folder, capture_output=True, check=True)
