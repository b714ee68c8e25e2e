"""Prose holds no document, whatever brackets it uses."""

from __future__ import annotations

import pytest

from emitter.recover import parse_answer

PROSE = {
    "nothing": "",
    "space": " \n\t",
    "refusal": "I'm sorry, but I can't help with that.",
    "citation": "As shown in [1], it holds.",
    "citations": "It is known [1, 2] and disputed [3].",
    "citations that touch": "It is known [1][2].",
    "list of sources": "Sources:\n[1] Smith 2020\n[2] Jones 2021",
    "placeholder": "Call set {x} with {name}.",
    "ellipsis": "It looks like {...} or [...].",
    "empty things": "Either {} or [] will do.",
    "object of the prose": "Take {x: 1} for instance.",
    "type": "It takes {name: string; age: int}.",
    "set": "Let S = {1, 2, 3} and I = [0, 1].",
    "task list": "- [ ] one\n- [x] two",
    "link": "See [the docs](http://x) and [1](http://y).",
    "quoted link": 'See ["the docs"](http://x).',
    "subscript": 'Then row["a"] is data["b"]["c"].',
    "code": "```python\nif x: y = {k: v for k in z}\n```",
    "template": "{% if x %}{{ y }}{% endif %}",
    "number": "The answer is 42.",
    "word": "True",
    "quoted word": 'The answer is "yes".',
    "number in a fence": "```json\n1\n```",
    "half-open interval": "on [0, 1) it grows",
    "smiley": ":] :} ]: }:",
}


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE.keys())
def test_prose(text: str) -> None:
    """Nothing is recovered from prose, not even several things."""
    assert not isinstance(getattr(parse_answer(text), "value", None), dict | list)
    assert parse_answer(text) is None
