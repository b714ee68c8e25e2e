"""The page that names the functions of an emission, held against a trace of one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from emitter import emit
from emitter.testing import Text, simulator

PAGE = Path(__file__).parents[2] / "docs" / "how-an-emission-works.md"
SOURCE = Path(__file__).parents[2] / "src"
SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def test_the_page_names_the_functions_in_the_order_in_which_they_are_entered() -> None:
    """Each function of the list is entered, first by the one before it."""
    listed = re.findall(r"^\d+\. \[`([\w.]+)`\]\(../src/([\w/]+\.py)\)", PAGE.read_text("utf-8"), re.MULTILINE)
    named = [(path, name) for name, path in listed]
    entered = list(dict.fromkeys(traced()))

    assert len(named) == len(set(named)) >= 10
    assert [each for each in entered if each in named] == named


def traced() -> list[tuple[str, str]]:
    """Return the file and name of each function of the library that one emission enters, in order."""
    found: list[tuple[str, str]] = []

    def trace(frame: Any, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(SOURCE):
            found.append((file.relative_to(SOURCE).as_posix(), frame.f_code.co_qualname))

    with simulator(answers=Text({"count": 2})) as vendor:
        client = vendor.client("openai/gpt-6-sol")
        sys.setprofile(trace)
        try:
            emit(SCHEMA, "How many?", model="openai/gpt-6-sol", client=client)
        finally:
            sys.setprofile(None)
    return found
