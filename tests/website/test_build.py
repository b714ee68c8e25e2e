"""What the site is made of: every page in the navigation, every public name with a description."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from website.twins import list_pages, write_twins

ROOT = Path(__file__).parents[2]
NAV = ["index.md", {"Guides": ["many.md", {"Testing": [{"In CI": "guides/ci.md"}]}]}, {"Changes": "CHANGELOG.md"}]
TEXTS = {
    "index.md": "# emitter\n\n**Bold.**\n\n`emit` is\ntyped. And more.\n",
    "many.md": "# Many at once\n\n```sh\nls.\n```\n\nAsk a thousand times: it is easy.\n",
    "guides/ci.md": "# In CI\n\nReplay what was recorded.\n",
    "CHANGELOG.md": "# Changelog\n",
}


def test_a_navigation_is_read_with_its_sections() -> None:
    """A page belongs to the outermost section."""
    assert list(list_pages(NAV)) == [
        ("", "index.md"),
        ("Guides", "many.md"),
        ("Guides", "guides/ci.md"),
        ("", "CHANGELOG.md"),
    ]


def test_each_page_has_a_markdown_twin(tmp_path: Path) -> None:
    """``llms.txt`` lists the pages with a sentence of each, and ``llms-full.txt`` has all of them."""
    write_twins(tmp_path, {"site_name": "emitter", "site_description": "Typed output.", "nav": NAV}, TEXTS)

    assert {path: (tmp_path / path).read_text() for path in TEXTS} == TEXTS
    index = (tmp_path / "llms.txt").read_text()
    assert index.startswith("# emitter\n\n> Typed output.\n\n- [emitter](index.md): `emit` is typed.\n")
    assert (
        "\n## Guides\n\n- [Many at once](many.md): Ask a thousand times: it is easy.\n- [In CI](guides/ci.md): Replay"
        in index
    )
    assert all(text.strip() in (tmp_path / "llms-full.txt").read_text() for text in TEXTS.values())


def test_every_public_name_is_in_the_reference_with_a_docstring() -> None:
    """So are the methods and properties of the public classes, and what the pages import."""
    reference = pytest.importorskip("website.reference", reason="griffelib is not installed")
    listed = {
        f"{module}.{name}"
        for page in reference.PAGES
        for module, names in map(reference.split_module, page.modules)
        for name in names
    }

    assert reference.undocumented() == []
    assert {f"emitter.{name}" for name in reference.public_names("emitter")} <= listed
    assert len(listed) > 400


def test_the_site_loads_nothing_from_elsewhere_and_has_no_address() -> None:
    """No font of another host, and no address of a site that is not there yet."""
    project = tomllib.loads((ROOT / "website" / "zensical.toml").read_text())["project"]

    assert project["theme"]["font"] is False
    assert not {"site_url", "repo_url"} & set(project)


@pytest.mark.skipif(not (ROOT / "docs" / "index.md").exists(), reason="docs/ is not here")
def test_pages_name_the_distribution() -> None:
    """``pip install`` takes the distribution's name, and not that of the import."""
    pages = [*(ROOT / "docs").glob("*/*.md"), ROOT / "docs" / "index.md"]
    installs = [line for page in pages for line in re.findall(r"pip install.*", page.read_text())]

    assert installs
    assert all("llm-emitter[" in line for line in installs)


def test_the_twins_of_the_reference_have_no_addresses_and_all_properties() -> None:
    """A function as a default is shown by its name; a class by its public methods and properties."""
    reference = pytest.importorskip("website.reference", reason="griffelib is not installed")
    pages = {page.title: reference.render_markdown(page) for page in reference.PAGES}
    running = re.search(r"RunningAction\(.*?```", "".join(pages.values()), re.DOTALL)

    assert [title for title, text in pages.items() if re.search(" at 0x[0-9a-f]+", text)] == []
    assert running is not None
    assert "is_stopped\n    True if" in running[0]
    assert " _" not in running[0]
