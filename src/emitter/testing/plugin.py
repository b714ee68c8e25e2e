"""The pytest plugin: a simulated vendor, cassettes, and no network; it does nothing in tests that use none of it.

Every pytest session of everyone who installs the library loads this module, so it imports nothing of it.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path  # noqa: F401  in the key of a stash

    import httpx2
    from pluggy import Result

    from emitter.testing.pytest_plugin.plan import Plan
    from emitter.testing.pytest_plugin.tape import Tape
    from emitter.testing.simulation import Simulator

_TAPED = frozenset({"emitter_http", "emitter_ahttp", "emitter_client"})
_BLOCKING = ("marked", "all", "off")
_VENDOR = (
    "emitter_vendor(answers, seed, latency, tokens_per_second, check_schemas, keep, ...): "
    "how the simulated vendor of the fixture emitter_vendor answers; the options are those of "
    "emitter.testing.simulation, and the seed comes from the test's id where none is given."
)
_CASSETTE = (
    "emitter_cassette(name=None, allow_unused=False): replay this cassette to what emitter_client, emitter_http and "
    "emitter_ahttp send (by default a file of the test's own); the test fails if it does not ask for all of it. "
    "--emitter-record records it. The network is blocked."
)

_T = TypeVar("_T")

_uses = pytest.StashKey[bool]()
_plan = pytest.StashKey["Plan"]()
_tape = pytest.StashKey["Tape"]()
_vendor = pytest.StashKey["tuple[Simulator, int]"]()
_tried = pytest.StashKey["list[str]"]()
_recorded = pytest.StashKey["dict[Path, str]"]()


class ClientFactory(Protocol):
    """Makes a client of a vendor's own SDK that sends through the test's cassette."""

    def __call__(self, model: str, *, asynchronous: bool = False, base_url: str | None = None) -> Any:
        """Return the client for ``vendor/model``; ``base_url`` beats the environment."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of the configuration file."""
    group = parser.getgroup("emitter", "emitter: simulated vendors and cassettes")
    group.addoption(
        "--emitter-record",
        choices=("none", "once", "all"),
        default="none",
        help="Record cassettes by really asking the vendor: once: those that are missing; all: anew. A cassette is "
        "written when its test has passed, without credentials. Default: none, nothing is asked.",
    )
    group.addoption(
        "--emitter-prompts",
        action="store_true",
        help="Show the requests that reached the simulated vendor, prompts and all, when a test fails.",
    )
    parser.addini("emitter_cassettes", "Folder of cassettes, from rootdir. Default: cassettes/ beside the test file.")
    parser.addini(
        "emitter_block_network",
        "Tests in which only this machine can be reached: marked (those that use emitter's marks and fixtures), "
        "all, or off. Tests that record are never blocked.",
        default="marked",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tell the marks and check the configuration."""
    for each in (_VENDOR, _CASSETTE):
        config.addinivalue_line("markers", each)
    if (found := config.getini("emitter_block_network")) not in _BLOCKING:
        raise pytest.UsageError(f"emitter_block_network is {found!r}; it can be {', '.join(_BLOCKING)}.")
    config.stash[_recorded] = {}


@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # this older form is known to every pluggy
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Find out what the test is to have, and block the network."""
    fixtures = getattr(item, "fixturenames", ())
    item.stash[_tried] = []
    item.stash[_uses] = "emitter_vendor" in fixtures or item.get_closest_marker("emitter_vendor") is not None
    if not _TAPED.isdisjoint(fixtures) or item.get_closest_marker("emitter_cassette") is not None:
        _plan_ahead(item)
    with _guard(item):
        yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Block the network."""
    with _guard(item):
        yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Block the network."""
    with _guard(item):
        yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Result[pytest.TestReport]]:
    """Settle the cassette of a test that passed, and tell of one that failed what reached the vendor."""
    outcome = yield
    if call.when == "call" and (tape := item.stash.get(_tape, None)):
        _settle(tape, outcome.get_result())
    if (_vendor in item.stash or item.stash.get(_tried, None)) and (report := outcome.get_result()).failed:
        report.sections.extend(_sections(item))


def _settle(tape: Tape, report: pytest.TestReport) -> None:
    if not report.passed or tape.failed:
        return
    try:
        wrong = tape.settle()
    except OSError as error:
        wrong = f"The cassette {tape.plan.path} could not be written: {error}."
    if wrong:
        report.outcome, report.longrepr = "failed", wrong


def _sections(item: pytest.Item) -> Iterator[tuple[str, str]]:
    from emitter.testing.pytest_plugin.books import told  # noqa: PLC0415  see the module's docstring

    if vendor := item.stash.get(_vendor, None):
        yield "What reached emitter_vendor", told(*vendor, prompts=bool(item.config.getoption("emitter_prompts")))
    if tried := item.stash.get(_tried, None):
        yield "Blocked by emitter", "\n".join(tried)


def _guard(item: pytest.Item) -> AbstractContextManager[None]:
    """Return what blocks the network for a phase of a test, if it is to be blocked."""
    wanted = item.config.getini("emitter_block_network")
    plan = item.stash.get(_plan, None)
    if (plan and plan.recording) or wanted == "off" or not (wanted == "all" or item.stash.get(_uses, False)):
        return nullcontext()
    from emitter.testing.pytest_plugin.network import blocked  # noqa: PLC0415  see the module's docstring

    return blocked(item.nodeid, item.stash.setdefault(_tried, []))


def _plan_ahead(item: pytest.Item) -> None:
    """Find out before the fixtures whether the test is to record: then it is not blocked."""
    from emitter.errors import EmitterError  # noqa: PLC0415  see the module's docstring

    item.stash[_uses] = True
    with suppress(EmitterError):  # raised again by the fixture: not all of pytest is set up for this test yet
        _planned(item)


def _planned(item: pytest.Item) -> Plan:
    from emitter.testing.pytest_plugin.plan import plan  # noqa: PLC0415  see the module's docstring

    item.stash[_plan] = made = plan(item, item.config.stash[_recorded])
    return made


def _or_fail(make: Callable[[], _T]) -> _T:
    """Return what is made; the library's own errors become the test's, without a traceback through the library."""
    from emitter.errors import EmitterError  # noqa: PLC0415  see the module's docstring

    try:
        return make()
    except EmitterError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def emitter_vendor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a simulated vendor for the test, with the variables of all vendors' SDKs leading to it.

    It is an ``emitter.testing.Simulator``; ``@pytest.mark.emitter_vendor(answers=..., seed=...)`` has its options.
    """
    item: pytest.Item = request.node
    item.stash[_uses] = True
    with ExitStack() as stack:
        item.stash[_vendor] = vendor = _or_fail(lambda: stack.enter_context(_vendor_of(item, monkeypatch)))
        stack.callback(item.stash.__delitem__, _vendor)
        yield vendor[0]


def _vendor_of(item: pytest.Item, patch: pytest.MonkeyPatch) -> AbstractContextManager[tuple[Simulator, int]]:
    from emitter.testing.pytest_plugin.vendor import running  # noqa: PLC0415  see the module's docstring

    return running(item, patch)


@pytest.fixture
def _emitter_tape(request: pytest.FixtureRequest) -> Iterator[Tape]:
    """Open the test's cassette."""
    item: pytest.Item = request.node
    plugins = request.config.pluginmanager
    item.stash[_uses] = True
    item.stash[_tape] = tape = _or_fail(lambda: _tape_of(item))
    plugins.register(tape)
    yield tape
    plugins.unregister(tape)
    tape.close()
    del item.stash[_tape]


def _tape_of(item: pytest.Item) -> Tape:
    from emitter.testing.pytest_plugin.tape import tape  # noqa: PLC0415  see the module's docstring

    return tape(_planned(item))


@pytest.fixture
def emitter_http(_emitter_tape: Tape) -> httpx2.Client:
    """Return an httpx2 client that sends through the test's cassette, to be given to a vendor's SDK."""
    return _emitter_tape.http()


@pytest.fixture
def emitter_ahttp(_emitter_tape: Tape) -> httpx2.AsyncClient:
    """Return an asynchronous httpx2 client that sends through the test's cassette, to be given to a vendor's SDK."""
    return _emitter_tape.ahttp()


@pytest.fixture
def emitter_client(_emitter_tape: Tape) -> ClientFactory:
    """Return what makes a vendor's SDK client that sends through the test's cassette.

    ``emitter_client("openai/gpt-6-sol", asynchronous=False, base_url=None)``. No key is needed to replay.
    """

    def client(model: str, *, asynchronous: bool = False, base_url: str | None = None) -> Any:
        return _emitter_tape.client(model, asynchronous=asynchronous, base_url=base_url)

    return client
