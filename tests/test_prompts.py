"""The prompts: every file is checked before anything is sent, values are inert, and a fence holds."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import prompts as prompt
from emitter.assets import find_data_folder
from emitter.client.prompt_writer import load_prompts as load_for
from emitter.errors import BadPrompt, InputError
from emitter.models import Trust
from emitter.prompts import Material, load, render_material

if TYPE_CHECKING:
    from pathlib import Path

PROMPTS = load()


def test_every_own_prompt_holds() -> None:
    """The library's files are exactly the ones that are filled."""
    assert {f"{name}.md" for name in PROMPTS.templates} == {each.name for each in find_data_folder("prompts").iterdir()}
    assert "vendor.emitter.binding-moment" in prompt.binding_moment_prompt(PROMPTS)


BAD: dict[str, tuple[str, bytes, str]] = {
    "unknown name": ("situation", b"$situation $wether", "asks for $wether; it must use $situation"),
    "name left out": (
        "untrusted",
        b"<UNTRUSTED>\n$text\n</UNTRUSTED>",
        "leaves out $source; it must use $source, $text",
    ),
    "both": ("losses", b"$loses", "asks for $loses and leaves out $losses"),
    "name where none is": ("begin", b"Begin, $user.", "asks for $user; it must use no names"),
    "lone dollar": ("situation", b"$situation costs 5 $", "lone dollar sign. Write $$"),
    "dollar before a digit": ("situation", b"$situation costs $5", "lone dollar sign. Write $$"),
    "empty": ("begin", b" \n", "prompts/begin.md is empty"),
    "not UTF-8": ("ask", b"\xff\xfe$", "prompts/ask.md is not UTF-8 text"),
    "no such prompt": ("aks", b"Ask!", "prompts/aks.md is not one of the prompts. They are actions.md, answer.md"),
}


@pytest.mark.parametrize(("name", "data", "reported"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_refused_before_anything_is_sent(tmp_path: Path, name: str, data: bytes, reported: str) -> None:
    """The error names the file, what is wrong, and what may stand there; even for a prompt used late."""
    (tmp_path / f"{name}.md").write_bytes(data)

    with pytest.raises(BadPrompt) as raised:
        load(tmp_path)

    assert reported in str(raised.value)


def test_a_folder_without_prompts_is_refused(tmp_path: Path) -> None:
    """A wrong folder is not taken for an empty wish."""
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")

    with pytest.raises(BadPrompt, match="has no templates"):
        load(tmp_path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A folder in the place of a file is reported as what it is."""
    (tmp_path / "ask.md").mkdir()

    with pytest.raises(BadPrompt, match="cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize("place", ["absent", "file"])
def test_what_is_no_folder_is_refused(tmp_path: Path, place: str) -> None:
    """The function wants a folder."""
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(InputError, match="is not a folder"):
        load_for(tmp_path / place)


def test_a_folder_may_hold_one_file_only(tmp_path: Path) -> None:
    """What is not overridden is the library's own; a byte order mark is no text."""
    (tmp_path / "situation.md").write_bytes("\ufeffHear this: ${situation} for $$5".encode())

    prompts = load(tmp_path)

    assert prompts.fill("situation", situation="a") == "Hear this: a for $5"
    assert prompts.fill("begin") == PROMPTS.fill("begin")


@given(st.text(max_size=30))
def test_values_are_inert(text: str) -> None:
    """A dollar sign, a placeholder or a brace in a value is text like any other."""
    marked = f"[$text ${{source}} $$ {text}]"

    assert marked in render_material(PROMPTS, Material(marked, "log"))


def test_the_lists_are_bullets_or_nothing() -> None:
    """Losses and violations stand one a line; without losses nothing is said."""
    assert prompt.render_losses(PROMPTS, ()) == ""
    assert prompt.render_losses(PROMPTS, ("a", "b")).endswith("- a\n- b")
    assert "- a\n- b" in prompt.render_correction(PROMPTS, ("a", "b"))
    assert prompt.render_schema(PROMPTS, {"type": "object"}).endswith('{"type": "object"}')


SIGNS = ("<", "\N{FULLWIDTH LESS-THAN SIGN}", "\N{SMALL LESS-THAN SIGN}")
GAPS = st.text(st.sampled_from(" \t\n\r\u00a0\u200b\u200d\u2028\u2060\ufeff"), max_size=2)


@st.composite
def marks(draw: st.DrawFn) -> str:
    """Return a mark that opens or closes a fence, written in some disguise."""
    name = draw(
        st.sampled_from(
            ["UNTRUSTED", "untrusted", "Untrusted", "\uff35\uff2e\uff34\uff32\uff35\uff33\uff34\uff25\uff24"]
        )
    )
    slash = draw(st.sampled_from(["/", "", "\uff0f"]))
    close = draw(st.sampled_from([">", "\uff1e", ' type="material" source="caller">']))
    gaps = [draw(GAPS) for _ in range(3)]
    return f"{draw(st.sampled_from(SIGNS))}{gaps[0]}{slash}{gaps[1]}{name}{gaps[2]}{close}"


HOSTILE = st.lists(marks() | st.text(max_size=8) | st.sampled_from(['"', "'", "\n", "&lt;", "$source"])).map("".join)


@given(HOSTILE, HOSTILE)
def test_a_fence_cannot_be_opened_or_closed_from_inside(text: str, source: str) -> None:
    """Whatever stands in text or source, the only marks are ours, once each and in our places."""
    fenced = render_material(PROMPTS, Material(text, source, Trust.UNTRUSTED))
    opened = re.findall(r'^<UNTRUSTED type="material" source="([^"<>\n]*)">$', fenced, re.MULTILINE)

    assert unicodedata.normalize("NFKC", fenced).count("<") == 2
    assert len(opened) == 1
    assert fenced.endswith("\n</UNTRUSTED>")
    assert opened[0].splitlines() in ([], [opened[0]])


@given(HOSTILE)
def test_a_source_stays_on_its_line(source: str) -> None:
    """A source can neither start a heading nor a line of its own."""
    for trust in Trust:
        first = render_material(PROMPTS, Material("x", source, trust)).splitlines()[0]

        assert first.startswith("# Material")
        assert (
            trust is Trust.TRUSTED or first == render_material(PROMPTS, Material("x", "plain", trust)).splitlines()[0]
        )
        assert len(render_material(PROMPTS, Material("x", source, trust)).splitlines()) == len(
            render_material(PROMPTS, Material("x", "plain", trust)).splitlines()
        )


ASKED = {
    "tie": "When two options tie, say so in the synopsis and mark the one that costs least if it turns out wrong",
    "least findings": "Do not repeat to the principal what they told you",
    "some findings": "Where all that you know came from them, the findings are what you made of it",
    "nothing needless": "Leave out what this decision does not need",
    "no menu of vetoes": '"Something else" and "let us talk" are not options',
    "language": "Write every text in the principal's language",
    "note": "only when something you said earlier in this conversation now reads as clearly understated",
    "the agent's veto": "This is a good answer, not a failure",
}


@pytest.mark.parametrize("words", ASKED.values(), ids=ASKED)
def test_what_no_rule_can_find_is_asked_of_the_model(words: str) -> None:
    """The draft binds the agent in more than a linter sees."""
    assert words in prompt.binding_moment_prompt(PROMPTS)


HATCHES: dict[tuple[bool, bool], str] = {
    (True, True): "They always have two other ways: to answer in their own words, and to refuse the question.",
    (True, False): "They cannot refuse the question this time",
    (False, True): "They cannot answer in their own words this time",
    (False, False): "They can neither answer in their own words nor refuse the question this time",
}


@pytest.mark.parametrize(("free_text", "dialogue"), HATCHES)
def test_the_prompt_names_the_hatches_that_are_open(tmp_path: Path, free_text: bool, dialogue: bool) -> None:
    """And those that the caller closed, also after words of the caller's own."""
    (tmp_path / "ask.md").write_text("Decide, with $binding_moment, $deliberation, $clarification or $error.")
    for prompts in (PROMPTS, load(tmp_path)):
        said = prompt.binding_moment_prompt(prompts, free_text=free_text, dialogue=dialogue)

        assert [words for words in HATCHES.values() if words in said] == [HATCHES[free_text, dialogue]]


def test_a_correction_names_the_rules() -> None:
    """A rule says what should be, so it may not stand where the defect is announced."""
    correction = prompt.render_correction(PROMPTS, ("The synopsis is a statement.",))

    assert "Rules that the answer broke:\n\n- The synopsis is a statement." in correction


AFTER = {"objection": ("objection", "deliberation"), "answer": ("answer",), "chosen": ("number", "option")}


@pytest.mark.parametrize(("name", "names"), AFTER.items(), ids=AFTER)
def test_what_the_principal_said_has_words_of_its_own(name: str, names: tuple[str, ...]) -> None:
    """Each answer to an earlier envelope is put in its own way, with the proposal it was given to."""
    said = PROMPTS.fill(name, question="Q?", **{each: f"<{each}>" for each in names})

    assert "Q?" in said
    assert all(f"<{each}>" in said for each in names)
