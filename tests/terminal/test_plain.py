"""The plain mode: lines of text, answered by typed lines, at a terminal, through a pipe, and with nobody there."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import select
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emitter.decisions import Dialogue, FreeText, Selected, Unresolved, UnresolvedReason, digest
from emitter.errors import BadResolution, DecisionExpired, InputError, NoSuchOption
from emitter.render import text_formats
from emitter.terminal import aask, ask, listen
from emitter.terminal import plain_mode as lines_of
from tests.terminal.moments import INVOICE, invoice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decisions import Resolution
    from emitter.models import BindingMoment

OF = digest(INVOICE)
ASKS = "Your choice: "
SOON = "soon:"
"""Before a line that comes as soon as the one before was read, without being asked for."""


def nobody(reason: UnresolvedReason) -> Unresolved:
    """Return that nobody answered."""
    return Unresolved(OF, reason)


SAID: dict[str, tuple[str, Resolution | Unresolved]] = {
    "a number": ("2\n", Selected(OF, 1)),
    "a number with a dot": (" 3.\n", Selected(OF, 2)),
    "a line without its end": ("1", Selected(OF, 0)),
    "an answer": ("a Pay EUR 5\n", FreeText(OF, "Pay EUR 5")),
    "an answer in two lines": ("a\nPay EUR 5\n", FreeText(OF, "Pay EUR 5")),
    "an answer that looks like a choice": ("a\n2\n", FreeText(OF, "2")),
    "an answer that is the word to leave": ("a\nq\n", FreeText(OF, "q")),
    "an answer with controls": ("a red \x1b[31m\x07\n", FreeText(OF, "red [31m")),
    "an objection": ("d Why today?\n", Dialogue(OF, "Why today?")),
    "an objection in two lines": ("D\nWhy today?\n", Dialogue(OF, "Why today?")),
    "an objection without words": ("d\n\n", Dialogue(OF, "")),
    "no answer, then one": ("yes\n\n4\n2\n", Selected(OF, 1)),
    "an answer without words, then a number": ("a\n\n2\n", Selected(OF, 1)),
    "leaving": ("q\n2\n", nobody(UnresolvedReason.CANCELLED)),
    "leaving, loudly": ("Q\n", nobody(UnresolvedReason.CANCELLED)),
    "nothing": ("", nobody(UnresolvedReason.DROPPED)),
    "nothing any more": ("yes\n", nobody(UnresolvedReason.DROPPED)),
    "nothing after a veto's letter": ("a\n", nobody(UnresolvedReason.DROPPED)),
    "five lines that are no answer": ("\n \nyes\n9\n0\n2\n", nobody(UnresolvedReason.CANCELLED)),
}


@pytest.mark.parametrize(("lines", "resolution"), SAID.values(), ids=SAID.keys())
def test_lines_answer(lines: str, resolution: Resolution | Unresolved) -> None:
    """A number, a letter with words, a letter and then words; everything else is asked for again, but not for ever."""
    assert ask(INVOICE, input=io.StringIO(lines), output=io.StringIO()) == resolution


def test_everything_is_read_out_before_it_is_asked() -> None:
    """The whole decision, then what can be typed, then one line of what came of it: no order to the terminal."""
    out = io.StringIO()
    ask(INVOICE, input=io.StringIO("2\n"), output=out)
    decision, _, rest = out.getvalue().partition("\n\nType 1, 2 or 3 to choose")

    assert decision == text_formats.format_moment(INVOICE)
    assert rest.endswith(f"Type q to leave.\n{ASKS}You chose 2: Hold it until Monday\n")
    assert "\x1b" not in out.getvalue()


def test_a_veto_is_asked_for_by_name() -> None:
    """The letter alone asks for the words, and says where none are needed."""
    out = io.StringIO()
    ask(INVOICE, input=io.StringIO("a\n\nd\n\n"), output=out)

    assert f"{ASKS}Answer in your own words\nYour answer: The answer has no visible text." in out.getvalue()
    assert "Your objection, which may be empty: You sent the question back.\n" in out.getvalue()


@pytest.mark.parametrize("line", ["a yes", "a", "d no", "d"])
def test_a_closed_veto_is_refused(line: str) -> None:
    """It is reported, and asked again."""
    out, closed = io.StringIO(), invoice(free_text=False, dialogue=False)

    assert ask(closed, input=io.StringIO(f"{line}\n1\n"), output=out) == Selected(digest(closed), 0)
    assert "The envelope " in out.getvalue().rpartition(f"Type q to leave.\n{ASKS}")[2]


def test_an_encoding_takes_what_it_can() -> None:
    """A terminal that speaks ASCII only is shown the rest by number."""
    moment = invoice(stem="Gr\u00fc\u00dfe?")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    ask(moment, input=io.StringIO("1\n"), output=out)
    out.seek(0)

    assert "Gr\\xfc\\xdfe?" in out.read()


def test_bytes_that_are_no_text_are_no_answer() -> None:
    """Through a pipe nothing can be read after them; at a terminal the next line is asked for."""
    given = io.TextIOWrapper(io.BytesIO(b"\xff2\n2\n"), encoding="utf-8")
    assert ask(INVOICE, input=given, output=io.StringIO()) == nobody(UnresolvedReason.DROPPED)

    with typist() as person:
        assert person.answer(INVOICE, "\udcff2\n", "3\n") == Selected(OF, 2)


@contextmanager
def typist() -> Iterator[Typist]:
    """Yield somebody at a terminal."""
    keyboard, file = pty.openpty()
    given = os.fdopen(file, encoding="utf-8")
    person = Typist(keyboard, given)
    yield person
    given.close()
    os.close(keyboard)


class Typist:
    """Types lines at a terminal, each after it was asked for."""

    def __init__(self, keyboard: int, given: io.TextIOWrapper) -> None:
        self.keyboard, self.given, self.shown = keyboard, given, io.StringIO()

    def answer(self, moment: BindingMoment, *lines: str, timeout: float | None = None) -> Resolution | Unresolved:
        """Return what comes of the lines."""
        return asyncio.run(self._answer(moment, lines, timeout))

    async def _answer(
        self, moment: BindingMoment, lines: tuple[str, ...], seconds: float | None
    ) -> Resolution | Unresolved:
        asking = asyncio.create_task(aask(moment, input=self.given, output=self.shown, plain=True, timeout=seconds))
        count = 0
        for each in lines:
            count += not each.startswith(SOON)
            while not (asking.done() or self._ready(each, count)):  # noqa: ASYNC110  nobody is told of a prompt
                await asyncio.sleep(0.001)
            os.write(self.keyboard, each.removeprefix(SOON).encode("utf-8", "surrogateescape"))
        return await asyncio.wait_for(asking, 10)

    def _ready(self, line: str, count: int) -> bool:
        """Tell whether this line's turn has come: it was asked for, or follows one that was just read."""
        if line.startswith(SOON):
            return not select.select([self.given], [], [], 0)[0]
        return self.shown.getvalue().count(": ") >= text_formats.format_moment(INVOICE).count(": ") + count


def test_a_line_is_typed() -> None:
    """At a terminal as through a pipe."""
    with typist() as person:
        assert person.answer(INVOICE, "a\n", "Pay EUR 5\n") == FreeText(OF, "Pay EUR 5")


def test_what_was_typed_before_is_forgotten() -> None:
    """A line that waited at the terminal before anything was shown answers nothing."""
    with typist() as person:
        os.write(person.keyboard, b"2\n")

        assert person.answer(INVOICE, "3\n") == Selected(OF, 2)


def test_pasted_lines_answer_nothing() -> None:
    """Several lines at once were not typed: none is taken, and the next one answers."""
    with typist() as person:
        assert person.answer(INVOICE, "2\n1\n\n", "3\n") == Selected(OF, 2)
        assert "Several lines came at once, and all were ignored." in person.shown.getvalue()


def test_a_slow_paste_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is no answer before it is clear that no other one follows at once."""
    monkeypatch.setattr(lines_of, "PASTE_WINDOW", 0.5)
    with typist() as person:
        assert person.answer(INVOICE, "2\n", SOON + "1\n", "3\n") == Selected(OF, 2)


@pytest.mark.parametrize("lines", [("\x04",), ("yes\n", "\x04"), ("a\n", "\x04")], ids=repr)
def test_the_end_of_input_at_a_terminal_is_leaving(lines: tuple[str, ...]) -> None:
    """Ctrl-D is the person's own act."""
    with typist() as person:
        assert person.answer(INVOICE, *lines) == nobody(UnresolvedReason.CANCELLED)


def test_time_runs_out_at_a_terminal() -> None:
    """The limit is reported, and half a line is no line."""
    with typist() as person:
        assert person.answer(INVOICE, "2", timeout=0.2) == nobody(UnresolvedReason.TIMEOUT)
        assert "Open for 0.2 seconds; after that, nobody has decided.\n" in person.shown.getvalue()
        assert person.shown.getvalue().endswith("\nNobody answered in time; nothing is decided.\n")


@contextmanager
def pipe(lines: str) -> Iterator[io.TextIOWrapper]:
    """Yield a pipe with lines in it whose other end stays open."""
    reading, writing = os.pipe()
    os.write(writing, lines.encode())
    with os.fdopen(reading, encoding="utf-8") as given:
        yield given
    os.close(writing)


def test_time_runs_out_at_a_pipe() -> None:
    """The limit is for all lines together, whoever writes them."""
    with pipe("yes\n") as given:
        assert ask(INVOICE, input=given, output=io.StringIO(), timeout=0.2) == nobody(UnresolvedReason.TIMEOUT)


def test_what_stands_after_the_answer_is_left() -> None:
    """Of a pipe no more is read than the answer, with and without a limit of time."""
    with pipe("1\n2\n3\n") as given:
        assert ask(INVOICE, input=given, output=io.StringIO(), timeout=5) == Selected(OF, 0)
        assert ask(INVOICE, input=given, output=io.StringIO()) == Selected(OF, 1)
        assert ask(INVOICE, input=given, output=io.StringIO()) == Selected(OF, 2)


def test_listening_takes_one_line_and_says_nothing() -> None:
    """For a script: the line is the answer, or an error; no line is nobody."""
    assert listen(INVOICE, input=io.StringIO("d Why?\n2\n")) == Dialogue(OF, "Why?")
    assert listen(INVOICE, input=io.StringIO("")) == nobody(UnresolvedReason.DROPPED)
    with pytest.raises(BadResolution):
        listen(INVOICE, input=io.StringIO("\n"))
    with pytest.raises(NoSuchOption):
        listen(INVOICE, input=io.StringIO("7\n"))
    with pipe("") as given:
        assert listen(INVOICE, input=given, timeout=0.1) == nobody(UnresolvedReason.TIMEOUT)
    with Path(os.devnull).open(encoding="utf-8") as given:
        assert listen(INVOICE, input=given, timeout=5) == nobody(UnresolvedReason.DROPPED)


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan")])
def test_no_time_is_no_limit(timeout: float) -> None:
    """A limit must leave time."""
    for way in (lambda: ask(INVOICE, input=io.StringIO(), timeout=timeout), lambda: _listened(timeout)):
        with pytest.raises(InputError, match="must be a number of seconds above 0"):
            way()


def _listened(timeout: float) -> Resolution | Unresolved:
    return listen(INVOICE, input=io.StringIO(), timeout=timeout)


def test_detail_is_asked_for_and_decides_nothing() -> None:
    """The line is no answer and no try; what the function says is shown, and the person is asked on."""
    out, topics = io.StringIO(), list[str]()

    async def detail(topic: str) -> object:
        topics.append(topic)
        if topic == "the price":
            return {"price": 12}
        return None if topic else "All of it.\n\x1b[2J"

    lines = "m the log\nM\nm. the price\n" + "m again\n" * 6 + "2\n"
    assert ask(INVOICE, input=io.StringIO(lines), output=out, detail=detail) == Selected(OF, 1)
    assert topics == ["the log", "", "the price", *["again"] * 6]
    for reported in (
        "or m and what you want to know more about",
        "has not answered yet",
        "All of it.",
        '  "price": 12',
    ):
        assert reported in out.getvalue()
    assert "\x1b" not in out.getvalue()


BROKEN = {
    "a bug": (ValueError("SECRET"), "The request for detail failed: ValueError."),
    "a decision that is over": (DecisionExpired("The time is over."), "The time is over."),
    "no answer at all": (None, "The request for detail failed: InputError."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_detail_that_cannot_be_given_ends_nothing(name: str) -> None:
    """The person is told, without a word of the bug, and answers all the same."""
    error, reported = BROKEN[name]
    out = io.StringIO()

    def detail(_: str) -> object:
        if error is not None:
            raise error
        return object()

    assert ask(INVOICE, input=io.StringIO("m\n2\n"), output=out, detail=detail) == Selected(OF, 1)
    assert reported in out.getvalue()
    assert "SECRET" not in out.getvalue()


def test_detail_gives_nobody_more_time() -> None:
    """A function that is slower than the decision is open is not waited for."""

    async def detail(_: str) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    with pipe("m\n") as given:
        found = ask(INVOICE, input=given, output=io.StringIO(), detail=detail, timeout=0.3)

    assert found == nobody(UnresolvedReason.TIMEOUT)


def test_without_a_function_m_is_no_answer() -> None:
    """And nothing says that it is one."""
    out = io.StringIO()
    assert ask(INVOICE, input=io.StringIO("m the log\n2\n"), output=out) == Selected(OF, 1)
    assert "The reply is not an answer." in out.getvalue()
    assert "know more" not in out.getvalue()
