"""The phrases and numbers that stand in the caller's own code: of validators, checks, and what their code names.

What variables and objects hold is never read, since a check may have put an answer there: a constant counts as it is
written in the source.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import re
import sys
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache, partial
from importlib.util import resolve_name
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHORTEST = 4
"""So many letters or digits in a row that a message and a document share are a piece of the document."""
NUMBER = re.compile(r"\d+(?:[.,_' \u00a0\u202f]\d+)*")
_MOST_NAMES = 2000
_MOST_FILES = 12
"""So many files of source are read for one function, the nearest first."""
_MOST_LITERALS = 20_000
_LARGE = 2**63
_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z%]|\{[^{}]*\}|\$\{?\w+\}?")


@dataclass(frozen=True, slots=True)
class Author:
    """The phrases and numbers that stand in the caller's own code."""

    phrases: tuple[str, ...] = ()
    numbers: frozenset[float] = frozenset()


def author_of(*objects: object) -> Author:
    """Return what stands in the code of functions, and in the source of what their code names.

    What variables and objects hold is never read, since a check may have put an answer there: a constant counts as it
    is written in the source. Read are only values that are bound once, when a function or partial is made.
    """
    phrases: list[str] = []
    numbers: set[float] = set()
    pending = list(objects)
    seen: dict[int, object] = {}
    while pending and len(seen) < _MOST_LITERALS:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        if isinstance(each, str):
            phrases.extend(" ".join(part.split()) for part in _PLACEHOLDER.split(each))
            if NUMBER.fullmatch(each):  # as in Decimal("500.00")
                numbers.add(number_of(each))
        elif isinstance(each, Decimal):
            numbers.add(float(each) if each.is_finite() else math.inf)
        elif isinstance(each, int | float) and not isinstance(each, bool):
            numbers.add(float(each) if abs(each) < _LARGE else math.inf)
        else:
            pending.extend(_parts(each))
    return Author(tuple(dict.fromkeys(each for each in phrases if len(each) >= SHORTEST)), frozenset(numbers))


def _parts(of: object) -> Iterator[object]:
    match of:
        case FunctionType():
            yield from _of_function(of)
        case MethodType():
            yield of.__func__
        case partial():
            yield from (of.func, *of.args, *of.keywords.values())
        case CodeType():
            yield from of.co_consts
        case tuple() | frozenset():
            yield from cast("Iterable[object]", of)
        case _ if callable(of) and not isinstance(of, type):
            yield inspect.getattr_static(type(of), "__call__", None)
            yield from _wrapped(of)
        case _:
            pass


def _wrapped(of: object) -> Iterator[object]:
    """Yield the function that a decorator such as ``functools.cache`` stands for."""
    inner = inspect.getattr_static(of, "__wrapped__", None)
    if callable(inner):
        yield inner


def _of_function(function: FunctionType) -> Iterator[object]:
    code = function.__code__
    yield from _literals(function)  # first: what is yielded last is read first
    yield from _code_of(function)
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from _wrapped(function)
    parameters = _source(code.co_filename).parameters_at(code.co_firstlineno)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        held = _cell(cell)
        if name in parameters:
            yield held
        elif isinstance(held, FunctionType):
            yield from (*_literals(held), *_code_of(held))


def _code_of(function: FunctionType) -> Iterator[object]:
    """Yield the code of a function, and of those that it names: no call can change it."""
    yield function.__code__
    for each in _names(function.__code__):
        named = function.__globals__.get(each)
        if isinstance(named, FunctionType):
            yield named.__code__


def _literals(function: FunctionType) -> Iterator[object]:
    """Yield the literals in the statements that bind what a function's code names, and what those name in turn."""
    names = frozenset(_names(function.__code__))
    pending = [(function.__globals__, function.__code__.co_filename, name) for name in names]
    files = {function.__code__.co_filename}
    seen: set[tuple[str, str]] = set()
    for space, file, name in pending:  # it grows meanwhile, the nearest first
        if (file, name) in seen or len(seen) >= _MOST_NAMES:
            continue
        seen.add((file, name))
        there = _source(file)
        yield from there.literals.get(name, ())
        pending += [(space, file, each) for each in there.uses.get(name, ())]
        for path, member in there.imports.get(name, ()):
            within = None if member is None else _module(f"{path}{'' if path.endswith('.') else '.'}{member}", space)
            module = within or _module(path, space)
            wanted = names if member is None or within is not None else frozenset({member})
            origin = getattr(module, "__file__", None)
            if module is not None and isinstance(origin, str) and len(files | {origin}) <= _MOST_FILES:
                files.add(origin)
                pending += [(vars(module), origin, each) for each in wanted]


def _module(path: str, space: Mapping[str, object]) -> ModuleType | None:
    """Return a module that is loaded and is none of Python's own; ``space`` is where the import stands."""
    try:
        name = resolve_name(path, cast("str | None", space.get("__package__")))
    except ImportError:
        return None
    return None if name.partition(".")[0] in sys.stdlib_module_names else sys.modules.get(name)


@dataclass(frozen=True, slots=True)
class _Source:
    """What a file of source says of each name, in whatever scope."""

    literals: dict[str, set[str | int | float]] = field(default_factory=dict[str, set[str | int | float]])
    uses: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    imports: dict[str, list[tuple[str, str | None]]] = field(default_factory=dict[str, list[tuple[str, str | None]]])
    parameters: list[tuple[range, set[str]]] = field(default_factory=list[tuple[range, set[str]]])
    """The lines of each outermost statement, and the names that are parameters in it and are never bound again."""

    def parameters_at(self, line: int) -> set[str]:
        """Return the names that stand for nothing but parameters in the outermost statement at a line."""
        return next((names for lines, names in self.parameters if line in lines), set[str]())


@lru_cache(maxsize=128)
def _source(file: str) -> _Source:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Source()
    there = _Source()
    for statement in tree.body:
        nodes = list(ast.walk(statement))
        parameters = {each.arg for each in nodes if isinstance(each, ast.arg)}
        bound = {name for node in nodes for name in _bound(node)}
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        there.parameters.append((lines, parameters - bound))
    for node in ast.walk(tree):
        for name, path, member in _imported(node):
            there.imports.setdefault(name, []).append((path, member))
        names = list(_assigned(node))
        for each in ast.walk(node) if names else ():
            _note(there, names, each)
    return there


def _note(there: _Source, names: list[str], node: ast.AST) -> None:
    """Keep a node of the statement that binds ``names``."""
    for name in names:
        match node:
            case ast.Constant(value=str() | int() | float() as literal):
                there.literals.setdefault(name, set()).add(literal)
            case ast.Name(id=used) | ast.Attribute(attr=used):
                there.uses.setdefault(name, set()).add(used)
            case _:
                pass


def _imported(node: ast.AST) -> Iterator[tuple[str, str, str | None]]:
    """Yield the name, the module's path, and what is imported of it; None for the module itself."""
    match node:
        case ast.Import():
            for each in node.names:
                path = each.name if each.asname else each.name.partition(".")[0]
                yield each.asname or path, path, None
        case ast.ImportFrom():
            for each in node.names:
                yield each.asname or each.name, "." * node.level + (node.module or ""), each.name
        case _:
            pass


def _assigned(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that a statement binds to what stands in it."""
    match node:
        case ast.Assign():
            for each in node.targets:
                yield from _targets(each)
        case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
            yield from _targets(node.target)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case _:
            pass


def _targets(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name():
            yield target.id
        case ast.Attribute():
            yield target.attr
        case ast.Tuple() | ast.List():
            for each in target.elts:
                yield from _targets(each)
        case _:
            pass


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds otherwise than as parameters."""
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            yield node.id
        case ast.Global() | ast.Nonlocal():
            yield from node.names
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            pass


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _cell(cell: Any) -> object:
    try:
        return cast("object", cell.cell_contents)
    except ValueError:  # it is filled later
        return None


def number_of(text: str) -> float:
    """Return the number that a text spells, whatever separates its groups; NaN for a version, a date or a word."""
    try:
        return float(re.sub(r"[,_' \u00a0\u202f]", "", text))
    except ValueError:
        return math.nan
