"""Markdown: no text of the envelope is markup, to a reader of CommonMark, of GitHub's dialect, or of a host's own."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.render.layout import build_layout
from emitter.render.safe_text import to_single_line
from emitter.render.text_formats import MARKDOWN_RENDERER, escape_markdown
from emitter.testing.sample_moments import fill_every_slot
from tests.render.text.commonmark import Page, kinds, tokens
from tests.work import examples

LAW = settings(max_examples=examples(100))
MARKUP = st.text(st.sampled_from("\\`*_{}[]()<>#+-.!|~=&;:@$^/\"'0123 aegw\n\t"), max_size=30)
PIECES = st.lists(
    st.sampled_from(
        [
            *("<script", "<pre", "<div", "<?x", "<!X", "<![CDATA["),
            *("[a](b)", "![a](b)", "<b>", "</b>", "<!--", "-->", "<https://x.example>", "https://x.example", "&lt;"),
            *(
                "**",
                "__",
                "``",
                "~~~",
                "```",
                "---",
                "===",
                "- [x]",
                "1.",
                "2)",
                "> ",
                "# ",
                "| a |",
                "|---|",
                "[a]: b",
            ),
            *("@all", "#1", "GH-12", "$x$", ":smile:", "www.x.example", "a@x.example", "0123abcdef", "\\", "\\`", "`"),
        ]
    ),
    max_size=8,
).map(" ".join)
TEXTS = MARKUP | PIECES | st.text(max_size=30)
PLAIN = kinds(MARKDOWN_RENDERER.draw(fill_every_slot("plain")))


@LAW
@example("<script x")
@example("<?x")
@example("**a**")
@example("[a](b)")
@example("[a]: b")
@given(TEXTS)
def test_no_text_makes_a_node(text: str) -> None:
    """The page has the headings, lists and paragraphs of a plain one, and not one link, image, tag or emphasis more.

    A warning of ours is one more that is strong, and an empty entry has no paragraph.
    """
    moment = fill_every_slot(text)
    found = kinds(MARKDOWN_RENDERER.draw(moment))
    warned = sum(each.warning is not None for each in build_layout(moment).choices)

    assert _but(found, "strong_", "paragraph_") == _but(PLAIN, "strong_", "paragraph_")
    assert len(_but(found, "strong_")) == len(_but(PLAIN, "strong_")) - (0 if to_single_line(text) else 4)
    assert found.count("strong_open") == PLAIN.count("strong_open") + warned


def _but(found: list[str], *kinds_of: str) -> list[str]:
    return [each for each in found if not each.startswith(kinds_of)]


@LAW
@given(TEXTS)
def test_every_text_is_shown_as_it_is(text: str) -> None:
    """Each escape is resolved again; nothing is eaten."""
    assert Page(f"x {escape_markdown(to_single_line(text))}").text == f"x {to_single_line(text)}".rstrip()


ADDRESSED = re.compile(r"[@#$]|https?:|www[.]|\w[.]\w\w|:\w+:|\bgh-\d", re.IGNORECASE)


@LAW
@given(TEXTS)
def test_what_a_host_would_make_a_link_of_is_code(text: str) -> None:
    """Mentions, references, addresses and formulas are looked for in text, and never in code."""
    found = [each.content for each in tokens(f"x {escape_markdown(to_single_line(text))}") if each.type == "text"]

    assert not ADDRESSED.search(" ".join(found))


CODE = {
    "an address": ("https://x.example/a", "`https://x.example/a`"),
    "a mention": ("@all", "`@all`"),
    "a mention behind a bracket": ("(@all)", "`(@all)`"),
    "a reference": ("o/r#1", "`o/r#1`"),
    "a commit": ("0123abc", "`0123abc`"),
    "a formula": ("$x$", "`$x$`"),
    "a mention and a backtick": ("`@all`", "`` `@all` ``"),
    "a mention and backticks": ("``@", "``` ``@ ```"),
    "a time": ("12:30", "12\\:30"),
    "an abbreviation": ("e.g.", "e\\.g\\."),
    "a sentence": ("Ship it, now?", "Ship it, now?"),
    "markup": ("*a* _b_", "\\*a\\* \\_b\\_"),
}


@pytest.mark.parametrize(("text", "source"), CODE.values(), ids=CODE.keys())
def test_how_a_text_is_written(text: str, source: str) -> None:
    """Escaped, or code with a fence that is longer than any in it."""
    assert escape_markdown(text) == source


def test_the_page_is_as_a_person_reads_it() -> None:
    """Lists are lists, the numbers are those that are typed, the mark is strong."""
    page = Page(MARKDOWN_RENDERER.draw(fill_every_slot("plain")))

    assert [len(each) for each in page.lists] == [2, 2, 2, 2]
    assert [each.paragraphs for each in page.numbered] == [
        ["Alder plain Alderend", "Cause plain Causeend"],
        ["Birch plain Birchend (recommended)", "Motive plain Motiveend"],
    ]
    assert [each.strong for each in page.numbered] == [[], ["(recommended)"]]
