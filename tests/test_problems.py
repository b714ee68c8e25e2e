"""A warning never costs what was paid for before it, also where a filter makes warnings exceptions, as here."""

from __future__ import annotations

import ast
import asyncio
import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from emitter import AsyncEmitter, Emitter, RateLimit, aemit, aemit_many, astream, emit, emit_many, stream
from emitter.bulk.batches import Batch
from emitter.client.background import Background
from emitter.client.rate_limits import Ticket
from emitter.decisions.ledger import Ledger
from emitter.errors import StoreFailed, UnknownModelWarning
from emitter.problems import warn_of_problem
from emitter.stores import MemoryStore
from emitter.testing import Text, simulator
from tests.decisions.ledger.asking import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.testing import Simulator


pytest.importorskip("openai")
SOURCE = Path(__file__).parent.parent / "src" / "emitter"
ALLOWED = {
    "problems.py": "the one function that never raises",
    "client/request.py": "an unknown model, before anything is sent",
    "forms/document.py": "a mapping that is no schema, before anything is sent",
}


def _uses_of_warn(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id="warnings"), attr="warn" | "warn_explicit"):
                yield path.relative_to(SOURCE).as_posix()
            case ast.ImportFrom(module="warnings"):
                yield path.relative_to(SOURCE).as_posix()
            case _:
                pass


def test_other_code_does_not_warn_itself() -> None:
    """It calls ``warn_of_problem``, unless nothing was sent yet."""
    assert {each for path in SOURCE.rglob("*.py") for each in _uses_of_warn(path)} == set(ALLOWED)


class _OddFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        raise ValueError(record.msg)


def _show(*_: object, **__: object) -> None:
    raise ValueError


def test_a_warning_is_logged_where_it_would_raise(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter raises, or a function of the caller's that shows warnings, or even one of the logger's."""
    warn_of_problem("100% lost")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", _show)
        warn_of_problem("not shown")
    assert [each.getMessage() for each in caplog.records] == ["100% lost", "not shown"]
    odd, logger = _OddFilter(), logging.getLogger("emitter")
    logger.addFilter(odd)
    try:
        warn_of_problem("lost")
    finally:
        logger.removeFilter(odd)


class Report(BaseModel):
    """What is asked for."""

    title: str


class BrokenError(Exception):
    """What the caller's code raises."""


ANSWER = Report(title="Otters")
MODEL = "openai/gpt-6-sol"


def _raise(_: object) -> None:
    raise BrokenError


class _Limiter:
    """A rate limiter that fails once the answer is there."""

    def reserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Put a call into the queue."""
        return Ticket(input_tokens, max_output_tokens)

    async def areserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Put a call into the queue."""
        return self.reserve(input_tokens, max_output_tokens)

    def delay(self, ticket: Ticket) -> float:  # noqa: ARG002  the protocol's
        """Let every call start."""
        return 0.0

    def release(self, ticket: Ticket) -> None:
        """Do nothing."""

    def observe(self, *_: object, **__: object) -> None:
        """Fail."""
        raise BrokenError


class _FullStore(MemoryStore):
    """A store that keeps nothing more."""

    __slots__ = ()

    def get_or_create(self, *_: Any, **__: Any) -> Any:
        """Fail."""
        raise StoreFailed("The disk is full.")


def _stream(client: Any, **options: Any) -> object:
    with stream(Report, "What?", model=MODEL, client=client, **options) as events:
        list(events)
        return events.result().value


async def _astream(client: Any, **options: Any) -> object:
    async with astream(Report, "What?", model=MODEL, client=client, **options) as events:
        async for _ in events:
            pass
        return (await events.result()).value


async def _aemit(client: Any, **options: Any) -> object:
    return (await aemit(Report, "What?", model=MODEL, client=client, **options)).value


async def _aemitter(client: Any, **options: Any) -> object:
    return (await AsyncEmitter(MODEL, client=client, **options).emit(Report, "What?")).value


def _emit_many(client: Any, **options: Any) -> object:
    [result] = emit_many(Report, ["What?"], model=MODEL, client=client, **options).results()
    return result.value


async def _aemit_many(client: Any, **options: Any) -> object:
    [result] = await aemit_many(Report, ["What?"], model=MODEL, client=client, **options).results()
    return result.value


WAYS: dict[str, Callable[..., Any]] = {
    "emit": lambda client, **options: emit(Report, "What?", model=MODEL, client=client, **options).value,
    "Emitter": lambda client, **options: Emitter(MODEL, client=client, **options).emit(Report, "What?").value,
    "stream": _stream,
    "aemit": _aemit,
    "AsyncEmitter": _aemitter,
    "astream": _astream,
    "emit_many": _emit_many,
    "aemit_many": _aemit_many,
}
PROBLEMS: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "sink": (lambda: {"on_event": _raise}, "on_event raised BrokenError"),
    "limiter": (lambda: {"rate_limit": RateLimit(limiter=_Limiter())}, "observe raised BrokenError"),
    "store": (lambda: {"background": Background(_FullStore(), "report-7")}, "could not be stored"),
}


async def _arun(way: str, client: Any, **options: Any) -> object:
    async with client:
        return await WAYS[way](client, **options)


def _run(way: str, vendor: Simulator, **options: Any) -> object:
    """Ask in one way through a client of the caller's, and close it."""
    is_async = way.startswith(("a", "A"))
    client: Any = vendor.client(MODEL, asynchronous=is_async or way == "emit_many")
    if is_async:
        return asyncio.run(_arun(way, client, **options))
    try:
        return WAYS[way](client, **options)
    finally:
        closing = client.close()
        if closing is not None:
            asyncio.run(closing)


@pytest.mark.parametrize(
    ("way", "problem"), [(way, name) for name in PROBLEMS for way in (WAYS if name != "store" else ("emit", "aemit"))]
)
def test_the_answer_survives(way: str, problem: str, caplog: pytest.LogCaptureFixture) -> None:
    """It is returned after one call, and the problem is logged."""
    options, said = PROBLEMS[problem]
    with simulator(answers=Text(ANSWER.model_dump())) as vendor:
        assert _run(way, vendor, **options()) == ANSWER
        assert len(vendor.calls) == 1
    assert any(said in each.getMessage() for each in caplog.records)


def test_a_batch_survives(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """So does the answer of a batch."""
    with simulator(answers=Text(ANSWER.model_dump())) as vendor:
        client: Any = vendor.client(MODEL, asynchronous=True)
        run = emit_many(
            Report, ["What?"], model=MODEL, client=client, batch=Batch(), journal=tmp_path / "j", on_event=_raise
        )
        [result] = run.results()
        asyncio.run(client.close())
    assert result.value == ANSWER
    assert any("on_event raised BrokenError" in each.getMessage() for each in caplog.records)


def test_a_decision_survives(caplog: pytest.LogCaptureFixture) -> None:
    """What the ledger recorded stands, and is returned."""
    ledger = Ledger(on_event=_raise)
    pending = ledger.open(moment(dialogue=False))
    assert ledger.pending() == (pending,)
    assert "The ledger's sink raised BrokenError" in caplog.text


@pytest.mark.parametrize("way", WAYS)
def test_an_unknown_model_costs_nothing(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its warning, which a strict filter raises, comes before the first request."""
    monkeypatch.setitem(globals(), "MODEL", "openai/gpt-10")
    with simulator(answers=Text(ANSWER.model_dump())) as vendor:
        with pytest.raises(UnknownModelWarning):
            _run(way, vendor)
        assert not vendor.calls
