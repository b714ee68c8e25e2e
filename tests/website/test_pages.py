"""The tests that pages show pass, as a reader runs them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter import AsyncEmitter
from emitter.profiles import load_profile_from
from emitter.render import get_renderer
from tests.testing.plugged import run
from tests.typing.blocks import program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.profiles import Profile

pytest_plugins = ["pytester"]

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"tutorial/testing.md": 3, "guides/fastapi.md": 4}
"""How many tests each page shows."""


assert AsyncEmitter  # loaded before a page is run: pytester forgets what a page loads first


@pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not here")
@pytest.mark.parametrize(("page", "tests"), PAGES.items(), ids=PAGES)
def test_the_tests_of_a_page_pass(page: str, tests: int, pytester: pytest.Pytester) -> None:
    """They are copied into one file, as the page says."""
    shown = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    assert len(re.findall(r"^def test_", "\n".join(shown), re.MULTILINE)) == tests

    run(pytester, "\n".join(shown), passed=tests)


@pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not here")
def test_the_profile_that_a_page_shows_can_be_used(tmp_path: Path) -> None:
    """It extends one of the library's, and says what it should of its model."""
    shown, changes = re.findall(
        r"^```toml\n(.*?)^```", (DOCS / "guides" / "vendors.md").read_text(), re.DOTALL | re.MULTILINE
    )
    for file in (DOCS.parent / "providers").glob("*.toml"):
        shutil.copy(file, tmp_path)
    (tmp_path / "acme.toml").write_text(shown)

    profile = load_profile_from(tmp_path, "acme")

    assert (profile.title, profile.client.base_url) == ("Acme Cloud", "https://api.acme.example/v1")
    assert (profile.client.base_url_env, profile.client.key_env) == (None, ("ACME_API_KEY",))
    assert (profile.wires[profile.default_wire].tokens.parameter, profile.thinkers[0].effort) == ("max_tokens", "low")
    assert set(supported_settings(profile)) == {"temperature", "top_p", "seed", "reasoning_effort", "stop"}

    top, _, table = changes.partition("\n\n")
    (tmp_path / "acme.toml").write_text(f"{top}\n{shown}\n{table}")
    changed = load_profile_from(tmp_path, "acme")
    assert (changed.media, "seed" in supported_settings(changed)) == ((), False)


def supported_settings(profile: Profile) -> Mapping[str, object]:
    """Return the settings that a vendor's usual wire takes."""
    parameters = profile.wires[profile.default_wire].parameters
    assert parameters is not None
    return parameters.accepted


@pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not here")
def test_a_page_shows_a_decision_as_it_is_drawn() -> None:
    """The text in the tutorial is what its program prints."""
    page = (DOCS / "tutorial" / "ask-a-person.md").read_text()
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(program(page.partition("## Take the answer")[0]), names)  # noqa: S102  the page's program

    assert get_renderer("text").draw(names["moment"]).strip() == shown.strip()


@pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not here")
def test_a_page_shows_the_example_of_ray() -> None:
    """Its form and its function, as ``tests/integrations/test_ray.py`` runs them where Ray is installed."""
    example = (DOCS.parent / "examples" / "ray_dataset.py").read_text()

    assert (
        example[example.index("class Invoice") : example.index("def main")] in (DOCS / "guides" / "ray.md").read_text()
    )
