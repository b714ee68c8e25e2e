"""A document inside a thinking block is never the answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.recover import Recovered, RecoveryPath, parse_answer, recover
from tests.work import examples

DRAFT = '{"total": 5}'

BLOCKS = {
    "think": "<think>%s</think>",
    "thinking": "<thinking>%s</thinking>",
    "thought": "<thought>%s</thought>",
    "reasoning": "<reasoning>%s</reasoning>",
    "reflection": "<reflection>%s</reflection>",
    "scratchpad": "<scratchpad>%s</scratchpad>",
    "monologue": "<inner_monologue>%s</inner_monologue>",
    "analysis": "<analysis>%s</analysis>",
    "camel case": "<antThinking>%s</antThinking>",
    "capitals": "<THINK>%s</THINK>",
    "prefix": "<seed:think>%s</seed:think>",
    "attributes": '<think budget="512">%s</think>',
    "spaces": "< think >%s</ think >",
    "lines": "<think>\n%s\n</think>\n",
    "brackets": "[THINK]%s[/THINK]",
    "special tokens": "<|START_THINKING|>%s<|END_THINKING|>",
    "begin and end": "<|begin_of_thought|>%s<|end_of_thought|>",
    "triangles": "\u25c1think\u25b7%s\u25c1/think\u25b7",
    "full width": "\uff1cthink\uff1e%s\uff1c/think\uff1e",
    "escaped": "&lt;think&gt;%s&lt;/think&gt;",
    "attribute says it": '<details type="reasoning" done="true">%s</details>',
    "summary says it": "<details><summary>Thinking\u2026</summary>%s</details>",
    "fence": "```thinking\n%s\n```\n",
    "fence in a fence": "```thinking\nSo:\n```json\n%s\n```\nDone.\n```\n",
    "channel": "<|channel|>analysis<|message|>%s<|end|><|start|>assistant<|channel|>final<|message|>",
    "channel, other form": "<|channel>thought\n%s<channel|>",
    "nested": "<think>a<think>b</think>%s</think>",
    "nested, two names": "<think><reasoning>b</reasoning>%s</think>",
    "inner one left open": "<think>a<reasoning>%s</think>",
    "two": "<think>%s</think><think>once more: %s</think>",
    "the end is spoken of": '<think>I end it with "</think>": %s</think>',
    "never begun": "Let me see: %s\n</think>\n",
    "never begun, open string": 'Let me see: {"total: 5\n</think>\n%s\n</think>\n',
    "never begun, open bracket": "Let me see: {x [ %s\n</think>\n\n",
    "Chinese": "<\u601d\u8003>%s</\u601d\u8003>",
    "Greek": "<\u03c3\u03ba\u03ad\u03c8\u03b7>%s</\u03c3\u03ba\u03ad\u03c8\u03b7>",
    "MedGemma": "<unused94>thought\n%s<unused95>",
    "openPangu": "[unused16]%s[unused17]",
    "Apertus": "<|inner_prefix|>%s<|inner_suffix|>",
    "Solar Open": "<|think|>%s<|end|><|begin|>assistant<|content|>",
    "slash in pipes": "<|thinking|>%s<|/thinking|>",
    "pipe in the name": "<ifm|think>%s</ifm|think>",
    "full-width pipes": "<\uff5cthink\uff5c>%s<\uff5c/think\uff5c>",
    "LongCat": "<longcat_think>%s</longcat_think>",
    "start and end": "<|thought_start|>%s<|thought_end|>",
    "side and name in one": "<|startofthink|>%s<|endofthink|>",
}

UNTAGGED = {
    "harmony without tokens": "analysisWe need it: %s Done.assistantfinal",
    "harmony with a tool call": "analysisUse it.assistantcommentary to=functions.f json%sassistantfinal",
    "Granite": "Here is my thought process:\n%s\n\nHere is my response:\n",
    "Granite, bold": "**Here\u2019s my thought process:** %s\n**Here's my response:**\n",
}
"""Blocks that only the beginning of a text can be."""

ANSWERS: dict[str, tuple[str, Any]] = {
    "object": ('{"total": 6}', {"total": 6}),
    "array": ("[1,2,3]", [1, 2, 3]),
    "broken": ("{total: 6,}", {"total": 6}),
    "fence": ('```json\n{"total": 6}\n```', {"total": 6}),
    "prose": ('The answer:\n{"total": 6}\nBye.', {"total": 6}),
    "number": ("42", 42),
    "text": ('"yes"', "yes"),
    "string": ('"{\\"total\\": 6}"', {"total": 6}),
    "escaped": ('{\\"total\\": 6}', {"total": 6}),
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_draft_is_no_answer(block: str) -> None:
    """Alone, before words, and before a refusal, a draft in a thinking block is nothing."""
    thought = block.replace("%s", DRAFT)
    for text in (thought, f"{thought}\nThat is all.", f"{thought}\nI cannot help with that.", f"Well. {thought}"):
        assert parse_answer(text) is None


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_the_document_outside_is_the_answer(block: str, answer: str) -> None:
    """Whatever the draft looks like, and whether or not the answer needs repair; the offset is the answer's."""
    written, value = ANSWERS[answer]
    for draft in (DRAFT, "{", '{"total": 5', "nothing [yet", "{'total': 5,}", 'say "'):
        thought = block.replace("%s", f"{draft} ")
        found = recover(thought + written)
        assert found is not None, (draft, thought)
        assert found.value == value
        assert found.path is not RecoveryPath.DIRECT
        begin = min(written.index(each) for each in '"{[4' if each in written)
        assert found.byte_offset == len((thought + written[:begin]).encode())


@pytest.mark.parametrize("block", UNTAGGED.values(), ids=UNTAGGED)
def test_thinking_without_tags(block: str) -> None:
    """It ends with the words that begin the answer, and leaves no answer where they are missing."""
    thought = block.replace("%s", DRAFT)
    found = recover(thought + '{"total": 6}')
    assert found is not None
    assert (found.value, found.doubtful) == ({"total": 6}, False)
    assert parse_answer(thought + "That is all.") is None
    assert parse_answer(block.partition("%s")[0] + DRAFT) is None


@pytest.mark.parametrize("text", ["analysis: %s", "Analysis\n%s", "Here is my thought: %s", "So:\nanalysisWe say %s"])
def test_words_that_begin_no_thinking(text: str) -> None:
    """Similar words are prose."""
    found = recover(text.replace("%s", DRAFT))
    assert found is not None
    assert (found.value, found.doubtful) == ({"total": 5}, True)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_thinking_is_no_prose(block: str) -> None:
    """A block costs no correction: neither its text nor the tokens after it count as words around the document."""
    for draft in (DRAFT, "Let me see. " * 500):
        found = recover(block.replace("%s", draft) + 'Here is the JSON:\n{"total": 6}')
        assert found is not None
        assert not found.doubtful


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<think>%s", id="never ended"),
        pytest.param("<unused94>thought\nmaybe %s", id="token never ended"),
        pytest.param("<|think|>%s", id="piped token never ended"),
        pytest.param("<|think|>%s<|end|>", id="ended with the turn"),
        pytest.param("<think>%s</think", id="end cut"),
        pytest.param("<think>a<think>b</think>%s", id="outer one never ended"),
        pytest.param("<thinking>a</think>%s", id="another end"),
        pytest.param("%s<think>so", id="thinking again, never ended"),
        pytest.param("```thinking\n%s", id="fence never ended"),
        pytest.param("%s</think>", id="ended, never begun"),
        pytest.param("%s</think>\nNow the answer.", id="ended, never begun, and words"),
        pytest.param("<|channel|>analysis<|message|>%s", id="channel never ended"),
        pytest.param("[THINK]%s", id="bracket never ended"),
    ],
)
def test_no_answer_where_the_block_may_go_on(text: str) -> None:
    """What may still be thinking is not read."""
    assert parse_answer(text.replace("%s", DRAFT)) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("%s\n<think>Done.</think>", id="thinking behind it"),
        pytest.param("a < b and b > c: %s", id="signs"),
        pytest.param("<answer>%s</answer>", id="another tag"),
        pytest.param('<a href="x">y</a> %s', id="markup"),
        pytest.param("I think: %s", id="the word"),
        pytest.param("<think/>%s", id="empty tag"),
        pytest.param("```json\n%s\n```", id="fence"),
    ],
)
def test_what_is_no_thinking_block(text: str) -> None:
    """Other tags, and thinking beside the document, leave it readable."""
    found = recover(text.replace("%s", DRAFT))
    assert found is not None
    assert found.value == {"total": 5}


@pytest.mark.parametrize("text", ['{"a": "<think>"}', '{"a": "</think>"}', '{"a": "<think>{}</think>"}'])
@pytest.mark.parametrize("frame", ["%s", "Here: %s", "```json\n%s\n```", "<think>x</think>%s"])
def test_tags_inside_a_string_are_text(text: str, frame: str) -> None:
    """What the document itself holds is not looked at."""
    assert isinstance(recover(frame.replace("%s", text)), Recovered)


@given(
    st.sampled_from(["think", "thinking", "reasoning", "scratchpad"]),
    st.text('{}[]":,123 \n<>/thinkreasoning`"', max_size=40),
    st.integers(0, 3),
)
@settings(max_examples=examples(150))
def test_nothing_inside_a_block_is_read(name: str, draft: str, nested: int) -> None:
    """Whatever stands in a block, what is read stood outside it."""
    inner = f"<{name}>" * nested + draft.replace("<", "(") + '{"draft": 1}' + f"</{name}>" * nested
    found = recover(f'<{name}>{inner}</{name}>\n{{"answer": 2}}')
    assert found is not None
    assert found.value == {"answer": 2}
    assert recover(f"<{name}>{inner}") is None
    assert recover(f"<{name}>{inner}</{name}> no more") is None
