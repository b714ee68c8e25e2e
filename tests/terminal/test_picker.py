"""The picker at a terminal of every size: what it shows, what the keys do, and what can never be consent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from wcwidth import wcswidth

from emitter.decisions import Dialogue, FreeText, Selected, Unresolved, UnresolvedReason, digest
from tests.terminal.moments import INVOICE, invoice
from tests.terminal.window import (
    CTRL_C,
    CTRL_D,
    DOWN,
    END,
    ENTER,
    ESCAPE,
    HOME,
    LEFT,
    PAGE_DOWN,
    PAGE_UP,
    UP,
    Window,
    pasted,
)

if TYPE_CHECKING:
    from emitter.decisions import Resolution
    from emitter.models import BindingMoment

ROOMY = (80, 40)
SIZES = {"roomy": ROOMY, "usual": (80, 24), "narrow": (40, 12), "tiny": (20, 5), "a slit": (30, 2), "one row": (60, 1)}
OF = digest(INVOICE)


def choice(index: int) -> Resolution:
    """Return the choice of an option of the invoice."""
    return Selected(OF, index)


def highlighted(window: Window) -> list[str]:
    """Return the rows that the marker stands before."""
    return [each for each in window.rows() if each.startswith(">")]


def read_on(window: Window) -> str:
    """Go down until nothing is left below, and return all that was shown."""
    seen, before = "", ""
    while before != (before := window.text()):
        seen += f"{before}\n"
        window.press(PAGE_DOWN)
    return seen


def said(window: Window) -> str:
    """Return what stands on the screen, as one line."""
    return " ".join(window.text().split())


def read_to(window: Window, words: str) -> None:
    """Go down by rows until ``words`` stand in the window."""
    for _ in range(200):
        if words in window.text():
            return
        window.press(DOWN)
    pytest.fail(f"nobody comes to {words!r}")


def test_everything_is_shown_and_nothing_is_chosen() -> None:
    """The whole decision in order, the mark in words, each veto with its key, and no option highlighted."""
    with Window(INVOICE, *ROOMY) as window:
        rows, text = window.rows(), window.text()
    places = [
        text.index(each)
        for each in (
            *("(A note first: I called", "Hold Norwind's", "What it rests on", "- The invoice matches", "- Norwind's"),
            *("- The 2 %", "What to do", "- Ask Norwind", "- File", "Ask for detail", "What should happen"),
            *(
                "1. Release",
                "Everything",
                "2. Hold it until Monday  (recommended)",
                "The controller",
                "3. Pay",
                "Limits",
            ),
            *("a. Answer in your own words", "d. This is the wrong question"),
        )
    ]

    assert places == sorted(places)
    assert text.count("(recommended)") == 1
    assert not [each for each in rows if each.startswith((">", "|"))]
    assert rows[-1] == "Up/Down or 1-3 pick   Enter choose   a answer   d object   q leave"


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
def test_no_size_hides_a_word(size: tuple[int, int]) -> None:
    """Whoever goes down has seen every word of the decision, in rows that the window holds."""
    with Window(INVOICE, *size) as window:
        seen = read_on(window)
    moment = INVOICE.to_json()
    texts = [moment["synopsis"], *moment["findings"], *moment["recommendations"], moment["offer"]]
    texts += [text for each in moment["question"]["options"] for text in each.values()]

    assert [word for text in texts for word in text.split() if word not in seen] == []


def test_enter_chooses_nothing_at_first() -> None:
    """Without a highlighted option ENTER says what to do, and the decision stays open."""
    with Window(INVOICE, *ROOMY) as window:
        window.press(ENTER, ENTER, ENTER)

        assert window.rows()[-1] == "Choose with the arrows or a number first."
        assert window.open


WAYS: dict[str, tuple[tuple[str, ...], int]] = {
    "number": (("2",), 1),
    "last number": (("3",), 2),
    "arrow": ((DOWN,), 0),
    "arrows": ((DOWN, DOWN, DOWN), 2),
    "arrows, down and up": ((DOWN, DOWN, DOWN, UP), 1),
    "further down than there is": ((DOWN,) * 9, 2),
    "further up than there is": ((DOWN, DOWN, UP, UP, UP), 0),
    "letters": (("j", "j", "k"), 0),
    "tab": (("\t", "\t", "\x1b[Z"), 0),
    "number, then arrow": (("1", DOWN), 1),
    "another number": (("1", "3"), 2),
    "a side arrow does nothing": (("1", LEFT), 0),
    "one looked around meanwhile": (("2", HOME, END, PAGE_UP, PAGE_DOWN), 1),
}


@pytest.mark.parametrize(("keys", "index"), WAYS.values(), ids=WAYS.keys())
def test_a_highlighted_option_is_chosen_by_enter(keys: tuple[str, ...], index: int) -> None:
    """Keys highlight; only ENTER chooses, and what it chose is reported on one line below the decision."""
    with Window(INVOICE, *ROOMY) as window:
        label = INVOICE.question.options[index].label
        assert [each.partition("  (")[0] for each in highlighted(window.press(*keys))] == [f"> {index + 1}. {label}"]
        assert window.open
        window.press(ENTER)

        assert window.answer() == choice(index)
        assert window.drawn.endswith(f"\n\nYou chose {index + 1}: {label}\n")


@pytest.mark.parametrize("size", [each for name, each in SIZES.items() if name != "one row"], ids=str)
def test_down_and_enter_are_enough(size: tuple[int, int]) -> None:
    """At every size, going down reads the briefing and then the options, and ENTER chooses what was read."""
    with Window(INVOICE, *size) as window:
        for words in ("What should", "> 2. Hold", "lost."):
            read_to(window, words)
        window.press(ENTER)

        assert window.answer() == choice(1)


def test_the_question_must_have_been_on_the_screen() -> None:
    """In a low window a number jumps over the question, and ENTER says so until it has been read."""
    with Window(INVOICE, 20, 6) as window:
        window.press("2")
        read_to(window, "lost.")
        window.press(ENTER)
        assert window.open
        assert "Read what is above the options first: PgUp." in said(window)
        window.press(HOME)
        read_to(window, "today?")
        window.press("2", ENTER)

        assert window.answer() == choice(1)


def test_the_findings_must_have_been_on_the_screen() -> None:
    """The findings of a guarded call are the call, whose arguments may be long."""
    long = INVOICE.model_copy(update={"findings": ("note: " + "many words " * 60 + "LAST",)})
    with Window(long, 60, 14) as window:
        window.press(END, "1", ENTER)
        assert window.open
        assert "Read what is above the options first: PgUp." in said(window)
        window.press(HOME)
        read_to(window, "LAST")
        read_to(window, "today?")
        window.press("1", ENTER)

        assert window.answer() == Selected(digest(long), 0)


def test_an_option_must_have_been_on_the_screen_to_its_end() -> None:
    """A reasoning that is longer than the window must be read before ENTER takes the option."""
    long = invoice(2, options=[("Ship it", "first " + "many words " * 40 + "LAST"), ("Wait", "Nothing is lost.")])
    with Window(long, 40, 12) as window:
        read_to(window, "today?")
        window.press("1", ENTER)
        assert window.open
        assert "Read the option to its end first: go down." in said(window)
        read_to(window, "LAST")
        window.press(ENTER)

        assert window.answer() == Selected(digest(long), 0)


def test_an_option_out_of_sight_comes_back_first() -> None:
    """Who highlights an option and reads elsewhere is shown it again by ENTER, and chooses it by the next one."""
    with Window(INVOICE, 40, 12) as window:
        read_to(window, "today?")
        window.press("2", HOME)
        assert highlighted(window) == []
        window.press(ENTER)
        assert highlighted(window) == ["> 2. Hold it until Monday"]
        assert "Press Enter again to choose this." in said(window)
        window.press(ENTER)

        assert window.answer() == choice(1)


def test_a_window_that_cuts_rows_off_takes_no_answer() -> None:
    """Below ten columns words would be hidden, so nothing counts as read there; a wider window goes on."""
    with Window(INVOICE, 9, 200) as window:
        window.press("2", ENTER, ENTER)
        assert window.open
        assert "Widen the window." in said(window)
        window.resize(20, 6).press("2", ENTER)
        assert "Read what is above the options first" in said(window)
        window.resize(40, 60).press(ENTER)

        assert window.answer() == choice(1)


def test_keys_that_came_before_the_screen_are_forgotten() -> None:
    """What was typed ahead highlights nothing and chooses nothing."""
    with Window(INVOICE, *ROOMY, typed="2\r\r") as window:
        assert highlighted(window) == []
        assert window.press(ENTER).open


BURSTS = {
    "number and enter": "2\r",
    "number and enters": "2\r\r\r",
    "arrow and enter": f"{DOWN}{ENTER}",
    "lines": "1\n2\n",
    "a paste": pasted("2\n"),
    "a paste of lines": pasted("2\n\n1\r\n"),
    "a paste that ends itself": f"{pasted('2')}\r",
    "a paste with keys in it": pasted(f"{DOWN}\r"),
}


@pytest.mark.parametrize("burst", BURSTS.values(), ids=BURSTS.keys())
def test_keys_that_come_at_once_choose_nothing(burst: str) -> None:
    """ENTER counts only for an option that the screen showed highlighted before it."""
    with Window(INVOICE, *ROOMY) as window:
        assert window.press(burst).open
        assert window.rows()[-1] in {
            *("Press Enter again to choose this.", "Pasted text chooses nothing here."),
            "Choose with the arrows or a number first.",
        }


def test_enter_again_chooses_what_stands_there() -> None:
    """On a slow line, where keys come in one parcel, the second ENTER is the answer."""
    with Window(INVOICE, *ROOMY) as window:
        window.press("2\r")
        assert window.rows()[-1] == "Press Enter again to choose this."
        window.press(ENTER)

        assert window.answer() == choice(1)


STRAY = {
    "no such number": ("4",),
    "zero": ("0",),
    "a longer number": ("1", "0"),
    "a word": ("2", "y"),
    "yes": tuple("yes"),
    "words": tuple("2 is best"),
    "escape": ("2", ESCAPE),
}


@pytest.mark.parametrize("keys", STRAY.values(), ids=STRAY.keys())
def test_stray_keys_leave_nothing_highlighted(keys: tuple[str, ...]) -> None:
    """A key that means nothing takes the highlight away, so that words typed blindly choose nothing."""
    with Window(INVOICE, *ROOMY) as window:
        assert highlighted(window.press(*keys)) == []
        assert window.press(ENTER).open


VETOES: dict[str, tuple[tuple[str, ...], Resolution]] = {
    "answer": (("a", *"Pay EUR 5", ENTER), FreeText(OF, "Pay EUR 5")),
    "answer, in capitals": (("A", "q", ENTER), FreeText(OF, "q")),
    "answer of a number": (("a", "2", ENTER), FreeText(OF, "2")),
    "answer of pasted lines": (("a", pasted("one\ntwo\r\n"), ENTER), FreeText(OF, "one\ntwo")),
    "answer without controls": (("a", pasted("a\x1b[2J\x07b"), ENTER), FreeText(OF, "a[2Jb")),
    "answer, corrected": (("a", "x", "\x7f", "y", ENTER), FreeText(OF, "y")),
    "answer in another script": (("a", "\u65e5\u672c", ENTER), FreeText(OF, "\u65e5\u672c")),
    "objection": (("d", *"Why today?", ENTER), Dialogue(OF, "Why today?")),
    "objection without words": (("D", ENTER), Dialogue(OF, "")),
    "from a highlighted option": (("2", "d", ENTER), Dialogue(OF, "")),
    "answer, then objection instead": (("a", "x", ESCAPE, "d", ENTER), Dialogue(OF, "")),
    "what was written is kept": (("a", "x", ESCAPE, "d", "y", ESCAPE, "a", "z", ENTER), FreeText(OF, "xz")),
    "back, and an option": (("a", "x", ESCAPE, "3", ENTER), Selected(OF, 2)),
}


@pytest.mark.parametrize(("keys", "resolution"), VETOES.values(), ids=VETOES.keys())
def test_each_veto_has_its_key(keys: tuple[str, ...], resolution: Resolution) -> None:
    """One key opens it, words are written, ENTER sends, Escape goes back."""
    with Window(INVOICE, *ROOMY) as window:
        assert window.press(*keys[:-1]).open
        window.press(keys[-1])

        assert window.answer() == resolution


def test_a_veto_is_written_beside_the_decision() -> None:
    """What is asked, what was written and the keys stand below the page, in the smallest window too."""
    with Window(INVOICE, *ROOMY) as window:
        rows = window.press("d", *"Why today?").rows()
        assert rows[-4][:5] == "\u2500" * 5
        assert rows[-3:] == ["Your objection:", "Why today?", "Enter send   Esc back   it may be empty"]
    with Window(INVOICE, 20, 5) as window:
        rows = window.press("a", *"Pay EUR 5 on Monday to see").rows()
        assert rows[-4:] == ["Your answer:", "Pay EUR 5 on Monday", "to see", "Enter  Esc back"] or "to see" in rows[-2]


@pytest.mark.parametrize("burst", ["x\r", "x\n", "x\r\r\r"], ids=repr)
def test_words_that_come_with_their_enter_are_shown_first(burst: str) -> None:
    """A paste into a terminal that does not mark pastes sends nothing before it stood on the screen."""
    with Window(INVOICE, *ROOMY) as window:
        assert window.press("a", burst).open
        assert window.rows()[-1] == "Press Enter again to send this."
        window.press(ENTER)

        assert window.answer() == FreeText(OF, "x")


def test_an_answer_needs_words() -> None:
    """An empty answer is none, and is reported."""
    with Window(INVOICE, *ROOMY) as window:
        assert window.press("a", " ", ENTER).open
        assert window.rows()[-1].startswith("The answer has no visible text.")
        assert window.press("x").rows()[-1] == "Enter send   Esc back   PgUp/PgDn read"


CLOSED = {
    "answer": (invoice(free_text=False), "a", "This decision takes no answer in your own words."),
    "objection": (invoice(dialogue=False), "d", "This decision takes no veto on its question."),
}


@pytest.mark.parametrize(("moment", "key", "reported"), CLOSED.values(), ids=CLOSED.keys())
def test_a_closed_veto_is_not_offered(moment: BindingMoment, key: str, reported: str) -> None:
    """Its key says that it is closed, and takes the highlight away."""
    with Window(moment, *ROOMY) as window:
        assert f"  {key}. " not in window.text()
        assert f"   {key} " not in window.rows()[-1]
        assert window.press("2", key).rows()[-1] == reported
        assert window.press(ENTER).open


@pytest.mark.parametrize("keys", [("q",), ("Q",), (CTRL_C,), (CTRL_D,), ("2", "q"), ("a", "x", CTRL_C)], ids=repr)
def test_leaving_decides_nothing(keys: tuple[str, ...]) -> None:
    """Whoever leaves has not answered, whatever was highlighted or written."""
    with Window(INVOICE, *ROOMY) as window:
        window.press(*keys)

        assert window.answer() == Unresolved(OF, UnresolvedReason.CANCELLED)
        assert window.drawn.endswith("\n\nYou left without an answer; nothing is decided.\n")


def test_a_terminal_that_goes_away_decides_nothing() -> None:
    """A closed line is nobody's answer."""
    with Window(INVOICE, *ROOMY) as window:
        window.press("2")
        window.hang_up()

        assert window.answer() == Unresolved(OF, UnresolvedReason.DROPPED)


def test_time_runs_out() -> None:
    """The limit is reported at first, and when it passes nobody has decided."""
    with Window(INVOICE, *ROOMY, timeout=0.2) as window:
        assert window.rows()[-1] == "Open for 0.2 seconds; after that, nobody has decided."
        window.press("2")

        assert window.answer() == Unresolved(OF, UnresolvedReason.TIMEOUT)


def test_the_decision_stays_above_its_answer() -> None:
    """The screen it stood on is given back, and the decision is written where one can scroll to it, once."""
    with Window(INVOICE, *ROOMY) as window:
        window.press("2", ENTER).answer()
        _, left, after = window.drawn.partition("\x1b[?1049l")

    assert window.drawn.count("\x1b[?1049h") == 1
    assert left
    assert after.count("Norwind's bank details changed on Thursday.") == 1
    assert after.index("Everything matches") < after.index("You chose 2: Hold it until Monday")


def test_a_resized_window_keeps_the_place_and_what_was_read() -> None:
    """The highlighted option stays highlighted and in the window, and what was read counts."""
    with Window(INVOICE, *ROOMY) as window:
        window.press("2").resize(40, 12)
        assert highlighted(window) == ["> 2. Hold it until Monday"]
        window.resize(20, 5)
        assert highlighted(window) == ["> 2. Hold it until"]
        window.resize(120, 50)
        assert "What should happen" in window.text()
        window.press(ENTER)

        assert window.answer() == choice(1)


def test_no_colour_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without colour the marker, the words and the rules are the same; only colours are gone."""
    with Window(INVOICE, *ROOMY) as window:
        coloured = window.press("2").rows()
        assert any("fg" in window.styles(row) for row in range(40))
    monkeypatch.setenv("NO_COLOR", "1")
    with Window(INVOICE, *ROOMY) as window:
        assert window.press("2").rows() == coloured
        assert not any({"fg", "bg"} & window.styles(row) for row in range(40))
        assert any("reverse" in window.styles(row) for row in range(40))


def test_the_terminal_is_asked_nothing() -> None:
    """No cursor position is asked for, and no mouse: over a slow line nothing waits, and nothing is left behind."""
    with Window(INVOICE, *ROOMY) as window:
        window.press("2", ENTER).answer()

    assert "\x1b[6n" not in window.drawn
    assert "\x1b[?1000h" not in window.drawn


def test_no_text_of_the_envelope_drives_the_terminal() -> None:
    """What would clear the screen, set its title or forge an option is shown as characters on its own rows."""
    orders = "\x1b[2J\x1b]0;title\x07\x9b31m\r\n> 2. Forged\u202e \u65e5\u672c"
    options = [(f"Ship {orders} it", f"Because {orders} so"), ("Wait", "Nothing is lost.")]
    with Window(invoice(2, options=options, stem=f"Ship {orders} it?"), *ROOMY) as window:
        rows = window.press(DOWN).rows()

        assert [each for each in rows if each.startswith(">")] == highlighted(window)
        assert len(highlighted(window)) == 1
        assert highlighted(window)[0].startswith("> 1. Ship \ufffd[2J\ufffd]0;title\ufffd\ufffd31m > 2. Forged\ufffd")
        assert not any(order in window.drawn for order in ("\x1b[2J", "\x1b]0;", "\x9b", "\x07", "\u202e"))


def test_wide_characters_are_wrapped_whole() -> None:
    """A row ends where the next wide character has no room, and none is lost."""
    wide = "\u65e5\u672c\u8a9e" * 12
    with Window(invoice(2, options=[(wide, "Because."), ("Wait", "Nothing is lost.")]), 29, 40) as window:
        rows = [each.split(". ")[-1].strip() for each in window.rows() if "\u672c" in each]

    assert "".join(rows) == wide
    assert len(rows) == 4


def test_what_terminals_measure_unlike_hides_nothing() -> None:
    """A heart that is drawn as a picture takes two cells on one terminal and one on another."""
    label = "\u2764\ufe0f" * 30 + " " + "1\ufe0f\u20e3" * 30 + " Delete it"
    with Window(invoice(2, options=[(label, "Because."), ("Wait", "Nothing is lost.")]), 40, 40) as window:
        rows = window.rows()

    assert all(wcswidth(each) <= 40 for each in rows)
    assert any("Delete" in each for each in rows)
