"""The message of a validator or check, with every piece of the refused document struck out.

The model is told what the caller's code has to say of its answer, and never a word of the answer itself. A message is
compared with the document letter by letter, whatever its case, accents and punctuation: what they share is struck out,
unless a string in the caller's own code holds it. Where that cannot be told, such as for text that was escaped, the
message as a whole is withheld.
"""

from __future__ import annotations

import ast
import base64
import inspect
import linecache
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache, partial
from importlib.util import resolve_name
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from emitter.wire import Json

LONGEST = 300
"""A message is cut after so many characters."""
GAP = "…"
"""What stands in the place of a piece that was struck out."""

_SHARED = 4
"""So many letters or digits in a row that message and document share are a piece of the document."""
_MOST_TEXT = 200_000
_MOST_NAMES = 2000
_MOST_FILES = 12
"""So many files of source are read for one function, the nearest first."""
_MOST_LITERALS = 20_000
_LONGEST_WORD = 24
"""A longer word that is not of the caller's code is no word: it may spell the document in another alphabet."""
_SHORT = 1000
_LARGE = 2**63
_DIGITS = 3
"""Numbers of fewer digits are left."""
_NEAR = 0.06
"""Numbers nearer than this may be one, rounded."""
_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z%]|\{[^{}]*\}|\$\{?\w+\}?")
_ESCAPED = re.compile(r"\\\S|%[0-9A-Fa-f]{2}|&#?\w+;")
_NUMBER = re.compile(r"\d+(?:[.,_' \u00a0\u202f]\d+)*")
_WORD = re.compile(r"\w+")
_GAPS = re.compile(rf"{GAP}(?:[\W_]*{GAP})+")


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
            if _NUMBER.fullmatch(each):  # as in Decimal("500.00")
                numbers.add(_value(each))
        elif isinstance(each, Decimal):
            numbers.add(float(each) if each.is_finite() else math.inf)
        elif isinstance(each, int | float) and not isinstance(each, bool):
            numbers.add(float(each) if abs(each) < _LARGE else math.inf)
        else:
            pending.extend(_parts(each))
    return Author(tuple(dict.fromkeys(each for each in phrases if len(each) >= _SHARED)), frozenset(numbers))


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
    yield from _written_in(function)
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from _wrapped(function)
    parameters = _source(code.co_filename).parameters_at(code.co_firstlineno)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        held = _cell(cell)
        if name in parameters:
            yield held
        elif isinstance(held, FunctionType):
            yield from (*_literals(held), *_written_in(held))


def _written_in(function: FunctionType) -> Iterator[object]:
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


def without(message: str, document: Json, author: Callable[[], Author], names: frozenset[str]) -> str | None:
    """Return ``message`` as one line without a piece of ``document``; None where nothing is left that says something.

    ``names`` are the property names that the schema knows, which are the caller's.
    """
    line = " ".join(message.split()).encode(errors="replace").decode()
    line = line if len(line) <= LONGEST else f"{line[:LONGEST]}{GAP}"
    texts, numbers = _material(document, names)
    if not line or sum(map(len, texts)) > _MOST_TEXT:
        return None
    struck = _struck(line, texts, numbers, author())
    return None if struck is None else _left(line, struck)


def _struck(line: str, texts: list[str], numbers: list[str], author: Author) -> set[int] | None:
    """Return the places in ``line`` that are struck out; None where the line cannot be trusted."""
    own = _own(line, [*texts, *numbers], author)
    if any(not own.issuperset(range(*each.span())) for each in _ESCAPED.finditer(line)):
        return None
    spans = [*_shared(line, texts, numbers, own), *_whole(line, texts, own), *_odd_numbers(line, numbers, author, own)]
    spans += [each.span() for each in _WORD.finditer(line) if _is_long(each, own)]
    places = {place for span in spans for place in range(*span)}
    for word in _WORD.finditer(line):  # no part of a word is left
        if not places.isdisjoint(range(*word.span())):
            places.update(range(*word.span()))
    return places


def _own(line: str, texts: list[str], author: Author) -> frozenset[int]:
    """Return the places where the author's phrases stand; a whole text or number of the document counts for none."""
    said = {_letters(each) for each in texts}
    digits = {_digits(each) for each in texts if _NUMBER.fullmatch(each)}
    places: set[int] = set()
    for phrase in author.phrases:
        at = line.find(phrase)
        if at < 0 or _letters(phrase) in said or (_NUMBER.fullmatch(phrase) and _digits(phrase) in digits):
            continue
        while at >= 0:
            places.update(range(at, at + len(phrase)))
            at = line.find(phrase, at + 1)
    return frozenset(places)


def _shared(line: str, texts: list[str], numbers: list[str], own: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield where letters stand that the document has in the same order."""
    letters, places = _folded(line)
    there = "\n".join(spelled for each in (*texts, *numbers) for spelled in _spellings(each))
    for at in range(len(letters) - _SHARED + 1):
        here = places[at : at + _SHARED]
        if letters[at : at + _SHARED] in there and not own.issuperset(range(here[0], here[-1] + 1)):
            yield here[0], here[-1] + 1


def _whole(line: str, texts: list[str], own: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield where a text of the document stands that is made of signs more than of letters."""
    folded = line.casefold()
    for text in {each.casefold() for each in texts if len(each) >= _SHARED and len(_letters(each)) < _SHARED}:
        at = folded.find(text) if len(folded) == len(line) else -1
        while at >= 0:
            if not own.issuperset(range(at, at + len(text))):
                yield at, at + len(text)
            at = folded.find(text, at + 1)


def _odd_numbers(line: str, numbers: list[str], author: Author, own: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield where numbers stand that may be some of the document, written otherwise."""
    there = {_digits(each) for each in numbers}
    for found in _NUMBER.finditer(line):
        digits = _digits(found[0])
        if len(re.sub(r"\D", "", found[0])) < _DIGITS or own.issuperset(range(*found.span())):
            continue
        known = _value(found[0]) in author.numbers and digits not in there
        if not known and any(_near(digits, each) for each in there):
            yield found.span()


def _is_long(word: re.Match[str], own: frozenset[int]) -> bool:
    return len(word[0]) > _LONGEST_WORD and not own.issuperset(range(*word.span()))


def _left(line: str, struck: set[int]) -> str | None:
    if not struck:
        return line
    left = "".join(GAP if place in struck else sign for place, sign in enumerate(line))
    words = [each for each in re.findall(r"[^\W\d_]+", left) if len(each) >= _DIGITS]
    return _GAPS.sub(GAP, re.sub(f"{GAP}+", GAP, left)).strip() if len(words) > 1 else None


def _material(document: Json, names: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the document's texts, names that the schema does not know among them, and its numbers."""
    texts: list[str] = []
    numbers: list[str] = []
    pending: list[Any] = [document]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            texts.append(each)
            numbers.extend(_NUMBER.findall(each[:_MOST_TEXT]))
        elif isinstance(each, Mapping):
            table = cast("Mapping[str, Json]", each)
            texts.extend(name for name in table if name not in names)
            pending.extend(table.values())
        elif isinstance(each, list):
            pending.extend(cast("list[Json]", each))
        elif isinstance(each, int | float) and not isinstance(each, bool):
            numbers.extend(_written(each))
    return texts, [each for each in dict.fromkeys(numbers) if _is_told(each)]


def _is_told(number: str) -> bool:
    return len(re.sub(r"\D", "", number)) >= _DIGITS or len(number) >= _SHARED


def _written(number: float) -> Iterator[str]:
    yield repr(number)
    if isinstance(number, float) and math.isfinite(number):
        yield f"{number:f}"
    if abs(number) < _LARGE:
        yield from (f"{int(number):x}", f"{int(number):o}", f"{int(number):b}")


def _spellings(text: str) -> Iterator[str]:
    """Yield the letters of a text as they are, backwards, and as the usual codes of its bytes."""
    letters = _letters(text)
    yield letters
    if len(letters) >= _SHARED:
        yield letters[::-1]
        data = text[:_SHORT].encode(errors="replace")
        yield from (data.hex(), _letters(base64.b64encode(data).decode()))


def _letters(text: str) -> str:
    return _folded(text)[0]


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text without case and accents, and the place of each."""
    pairs = [
        (letter, place)
        for place, sign in enumerate(text)
        for letter in (sign.lower() if sign.isascii() else unicodedata.normalize("NFKD", sign).casefold())
        if letter.isalnum()
    ]
    return "".join(each for each, _ in pairs), [place for _, place in pairs]


def _digits(number: str) -> str:
    """Return what a number is however its point, its groups and its size are written."""
    return re.sub(r"\D", "", number.partition("e")[0]).strip("0")


def _value(number: str) -> float:
    try:
        return float(re.sub(r"[,_' \u00a0\u202f]", "", number))
    except ValueError:  # a version, or a date
        return math.nan


def _near(one: str, other: str) -> bool:
    """Tell whether two numbers may be the same, rounded, or in another unit of ten."""
    if not one or not other:
        return False
    first, second = (float(f"{each[0]}.{each[1:15]}") for each in (one, other))
    return any(abs(first * scale - second) <= _NEAR * second for scale in (0.1, 1, 10))
