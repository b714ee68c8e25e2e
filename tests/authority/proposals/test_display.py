"""What a person is shown: the call, in the recommended sections, and nothing that its arguments pretend to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.authority.proposals import DigestedParameter, Display, propose
from emitter.errors import InputError
from tests.authority.proposals.values import PARAMETERS, SMALL
from tests.render.text.commonmark import tokens
from tests.work import examples

if TYPE_CHECKING:
    from markdown_it.token import Token

LAW = settings(max_examples=examples(150))
SECTIONS = ["Action", "Account", "To", "Details", "Content", "Irreversible"]
OURS = {"heading", "paragraph", "bullet_list", "list_item", "strong", "em"}
MARKUP = [
    *("\n## To\nceo@example.com", "\r## To", "\u2028## To", "\x0b# To", "To\n===", "a\n- **to:** ceo", "1. x", "> q"),
    *("<script>x</script>", "<!--", "[a](javascript:x)", "![a](b)", "[a]: b", "`x", "```\nx", "~~~", "***", "**b**"),
    *(
        "| a |\n|---|",
        "&lt;b&gt;",
        "@all",
        "#1",
        "www.x.example",
        "\x1b[31mred",
        "\u202egro.live",
        "\u200b",
        "\ud800",
        "\\",
    ),
    *("*(excerpt; 1 characters)*", "_x_", "a" * 3000, "\t", " ", "\u3164", "\x00"),
]
TEXTS = st.lists(st.sampled_from(MARKUP) | st.text(max_size=5), max_size=4).map("".join)


def _detail(*call: Any, **settings_of: Any) -> str:
    display = propose(*call, **settings_of).display
    assert display is not None
    assert display.detail is not None
    return display.detail


def _headings(read: list[Token]) -> list[str]:
    return [read[index + 1].content for index, each in enumerate(read) if each.type == "heading_open"]


def _is_whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def test_a_call_is_shown_in_the_recommended_sections() -> None:
    """Action, recipients, the other parameters, what stands as a digest, and what cannot be undone."""
    parameters = {
        "to": "Mom",
        "cc": ["Dad", "Ada"],
        "subject": "Dinner Sunday?",
        "urgent": True,
        "body": "Hi Mom " * 200,
        "key": "hunter2",
        "file": {"name": "menu", "data": b"abc"},
    }
    display = Display("Send an email as you", irreversible="It cannot be unsent.")
    held = [
        f"- **body:** {('Hi Mom ' * 20)[:119]}… *(excerpt; 1,400 characters)*",
        "- **key:** *(kept back; not shown)*",
        "- **file\\/data:** *(3 bytes; not shown)*",
    ]
    assert _detail("send", parameters, account="Home", digested=["key"], display=display, longest=1_024) == "\n\n".join(
        [
            "## Action\nCall send",
            "## Account\nHome",
            '## To\n- **to:** Mom\n- **cc:** \\["Dad", "Ada"\\]',
            "## Details\n- **subject:** Dinner Sunday?\n- **urgent:** true\n- **file\\/name:** menu",
            "\n".join(["## Content", *held]),
            "## Irreversible\nIt cannot be unsent\\.",
        ]
    )


def test_a_call_without_parameters_has_but_an_action() -> None:
    """A section without anything in it is left out; what an operation says beside its name is shown."""
    operation = {"operation": "F", "type": "query"}
    detail = _detail(operation, {}, vocabulary="urn:aauth:vocabulary:graphql")
    assert detail == "## Action\nCall F\n- **type:** query"


@pytest.mark.parametrize(
    ("parameters", "row"),
    [
        ({"a": None}, "- **a:** null"),
        ({"a": 0.5}, "- **a:** 0\\.5"),
        ({"a": ""}, "- **a:** *(blank)*"),
        ({"a": " \n "}, "- **a:** *(blank)*"),
        ({"": "b"}, "- *(no name)* b"),
        ({"a": "b  \n c"}, "- **a:** b c"),
        ({"a": "x\x1b[2Jy"}, "- **a:** x\ufffd\\[2Jy"),
        ({"a": {"b": []}}, '- **a:** \\{"b"\\: \\[\\]\\}'),
        ({"n" * 101: 1}, f"- **{'n' * 100}…:** 1"),
        ({"a/b": {"c": b""}}, "- **a\\~1b\\/c:** *(0 bytes; not shown)*"),
    ],
)
def test_a_value_has_one_row(parameters: dict[str, Any], row: str) -> None:
    """Each name and each value is text on one line."""
    assert _detail("f", parameters).splitlines()[-1] == row


def test_a_long_value_is_shown_whole() -> None:
    """Nobody approves what they cannot read."""
    assert _detail("f", {"a": "xyz " * 1000 + "end"}).endswith("xyz end")


def test_nothing_is_pushed_out_of_sight_by_what_stands_before() -> None:
    """An object that is too long for a row has a row for each member, so that padding hides none of them."""
    parameters = {"order": {"note": "x" * 1000, "more": ["y" * 1000, "z"], "payee": "Mallory"}}
    rows = _detail("f", parameters).splitlines()
    assert "- **order\\/payee:** Mallory" in rows
    assert [each.split(":**")[0] for each in rows[4:]] == ["- **order\\/note", "- **order\\/more", "- **order\\/payee"]


def test_an_object_that_looks_like_a_digest_is_shown() -> None:
    """Nobody hides an argument from the person by giving it a member s256."""
    detail = _detail("f", {"x": {"s256": "a", "payee": "Mallory"}})
    assert detail.endswith('- **x:** \\{"s256"\\: "a", "payee"\\: "Mallory"\\}')


@LAW
@example({"x\n## To\nceo": "y\n\n## To\nceo"}, {"tool": "f\n## To"}, "z\n## To", "a\n## To")
@given(
    st.dictionaries(
        TEXTS.map(_is_whole), TEXTS.map(_is_whole) | st.lists(TEXTS.map(_is_whole), max_size=2), max_size=3
    ),
    st.fixed_dictionaries({"tool": TEXTS.map(_is_whole).filter(bool)}, optional={"more": TEXTS.map(_is_whole)}),
    TEXTS.map(_is_whole),
    TEXTS,
)
def test_no_text_of_a_call_is_markup(
    parameters: dict[str, Any], operation: dict[str, str], account: str, irreversible: str
) -> None:
    """No name, value, operation or account starts a section, a list, a link, a tag or emphasis of its own."""
    display = Display("x", irreversible=irreversible)
    digested = [DigestedParameter(name, excerpt=True) for name in parameters if "/" not in name and len(name) % 2]
    read = tokens(_detail(operation, parameters, account=account, display=display, digested=digested))
    kinds = {each.type.removesuffix("_open").removesuffix("_close") for each in read if each.nesting}
    assert kinds <= OURS
    assert not {each.type for each in read} & {"html_block", "html_inline", "image", "fence", "code_block", "hr"}
    found = _headings(read)
    assert found == [each for each in SECTIONS if each in found]
    rows = sum(each.type == "list_item_open" for each in read)
    assert rows >= len(parameters)
    assert sum(each.type == "strong_open" for each in read) <= rows


@LAW
@given(PARAMETERS, SMALL)
def test_every_parameter_is_shown_or_reported(parameters: dict[str, Any], longest: int) -> None:
    """No parameter is without a row, whatever it is."""
    read = tokens(_detail("f", parameters, longest=longest))
    assert sum(each.type == "list_item_open" for each in read) >= len(parameters)


def test_a_caller_s_markdown_is_the_caller_s() -> None:
    """A detail of one's own stands as it is, but for what drives a terminal or turns a text around."""
    own = "## Action\r\n**Send** [it](https://x.example)\n\n\t- a\x1b[31m\u202eb\u2028c"
    display = propose("f", {"x": 1}, display=Display("Send\n it\x07", detail=own)).display
    assert display == Display(
        "Send it\ufffd", detail="## Action\n**Send** [it](https://x.example)\n\n    - a\ufffd[31m\ufffdb\nc"
    )


def test_the_plain_texts_stand_as_given() -> None:
    """Implications, data and what is irreversible come out as they went in."""
    given_display = Display("Send it", "It costs.", "Your mail", "It stays sent.", "")
    assert propose("f", {}, display=given_display).display == Display(
        "Send it", "It costs.", "Your mail", "It stays sent."
    )


@pytest.mark.parametrize(
    "display",
    [Display(""), Display(" "), Display("\u200b"), Display(None), Display("x", 5), Display("x", detail=b"y")],  # type: ignore[arg-type]
    ids=["empty", "blank", "unseen", "none", "a number", "bytes"],
)
def test_what_is_no_display_is_refused(display: Display) -> None:
    """A summary has something that can be seen, and everything is text."""
    with pytest.raises(InputError):
        propose("f", {}, display=display)


def test_a_summary_is_made_where_there_is_none() -> None:
    """It says what is called, on one line."""
    display = propose("f\n\x1b[0m", {}).display
    assert display is not None
    assert display.summary == "Call f \ufffd[0m"
