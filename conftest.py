"""The README is run as it stands, against a real server on loopback that answers as the vendors do."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from tests.loopback import serving
from tests.scenarios.answers import BOUND, INVOICE, text

from emitter.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sybil import Example
    from tests.scenarios.vendors import Response, Vendor

_ENVIRONMENT = {
    "OPENAI_API_KEY": "no-key",
    "OPENAI_BASE_URL": "{url}/v1",
    "ANTHROPIC_API_KEY": "no-key",
    "ANTHROPIC_BASE_URL": "{url}",
    "GEMINI_API_KEY": "no-key",
    "GOOGLE_GEMINI_BASE_URL": "{url}",
}


@pytest.fixture(scope="module")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point the vendors' variables at the server, and write files where nobody keeps any."""

    def answer(vendor: Vendor) -> Response:
        asked_for_invoice = '"name": "Invoice"' in json.dumps(server.seen[-1].body)
        return vendor.whole(text(INVOICE if asked_for_invoice else BOUND), 600)

    with serving(answer) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in _ENVIRONMENT.items():
            patch.setenv(name, value.format(url=server.url))
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
