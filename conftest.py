"""The README is run as it stands, against the simulator, a real server on loopback; no test depends on the machine."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from tests.scenarios.answers import BOUND, INVOICE

from emitter.cli import main
from emitter.testing import Text, simulator
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sybil import Example

    from emitter.testing import Asked

settings.register_profile("any day", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any day")  # how fast a machine is today is no law

_BOUND, _INVOICE = Text(BOUND), Text(INVOICE)


def _answer(asked: Asked) -> Text:
    title = mapping(asked.schema).get("title")
    return _INVOICE if title == "Invoice" else _BOUND


@pytest.fixture(scope="module")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point the vendors' variables at a simulator, and write files where nobody keeps any."""
    with simulator(answers=_answer) as vendor, pytest.MonkeyPatch.context() as patch:
        for name, value in vendor.environment().items():
            patch.setenv(name, value)
        patch.chdir(tmp_path_factory.mktemp("readme"))
        yield


class _Shell(CodeBlockParser):
    """Runs the ``emitter`` commands of a shell block; the others are for the reader's machine."""

    language = "bash"

    def evaluate(self, example: Example) -> None:
        """Run each line that is a command of ours; 0 and 1 are answers, 2 is a mistake in the README."""
        for line in str(example.parsed).splitlines():
            words = shlex.split(line)
            if words[:1] == ["emitter"]:
                assert main(words[1:]) in (0, 1), line


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), _Shell()], patterns=["README.md", "docs/*.md"], fixtures=["vendors"]
).pytest()
