"""Pointers that cannot be used are refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from emitter import InputError, astream, astream_binding_moment, stream, stream_binding_moment
from tests.streaming.forms import Home, Invoice, Node

MISTAKES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "follow-one-text": (Invoice, {"follow": "/vendor"}, "follow must be a list"),
    "into-one-text": (Invoice, {"into": "/lines"}, "into must be a list"),
    "follow-none": (Invoice, {"follow": None}, "follow must be a list"),
    "follow-a-number": (Invoice, {"follow": [3]}, "not a JSON pointer"),
    "no-slash": (Invoice, {"into": ["lines"]}, "not a JSON pointer"),
    "bare": (Invoice, {"into": [""]}, "not a JSON pointer"),
    "unknown-text": (Invoice, {"follow": ["/nobody"]}, "'/nobody' is not a string .* vendor, lines, billed, note"),
    "unknown-container": (Invoice, {"into": ["/nobody"]}, "'/nobody' is not a list or object .* vendor, lines"),
    "a-list-is-no-text": (Invoice, {"follow": ["/lines"]}, "is not a string"),
    "a-number-is-no-text": (Invoice, {"follow": ["/billed/count"]}, "is not a string"),
    "a-text-is-no-container": (Invoice, {"into": ["/vendor"]}, "is not a list or object"),
    "below-a-text": (Invoice, {"follow": ["/vendor/x"]}, "is not a string"),
    "in-a-list": (Invoice, {"follow": ["/lines/0/what"]}, "is not a string"),
    "into-an-item": (Invoice, {"into": ["/lines/0"]}, "is not a list or object"),
    "unknown-in-what-refers": (Node, {"follow": ["/nobody"]}, "is not a string"),
    "into-a-map": (Home, {"into": ["/named/x"]}, "is not a list or object"),
    "any-value-as-text": (Home, {"follow": ["/anything"]}, "is not a string"),
    "scalar": (int, {"into": ["/x"]}, "is not a list or object .* names no properties"),
}


@pytest.mark.parametrize("asked", [stream, astream], ids=["sync", "async"])
@pytest.mark.parametrize("name", MISTAKES)
def test_a_pointer_that_cannot_be_used(name: str, asked: Any) -> None:
    """The error names it, and what there is."""
    schema, more, said = MISTAKES[name]

    with pytest.raises(InputError, match=said):
        asked(schema, "Now.", model="openai/gpt-6-sol", **more)


@pytest.mark.parametrize("asked", [stream_binding_moment, astream_binding_moment], ids=["sync", "async"])
@pytest.mark.parametrize("follow", ["/synopsis", ["synopsis"], ["/findings"], [""], [None], None, 3])
def test_a_text_of_a_decision_that_cannot_be_followed(follow: Any, asked: Any) -> None:
    """The error names those that can."""
    with pytest.raises(InputError, match=r"follow must be a list|The texts of a decision are /reasoning, /synopsis"):
        asked("Now.", model="openai/gpt-6-sol", follow=follow)
