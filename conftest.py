"""The README is run as it stands, against the simulator, a real server on loopback; no test depends on the machine."""

from __future__ import annotations

import gc
import os
import re
import shlex
import shutil
import signal
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from tests.scenarios.answers import BOUND, INVOICE
from tests.work import FULL, examples

from emitter.cli import main
from emitter.messages import as_mapping
from emitter.testing import Text, simulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sybil import Example

    from emitter.testing import ReceivedRequest

# No profile has a deadline: how fast a machine is must not decide a test.
_COMMON = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
settings.register_profile("same", _COMMON, derandomize=True, max_examples=examples(100))  # on every machine
settings.register_profile("fresh", _COMMON, derandomize=False, max_examples=examples(100))


# Google's SDK reads the certificates of all the world's authorities for each client, which takes longer than most
# tests. No test reaches another machine, so the one of nobody is enough.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "tests" / "data" / "certificate.pem")


# SQLite waits for the disk at each commit, and a hundred of them take a second. In memory they take none, and a process
# that is killed leaves the same there.
_MEMORY = Path("/dev/shm")  # noqa: S108  pytest makes a private folder in it
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


def pytest_configure(config: pytest.Config) -> None:
    """Choose the examples that property tests draw, before their modules are imported; let Ctrl-C reach children.

    Collecting makes much and throws away little, so the garbage collector rests until it is done.
    A shell that starts the tests in the background has them ignore the interrupt signal, and so would every program
    that they start and interrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    seeded = config.getoption("--hypothesis-seed", default=None) is not None
    settings.load_profile("fresh" if FULL or seeded else "same")
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with few tests first: they start processes and browsers, and no worker should end with one.

    What collecting made is kept to the end, so the garbage collector need not look at it again and again.
    """
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (tests[item.path], item.path))
    gc.collect()
    gc.freeze()
    gc.enable()


_BOUND, _INVOICE = Text(BOUND), Text(INVOICE)


def _answer(asked: ReceivedRequest) -> Text:
    title = as_mapping(asked.schema).get("title")
    return _INVOICE if title == "Invoice" else _BOUND


@pytest.fixture(scope="module")
def vendors(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point the vendors' variables at a simulator, and write files where nobody keeps any.

    A page whose programs import what is not installed is skipped.
    """
    programs = "".join(re.findall(r"^```python\n(.*?)^```", request.path.read_text(), re.MULTILINE | re.DOTALL))
    modules = set(re.findall(r"^(?:from|import) (\w+)", programs, re.MULTILINE))
    missing = sorted(name for name in modules if find_spec(name) is None)
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed: `make check` installs it")
    with simulator(answers=_answer) as vendor, pytest.MonkeyPatch.context() as patch:
        for name, value in vendor.environment().items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("readme")
        for name in (
            "media/invoice.pdf",
            "media/receipt.jpg",
            "shell/invoices.py",
            "shell/jobs.jsonl",
            "shell/mail.txt",
        ):
            shutil.copy(Path(__file__).parent / "examples" / name, folder)
        patch.chdir(folder)
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
    parsers=[PythonCodeBlockParser(), _Shell()],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
    fixtures=["vendors"],
).pytest()
