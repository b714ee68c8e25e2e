"""Looking up the tests that a page names, without running them."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from tests.traced.markdown import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence


def function(reference: str) -> ast.FunctionDef:
    """Return a test, of which there must be one."""
    path, _, name = reference.partition("::")
    (found,) = [each for each in ast.walk(tree(path)) if isinstance(each, ast.FunctionDef) and each.name == name]
    return found


@cache
def tree(path: str) -> ast.Module:
    """Return a file of tests, taken apart."""
    return ast.parse((ROOT / path).read_text("utf-8"))


def lame(nodes: Sequence[ast.AST]) -> list[str]:
    """Return the marks among them by which a test would say nothing: decorators, or a module's ``pytestmark``."""
    marks = [each for each in nodes if isinstance(each, ast.expr)]
    marks += [
        each.value for each in nodes if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "pytestmark"
    ]
    return [each for each in map(ast.unparse, marks) if re.search(r"\bmark\.(skip|xfail)\b|\bbug\(", each)]


def headings(text: str) -> set[str]:
    """Return the anchors of a page's headings."""
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in found}
