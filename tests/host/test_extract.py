"""Extraction: what a text holds is found in its order, what claims to be JSON is never overlooked, prose is prose."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.host.model_text import MAX_DOCUMENTS, MAX_REPAIRS, ExtractedDocument, extract_documents
from emitter.recover import RecoveryPath
from tests.work import count_lines, examples

ONE, TWO = {"type": "a", "payload": 1}, {"type": "b", "payload": [2]}
A, B = json.dumps(ONE), json.dumps(TWO)


def values(text: str) -> list[Any]:
    """Return what was found, in its order."""
    return [each.value for each in extract_documents(text)]


def fenced(content: str, mark: str = "```", language: str = "json") -> str:
    """Return a fenced block."""
    return f"{mark}{language}\n{content}\n{mark}\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \r\n\t", [], id="blank"),
        pytest.param("I cannot help with that.", [], id="prose"),
        pytest.param("[1] says so, and {x} is a placeholder.", [], id="prose with brackets"),
        pytest.param("{x} stands for the name.", [], id="prose that begins with a placeholder"),
        pytest.param(f"The envelope is {A}.", [], id="JSON amid prose"),
        pytest.param("Use ```json``` fences.", [], id="fence within a line"),
        pytest.param("```json``` is how a fence begins.\nSo it is.", [], id="code span at the line's beginning"),
        pytest.param(A, [ONE], id="one document"),
        pytest.param(f" \r\n{A}\r\n", [ONE], id="one document and space"),
        pytest.param(f"[{A}, {B}, {A}]", [ONE, TWO, ONE], id="array, in its order, with a repetition"),
        pytest.param("[]", [], id="empty array"),
        pytest.param(f"[{A}, 7, null, [{B}]]", [ONE, 7, None, [TWO]], id="array of other things"),
        pytest.param("42", [42], id="scalar"),
        pytest.param(json.dumps(A), [ONE], id="document in a string"),
        pytest.param(f"\ufeff{A}", [ONE], id="byte-order mark"),
        pytest.param(f"{A} Is there anything else?", [ONE], id="prose behind"),
        pytest.param('{"type": "a", "payload": 1,}', [ONE], id="trailing comma"),
        pytest.param('[{"type": "a", "payload": 1,}]', [ONE], id="trailing comma in an array"),
        pytest.param('{\\"type\\": \\"a\\", \\"payload\\": 1}', [ONE], id="escaped"),
        pytest.param(f"{A}\n{B}", [None], id="two documents without a fence"),
        pytest.param(A[:-1], [None], id="cut"),
        pytest.param(f"[{A}", [None], id="cut array"),
        pytest.param('{"a": 1, oh no', [None], id="broken"),
    ],
)
def test_direct(text: str, found: list[Any]) -> None:
    """A text is read as JSON where it is JSON, or begins as an object does."""
    assert values(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(fenced(A), [ONE], id="alone"),
        pytest.param(f"First:\n\n{fenced(A)}\nthen:\n{fenced(B)}Done.", [ONE, TWO], id="two amid prose"),
        pytest.param(fenced(A) + fenced(A), [ONE, ONE], id="a repetition is kept"),
        pytest.param(fenced(f"[{A}, {B}]"), [ONE, TWO], id="array in a fence"),
        pytest.param(fenced(A, "~~~"), [ONE], id="tildes"),
        pytest.param(fenced(A, "`````"), [ONE], id="long fence"),
        pytest.param(f"```json\n{A}\n`````", [ONE], id="closed by a longer one"),
        pytest.param(f"``` JSON title=x\n{A}\n```", [ONE], id="capitals and attributes"),
        pytest.param(fenced(A, language="jsonc"), [ONE], id="jsonc"),
        pytest.param(fenced("{type: 'a', payload: 1} // so", language="json5"), [ONE], id="json5"),
        pytest.param(fenced(A).replace("\n", "\r\n"), [ONE], id="CRLF"),
        pytest.param(fenced(A).replace("\n", "\r"), [ONE], id="CR"),
        pytest.param("1. So:\n" + fenced(A).replace("\n", "\n      ").rstrip(), [ONE], id="indented in a list"),
        pytest.param(fenced(json.dumps(ONE, indent=2)), [ONE], id="pretty"),
        pytest.param(f"```json\n{A}```\nDone.", [ONE], id="closed behind the document"),
        pytest.param(f"```json {A}```", [ONE], id="all on one line"),
        pytest.param(f"```json {A}\n```", [ONE], id="document behind the language"),
        pytest.param(fenced(f"Here: {A}"), [ONE], id="prose within"),
        pytest.param(fenced("42"), [42], id="scalar in a fence"),
        pytest.param(fenced(" "), [], id="empty"),
        pytest.param(fenced(A, language=""), [ONE], id="no language"),
        pytest.param(fenced(f"[{A}]", language=""), [ONE], id="no language, array"),
        pytest.param(fenced("[1, 2]", language="") + fenced("{a: 1}", language=""), [], id="no language, no objects"),
        pytest.param(fenced(A, language="python"), [], id="another language"),
        pytest.param(fenced(A, language="json-schema"), [], id="another language that begins alike"),
        pytest.param(fenced(f"x = {A}", language="python") + fenced(B), [TWO], id="another language before"),
        pytest.param(fenced(fenced(A).rstrip(), "````", "markdown"), [], id="shown within another fence"),
        pytest.param(fenced(fenced(A).rstrip(), "~~~", ""), [], id="shown within tildes"),
        pytest.param(fenced("ends in ```", language="text") + fenced(B), [TWO], id="a mark behind text closes nothing"),
        pytest.param("~~~python\n```\n~~~\n" + fenced(B), [TWO], id="a mark of the other kind closes nothing"),
        pytest.param("````python\n```\n````\n" + fenced(B), [TWO], id="a shorter mark closes nothing"),
        pytest.param(f"{fenced('ls', language='sh')}{A}", [], id="bare JSON behind a fence"),
        pytest.param(f"{A}\n{fenced('ls', language='sh')}", [ONE], id="bare JSON before a fence"),
        pytest.param(f"{A}\n{fenced(B)}", [TWO], id="fenced JSON goes first"),
        pytest.param(fenced(A + "\n" + B), [None], id="two documents in one fence"),
        pytest.param(fenced('{"a": 1, oh no'), [None], id="broken"),
        pytest.param(fenced(A) + fenced("nothing") + fenced(B), [ONE, None, TWO], id="broken between"),
        pytest.param(f"```json\n{A}", [None], id="never closed"),
        pytest.param(f"```json {A}", [None], id="never closed, on one line"),
        pytest.param("```json", [None], id="never closed, nothing in it"),
        pytest.param(fenced(A) + f"```json\n{B}\n``", [ONE, None], id="the second never closed"),
        pytest.param(f"```\n{A}", [], id="never closed, no language"),
    ],
)
def test_fences(text: str, found: list[Any]) -> None:
    """Fenced blocks are read from top to bottom; None stands for what claims to be JSON and could not be read."""
    assert values(text) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f" {A}", ExtractedDocument(ONE, RecoveryPath.DIRECT, 1), id="direct"),
        pytest.param(f"é\n{fenced(A)}", ExtractedDocument(ONE, RecoveryPath.MARKDOWN_FENCE, 11), id="fence"),
        pytest.param(
            f"é\n{fenced('  ' + A)}", ExtractedDocument(ONE, RecoveryPath.MARKDOWN_FENCE, 13), id="fence, indented"
        ),
        pytest.param(
            fenced('{"type": "a", "payload": 1,}'), ExtractedDocument(ONE, RecoveryPath.JSONREPAIR, 8), id="repaired"
        ),
        pytest.param(fenced(f"é {A}"), ExtractedDocument(ONE, RecoveryPath.BRACE_WALKER, 11), id="prose in the fence"),
        pytest.param(json.dumps(A), ExtractedDocument(ONE, RecoveryPath.CUSTOM, 0), id="in a string"),
        pytest.param(fenced("no"), ExtractedDocument(None, None, 8), id="unread"),
    ],
)
def test_where_and_how(text: str, expected: ExtractedDocument) -> None:
    """It is told how a document was read and at which byte it begins."""
    assert extract_documents(text) == (expected,)


DOCUMENTS = st.lists(
    st.dictionaries(
        st.text(max_size=5), st.none() | st.integers() | st.text(max_size=8) | st.just("```json\n{}\n```"), min_size=1
    ),
    max_size=5,
)
PROSE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="`~{[\"'"), max_size=30)
MARKS = st.sampled_from(["```", "````", "~~~", "~~~~~"])
ENDS = st.sampled_from(["\n", "\r\n"])


@given(DOCUMENTS, st.data())
@settings()
def test_what_was_rendered_is_extracted(documents: list[Any], data: st.DataObject) -> None:
    """Whatever prose is around the fences, what they hold comes out, in its order and at its byte."""
    end = data.draw(ENDS)
    text, offsets = "Here:" + end, list[int]()
    for each in documents:
        mark, written = data.draw(MARKS), json.dumps(each, indent=data.draw(st.sampled_from([None, 2])))
        text += f"{data.draw(PROSE)}{end}{mark}json{end}"
        offsets.append(len(text.encode()))
        text += f"{written}{end}{mark}{end}{data.draw(PROSE)}{end}"
    assert extract_documents(text) == tuple(
        ExtractedDocument(each, RecoveryPath.MARKDOWN_FENCE, offset)
        for each, offset in zip(documents, offsets, strict=True)
    )


@given(DOCUMENTS)
@settings()
def test_an_array_is_its_elements(documents: list[Any]) -> None:
    """Direct JSON is read in the array's order, and one document is itself."""
    assert values(json.dumps(documents)) == documents
    for each in documents:
        assert values(json.dumps(each)) == [each]


@given(DOCUMENTS, st.sampled_from(["```", "~~~"]))
@settings(max_examples=examples(20))
def test_no_prefix_completes_a_block(documents: list[Any], mark: str) -> None:
    """A text that is cut within a block tells that something is lost, and never what the block would have said."""
    text = "".join(fenced(json.dumps(each), mark) for each in documents)
    bounds = {0}
    for each in documents:
        bounds.add(max(bounds) + len(fenced(json.dumps(each), mark)))
    for end in range(len(text)):
        whole = sum(bound <= end + 1 for bound in bounds) - 1
        found = values(text[:end])
        assert found[:whole] == documents[:whole]
        assert found[whole:] in ([], [None])


@given(st.text() | st.text(st.sampled_from("`~{}[]\"': \n\rjson1,\\"), max_size=60))
@settings(max_examples=examples(400))
def test_never_raises(text: str) -> None:
    """Any text is searched without an exception, and every place is one of the text."""
    for each in extract_documents(text):
        assert 0 <= each.byte_offset <= len(text.encode("utf-8", "surrogatepass"))
        assert (each.path is None) <= (each.value is None)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(fenced("{}") * 100_000, id="fences"),
        pytest.param("[" + ",".join(["{}"] * 100_000) + "]", id="array"),
        pytest.param(fenced("no") * 100_000, id="unreadable fences"),
    ],
)
def test_documents_are_bounded(text: str) -> None:
    """Of a hundred thousand documents as many are taken as the bound says, and one stands for the rest."""
    found = extract_documents(text)
    assert len(found) == MAX_DOCUMENTS + 1
    assert found[-1].path is None
    assert found[-1].value is None


def test_as_many_as_the_bound_are_taken() -> None:
    """A text that holds just as many loses none."""
    assert values(fenced("{}") * MAX_DOCUMENTS) == [{}] * MAX_DOCUMENTS


def test_repairs_are_bounded() -> None:
    """Only so many broken blocks are repaired; sound ones behind them are read all the same."""
    text = fenced('{"type": "a", "payload": 1,}') * (MAX_REPAIRS + 1) + fenced(B)
    assert values(text) == [*[ONE] * MAX_REPAIRS, None, TWO]


HOSTILE = (
    *("```json\n", "```\n", "~~~\n```\n", "`", "```json {", "```json {} ```\n", "\n", "\r", " ", "{", "[{", '{"a":'),
    *("``` ", "```json {}\n", '{"a" ', '["x" "y" ', "```json\n[\n```\n", "{} ", "\ud800", "```x`\n", '"'),
)


@pytest.mark.parametrize("unit", HOSTILE, ids=[ascii(each) for each in HOSTILE])
def test_linear(unit: str) -> None:
    """Four times the text takes four times the lines of Python, not the sixteenfold of a quadratic search."""
    short, long = (unit * (size // len(unit)) for size in (5_000, 20_000))
    lines = count_lines(partial(extract_documents, short))
    count_lines(partial(extract_documents, long), limit=5 * lines + 1_000)


def test_only_so_many_hard_blocks_cost_a_repair() -> None:
    """However many blocks there are that are hard to repair, the work on them is bounded."""
    hard = fenced('["' + '["x" "y" ' * 60 + '"]')
    some, many = (count_lines(partial(extract_documents, hard * times)) for times in (MAX_REPAIRS, 20 * MAX_REPAIRS))
    assert many < 2 * some
    assert len(extract_documents(hard * 1_000)) == MAX_DOCUMENTS + 1
