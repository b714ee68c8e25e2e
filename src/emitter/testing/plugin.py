"""The pytest plugin: the fixture ``emitter_vendor``, cassettes, and a network block.

pytest imports this module in every session of everyone who installs emitter, so it imports nothing else of emitter.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path  # noqa: F401  used in a StashKey

    import httpx2
    from pluggy import Result

    from emitter.testing.cassettes import CassetteSession, ClientFactory
    from emitter.testing.plugin_support import CassettePlan
    from emitter.testing.simulation import Simulator

_CASSETTE_FIXTURES = frozenset({"emitter_http", "emitter_ahttp", "emitter_client"})
_BLOCK_MODES = ("marked", "all", "off")
_VENDOR_MARKER = (
    "emitter_vendor(answers, seed, latency, tokens_per_second, check_schemas, keep, ...): "
    "options of the simulated vendor in the fixture emitter_vendor, as of emitter.testing.simulator. "
    "The default seed comes from the test's id."
)
_CASSETTE_MARKER = (
    "emitter_cassette(name=None, allow_unused=False): answer emitter_client, emitter_http and emitter_ahttp from this "
    "cassette (default: one file for each test). The test fails if it leaves a part unused. "
    "--emitter-record records it. The network is blocked."
)
_T = TypeVar("_T")
_uses_emitter = pytest.StashKey[bool]()
_cassette_plan = pytest.StashKey["CassettePlan"]()
_cassette_session = pytest.StashKey["CassetteSession"]()
_vendor_run = pytest.StashKey["tuple[Simulator, int]"]()
_blocked_attempts = pytest.StashKey["list[str]"]()
_recorded_files = pytest.StashKey["dict[Path, str]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command line options and the ini options."""
    group = parser.getgroup("emitter", "emitter: simulated vendors and cassettes")
    group.addoption(
        "--emitter-record",
        choices=("none", "once", "all"),
        default="none",
        help="Record cassettes by calling the vendor. once: missing ones; all: every one. A cassette is written, "
        "without credentials, when its test has passed. Default: none.",
    )
    group.addoption(
        "--emitter-prompts",
        action="store_true",
        help="Show the requests to the simulated vendor, with their prompts, when a test fails.",
    )
    parser.addini(
        "emitter_cassettes", "Folder of cassettes, relative to rootdir. Default: cassettes/ next to the test file."
    )
    parser.addini(
        "emitter_block_network",
        "Tests that can connect to this machine only: marked (those that use emitter's markers and fixtures), all, or "
        "off. Tests that record are never blocked.",
        default="marked",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and check the configuration."""
    for marker in (_VENDOR_MARKER, _CASSETTE_MARKER):
        config.addinivalue_line("markers", marker)
    if (mode := config.getini("emitter_block_network")) not in _BLOCK_MODES:
        raise pytest.UsageError(f"emitter_block_network is {mode!r}. It must be one of {', '.join(_BLOCK_MODES)}.")
    config.stash[_recorded_files] = {}


@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # every version of pluggy knows this form
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Prepare the cassette and block the network."""
    fixtures = getattr(item, "fixturenames", ())
    item.stash[_blocked_attempts] = []
    item.stash[_uses_emitter] = "emitter_vendor" in fixtures or item.get_closest_marker("emitter_vendor") is not None
    if not _CASSETTE_FIXTURES.isdisjoint(fixtures) or item.get_closest_marker("emitter_cassette") is not None:
        _prepare_cassette(item)
    with _guard_network(item):
        yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Block the network."""
    with _guard_network(item):
        yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Block the network."""
    with _guard_network(item):
        yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Result[pytest.TestReport]]:
    """Finish the cassette of a passed test, and add the vendor's calls to the report of a failed one."""
    outcome = yield
    if call.when == "call" and (session := item.stash.get(_cassette_session, None)):
        _finish_cassette(session, outcome.get_result())
    if (_vendor_run in item.stash or item.stash.get(_blocked_attempts, None)) and (
        report := outcome.get_result()
    ).failed:
        report.sections.extend(_iter_report_sections(item))


def _finish_cassette(session: CassetteSession, report: pytest.TestReport) -> None:
    if not report.passed or session.failed:
        return
    from emitter.errors import BadCassette  # noqa: PLC0415  see the module docstring

    try:
        problem = session.finish()
    except BadCassette as error:
        problem = str(error)
    if problem:
        report.outcome, report.longrepr = "failed", problem


def _iter_report_sections(item: pytest.Item) -> Iterator[tuple[str, str]]:
    from emitter.testing.plugin_support import format_report  # noqa: PLC0415  see the module docstring

    if vendor := item.stash.get(_vendor_run, None):
        yield (
            "What reached emitter_vendor",
            format_report(*vendor, prompts=bool(item.config.getoption("emitter_prompts"))),
        )
    if attempts := item.stash.get(_blocked_attempts, None):
        yield "Blocked by emitter", "\n".join(attempts)


def _guard_network(item: pytest.Item) -> AbstractContextManager[None]:
    """Return a context manager that blocks the network for this test, if it must be blocked."""
    mode = item.config.getini("emitter_block_network")
    plan = item.stash.get(_cassette_plan, None)
    if (plan and plan.recording) or mode == "off" or not (mode == "all" or item.stash.get(_uses_emitter, False)):
        return nullcontext()
    from emitter.testing.plugin_support import block_network  # noqa: PLC0415  see the module docstring

    return block_network(item.nodeid, item.stash.setdefault(_blocked_attempts, []))


def _prepare_cassette(item: pytest.Item) -> None:
    """Plan the cassette before the fixtures run: a test that records is not blocked."""
    from emitter.errors import EmitterError  # noqa: PLC0415  see the module docstring

    item.stash[_uses_emitter] = True
    with suppress(EmitterError):  # too early to fail the test; the fixture raises it again
        _make_plan(item)


def _make_plan(item: pytest.Item) -> CassettePlan:
    from emitter.testing.plugin_support import make_cassette_plan  # noqa: PLC0415  see the module docstring

    item.stash[_cassette_plan] = plan = make_cassette_plan(item, item.config.stash[_recorded_files])
    return plan


def _call_or_fail(make: Callable[[], _T]) -> _T:
    """Call ``make``, and fail the test with the message of an ``EmitterError``, without emitter's traceback."""
    from emitter.errors import EmitterError  # noqa: PLC0415  see the module docstring

    try:
        return make()
    except EmitterError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.fixture
def emitter_vendor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a simulated vendor for the test, and point the environment variables of all vendors' SDKs to it.

    It is an ``emitter.testing.Simulator``. ``@pytest.mark.emitter_vendor(answers=..., seed=...)`` sets its options.
    """
    item: pytest.Item = request.node
    item.stash[_uses_emitter] = True
    with ExitStack() as stack:
        item.stash[_vendor_run] = vendor = _call_or_fail(lambda: stack.enter_context(_start_vendor(item, monkeypatch)))
        stack.callback(item.stash.__delitem__, _vendor_run)
        yield vendor[0]


def _start_vendor(item: pytest.Item, patch: pytest.MonkeyPatch) -> AbstractContextManager[tuple[Simulator, int]]:
    from emitter.testing.plugin_support import run_vendor  # noqa: PLC0415  see the module docstring

    return run_vendor(item, patch)


@pytest.fixture
def _emitter_session(request: pytest.FixtureRequest) -> Iterator[CassetteSession]:
    """Open the test's cassette."""
    item: pytest.Item = request.node
    plugins = request.config.pluginmanager
    item.stash[_uses_emitter] = True
    item.stash[_cassette_session] = session = _call_or_fail(lambda: _open_session(item))
    plugins.register(session)
    yield session
    plugins.unregister(session)
    session.close()
    del item.stash[_cassette_session]


def _open_session(item: pytest.Item) -> CassetteSession:
    from emitter.testing.cassettes import open_cassette_session  # noqa: PLC0415  see the module docstring

    return open_cassette_session(_make_plan(item))


@pytest.fixture
def emitter_http(_emitter_session: CassetteSession) -> httpx2.Client:
    """Return an httpx2 client for a vendor's SDK that sends through the test's cassette."""
    return _emitter_session.http()


@pytest.fixture
def emitter_ahttp(_emitter_session: CassetteSession) -> httpx2.AsyncClient:
    """Return an asynchronous httpx2 client for a vendor's SDK that sends through the test's cassette."""
    return _emitter_session.ahttp()


@pytest.fixture
def emitter_client(_emitter_session: CassetteSession) -> ClientFactory:
    """Return a function that creates a vendor's SDK client, which sends through the test's cassette.

    ``emitter_client("openai/gpt-6-sol", asynchronous=False, base_url=None)``. Replay needs no API key.
    """

    def client(model: str, *, asynchronous: bool = False, base_url: str | None = None) -> Any:
        return _call_or_fail(lambda: _emitter_session.client(model, asynchronous=asynchronous, base_url=base_url))

    return client
