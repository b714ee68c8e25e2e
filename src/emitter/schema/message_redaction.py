"""Remove the rejected answer from validator messages.

The model is shown the message of your validator, but no part of its own answer: an answer may contain instructions,
and a corrective prompt must not repeat them. Any four letters or digits that a message shares with a text of the
document are removed, and any number of three digits or more that the document has, also rounded. Strings and numbers
in your source code and in the ``context=`` of the emission, as it was before the first call, are yours and are kept
(a string of the source code that is also a whole text of the document is not). No other values of variables are read.
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
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache, partial
from importlib.util import resolve_name
from itertools import chain
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from emitter.outside_values import parse_float

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.messages import Json

MAX_MESSAGE_LENGTH = 300
"""Longer messages are cut."""
REDACTION_MARK = "…"
"""Replaces redacted text."""
_MAX_DOCUMENT_TEXT = 200_000
_MAX_WORD_LENGTH = 24
"""Longer words that are not in the source code are redacted: they may encode the document."""
_MAX_ENCODED_TEXT = 1000
_MIN_DIGITS = 3
"""Numbers with fewer digits are kept."""
_MIN_ENCODED_LENGTH = 6
"""Shorter pieces of an encoded text are common in words and numbers."""
_ESCAPE_SEQUENCE = re.compile(r"\\\S|%[0-9A-Fa-f]{2}|&#?\w+;")
_WORD = re.compile(r"\w+")
_REPEATED_MARKS = re.compile(rf"{REDACTION_MARK}(?:[\W_]*{REDACTION_MARK})+")


def redact_message(message: str, document: Json, author: Callable[[], SourceText], names: frozenset[str]) -> str | None:
    """Return ``message`` on one line without any text of ``document`` but ``names``, or None if nothing is left."""
    line = " ".join(message.split()).encode(errors="replace").decode()
    line = line if len(line) <= MAX_MESSAGE_LENGTH else f"{line[:MAX_MESSAGE_LENGTH]}{REDACTION_MARK}"
    texts, numbers = _document_texts(document, names)
    if not line or sum(map(len, texts)) > _MAX_DOCUMENT_TEXT:
        return None
    positions = _positions_to_redact(line, texts, numbers, author())
    return None if positions is None else _apply_redaction(line, positions)


def _positions_to_redact(line: str, texts: list[str], numbers: list[str], author: SourceText) -> set[int] | None:
    """Return the positions to redact in ``line``, or None if no part of it is safe."""
    source_positions = _source_text_positions(line, texts, author)
    # An escape sequence may spell a piece of the document that the comparisons below do not recognize.
    if any(not source_positions.issuperset(range(*escape.span())) for escape in _ESCAPE_SEQUENCE.finditer(line)):
        return None
    spans = [
        *_find_shared_text(line, texts, source_positions),
        *_find_symbol_texts(line, texts, source_positions),
        *_find_same_numbers(line, numbers, author, source_positions),
    ]
    spans += [word.span() for word in _WORD.finditer(line) if _is_suspiciously_long(word, source_positions)]
    positions = {place for span in spans for place in range(*span)}
    for word in _WORD.finditer(line):  # redact whole words
        if not positions.isdisjoint(range(*word.span())):
            positions.update(range(*word.span()))
    return positions


def _source_text_positions(line: str, texts: list[str], author: SourceText) -> frozenset[int]:
    """Return the positions of phrases from the context and the source code.

    A phrase of the source code that is a whole text of the document, but for case and punctuation, is kept where the
    author spells it otherwise: any literal may happen to be what the model answered.
    """
    texts_by_letters: dict[str, list[str]] = {}
    for text in texts:
        texts_by_letters.setdefault(_normalized_letters(text), []).append(" ".join(text.split()))
    positions = {place for phrase in author.context for span in _find_all(line, phrase) for place in range(*span)}
    for phrase in author.phrases:
        same = texts_by_letters.get(_normalized_letters(phrase), ()) if phrase in line else ()
        repeated = {place for text in same for span in _find_all(line, text) for place in range(*span)}
        for span in _find_all(line, phrase):
            if repeated.isdisjoint(range(*span)):
                positions.update(range(*span))
    return frozenset(positions)


def _find_all(line: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans in which a text occurs."""
    start = line.find(text)
    while start >= 0:
        yield start, start + len(text)
        start = line.find(text, start + 1)


def _find_shared_text(line: str, texts: list[str], source_positions: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of letters and digits that a text of the document contains in the same order."""
    letters, positions = _fold_text(line)
    spellings = [_spellings(text) for text in texts]
    for length, spelled in ((MIN_SHARED_LENGTH, 0), (_MIN_ENCODED_LENGTH, 1)):
        document_letters = "\n".join(spelling[spelled] for spelling in spellings)
        for start in range(len(letters) - length + 1):
            window = range(positions[start], positions[start + length - 1] + 1)
            if letters[start : start + length] in document_letters and not source_positions.issuperset(window):
                yield window.start, window.stop


def _find_symbol_texts(line: str, texts: list[str], source_positions: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of document texts that consist mostly of symbols."""
    folded = line.casefold()
    for text in {
        text.casefold()
        for text in texts
        if len(text) >= MIN_SHARED_LENGTH and len(_normalized_letters(text)) < MIN_SHARED_LENGTH
    }:
        start = folded.find(text) if len(folded) == len(line) else -1
        while start >= 0:
            if not source_positions.issuperset(range(start, start + len(text))):
                yield start, start + len(text)
            start = folded.find(text, start + 1)


def _find_same_numbers(
    line: str, numbers: list[str], author: SourceText, source_positions: frozenset[int]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of numbers that the document has, perhaps rounded or in another notation."""
    values = {parse_number(number) for number in numbers}
    digits = {_significant_digits(number) for number in numbers}
    for match in _NUMBER_OR_HEX.finditer(line):
        token = match[0]
        if source_positions.issuperset(range(*match.span())) or _read_number(token).value in author.numbers:
            continue
        if len(re.sub(r"\D", "", token)) >= _MIN_DIGITS or token.startswith("0x"):
            number, own_digits = _read_number(token), _significant_digits(token)
            same_digits = len(own_digits) >= _MIN_DIGITS and own_digits in digits
            if same_digits or any(abs(value - number.value) < number.unit for value in values):
                yield match.span()


class _Number(NamedTuple):
    """A number in a message, and the unit of its last digit: any number that is nearer may be the same, rounded."""

    value: float
    unit: float


def _read_number(token: str) -> _Number:
    if token.startswith("0x"):
        return _Number(float(int(token, 16)) if len(token) <= _MAX_HEX_LENGTH else math.nan, 1.0)
    mantissa, _, exponent = token.partition("e")
    scale = 10.0 ** max(min(parse_float(exponent) or 0.0, 300.0), -300.0)
    decimals = len(mantissa.rpartition(".")[2]) if "." in mantissa else 0
    return _Number(parse_number(mantissa) * scale, scale / 10.0**decimals)


def _is_suspiciously_long(word: re.Match[str], source_positions: frozenset[int]) -> bool:
    return len(word[0]) > _MAX_WORD_LENGTH and not source_positions.issuperset(range(*word.span()))


def _apply_redaction(line: str, positions: set[int]) -> str | None:
    if not positions:
        return line
    redacted = "".join(REDACTION_MARK if place in positions else sign for place, sign in enumerate(line))
    words = [word for word in re.findall(r"[^\W\d_]+", redacted) if len(word) >= _MIN_DIGITS]
    return (
        _REPEATED_MARKS.sub(REDACTION_MARK, re.sub(f"{REDACTION_MARK}+", REDACTION_MARK, redacted)).strip()
        if len(words) > 1
        else None
    )


def _document_texts(document: Json, names: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the texts and numbers of the document. Property names outside the schema count as texts."""
    texts: list[str] = []
    numbers: list[str] = []
    pending: list[Any] = [document]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            texts.append(each)
            numbers.extend(NUMBER_PATTERN.findall(each[:_MAX_DOCUMENT_TEXT]))
        elif isinstance(each, Mapping):
            table = cast("Mapping[str, Json]", each)
            texts.extend(name for name in table if name not in names)
            pending.extend(table.values())
        elif isinstance(each, list):
            pending.extend(cast("list[Json]", each))
        elif isinstance(each, int | float) and not isinstance(each, bool):
            numbers.extend(_spellings_of_number(each))
    return texts, [number for number in dict.fromkeys(numbers) if _is_long_number(number)]


def _is_long_number(number: str) -> bool:
    return len(re.sub(r"\D", "", number)) >= _MIN_DIGITS or len(number) >= MIN_SHARED_LENGTH


def _spellings_of_number(number: float) -> Iterator[str]:
    yield repr(number)
    if isinstance(number, float) and math.isfinite(number):
        yield f"{number:f}"


def _spellings(text: str) -> tuple[str, str]:
    """Return the letters of a text, forwards and backwards, and its encoded forms, which a model could decode."""
    letters = _normalized_letters(text)
    if len(letters) < MIN_SHARED_LENGTH:
        return letters, ""
    data = text[:_MAX_ENCODED_TEXT].encode(errors="replace")
    return f"{letters}\n{letters[::-1]}", f"{data.hex()}\n{_normalized_letters(base64.b64encode(data).decode())}"


def _normalized_letters(text: str) -> str:
    return _fold_text(text)[0]


def _fold_text(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text without case and accents, and the position of each."""
    pairs = [
        (letter, position)
        for position, character in enumerate(text)
        for letter in (
            character.lower() if character.isascii() else unicodedata.normalize("NFKD", character).casefold()
        )
        if letter.isalnum()
    ]
    return "".join(letter for letter, _ in pairs), [position for _, position in pairs]


def _significant_digits(number: str) -> str:
    """Return the digits of a number without separators and outer zeros."""
    return re.sub(r"\D", "", number.partition("e")[0]).strip("0")


MIN_SHARED_LENGTH = 4
"""A message that shares this many letters or digits in a row with a document repeats a piece of it."""
NUMBER_PATTERN = re.compile(r"\d+(?:[.,_' \u00a0\u202f]\d+)*")
_MAX_HEX_LENGTH = 200  # 16 ** 198 is a float
_NUMBER_OR_HEX = re.compile(rf"0x[0-9a-f]+|{NUMBER_PATTERN.pattern}(?:e[+-]?\d+)?")
_MAX_NAMES = 2000
_MAX_FILES = 12
"""The maximum number of source files that are read for one function, nearest first."""
_MAX_LITERALS = 20_000
_MAX_INTEGER = 2**63
_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z%]|\{[^{}]*\}|\$\{?\w+\}?")


@dataclass(frozen=True, slots=True)
class SourceText:
    """The phrases in the caller's source code and validation context, and the numbers in both."""

    phrases: tuple[str, ...] = ()
    numbers: frozenset[float] = frozenset()
    context: tuple[str, ...] = ()

    def __add__(self, other: SourceText) -> SourceText:
        """Return the phrases and numbers of both."""
        return SourceText(self.phrases + other.phrases, self.numbers | other.numbers, self.context + other.context)


NO_CONTEXT = SourceText()
"""The text of no validation context."""


def collect_source_text(*objects: object) -> SourceText:
    """Return the literals in the code of functions, and in the statements that bind the names they use.

    The values of variables and objects are never read, because a check may have stored an answer there. The exception
    are values that are bound once, when a function or partial is created.
    """
    phrases: list[str] = []
    numbers: set[float] = set()
    pending = list(objects)
    seen: dict[int, object] = {}
    while pending and len(seen) < _MAX_LITERALS:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        if isinstance(each, str):
            phrases.extend(" ".join(part.split()) for part in _PLACEHOLDER.split(each))
            if NUMBER_PATTERN.fullmatch(each):  # for example Decimal("500.00")
                numbers.add(parse_number(each))
        elif isinstance(each, Decimal):
            numbers.add(float(each) if each.is_finite() else math.inf)
        elif isinstance(each, int | float) and not isinstance(each, bool):
            numbers.add(float(each) if abs(each) < _MAX_INTEGER else math.inf)
        else:
            pending.extend(_iter_parts(each))
    return SourceText(
        tuple(dict.fromkeys(phrase for phrase in phrases if len(phrase) >= MIN_SHARED_LENGTH)), frozenset(numbers)
    )


def collect_context_text(context: object) -> SourceText:
    """Return the texts and numbers in a validation context. Call it before an answer could have been stored there."""
    leaves: list[object] = []
    pending = deque([context])
    seen: dict[int, object] = {}
    while pending and len(seen) < _MAX_LITERALS:
        each = pending.popleft()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        match each:
            case Mapping():
                pending.extend(chain.from_iterable(cast("Mapping[object, object]", each).items()))
            case list() | tuple() | set() | frozenset():
                pending.extend(cast("Iterable[object]", each))
            case str() | int() | float() | Decimal():
                leaves.append(each)
            case _:
                pass
    found = collect_source_text(*leaves)
    return SourceText(numbers=found.numbers, context=found.phrases)


def _iter_parts(value: object) -> Iterator[object]:
    match value:
        case FunctionType():
            yield from _iter_function_parts(value)
        case MethodType():
            yield value.__func__
        case partial():
            yield from (value.func, *value.args, *value.keywords.values())
        case CodeType():
            yield from value.co_consts
        case tuple() | frozenset():
            yield from cast("Iterable[object]", value)
        case _ if callable(value) and not isinstance(value, type):
            yield inspect.getattr_static(type(value), "__call__", None)
            yield from _iter_wrapped(value)
        case _:
            pass


def _iter_wrapped(value: object) -> Iterator[object]:
    """Yield the function behind a decorator such as ``functools.cache``."""
    inner = inspect.getattr_static(value, "__wrapped__", None)
    if callable(inner):
        yield inner


def _iter_function_parts(function: FunctionType) -> Iterator[object]:
    code = function.__code__
    yield from _iter_bound_literals(function)  # first, because the last item is read first
    yield from _iter_called_code(function)
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from _iter_wrapped(function)
    parameters = _parse_source_file(code.co_filename).parameters_at(code.co_firstlineno)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        value = _cell_value(cell)
        if name in parameters:
            yield value
        elif isinstance(value, FunctionType):
            yield from (*_iter_bound_literals(value), *_iter_called_code(value))


def _iter_called_code(function: FunctionType) -> Iterator[object]:
    """Yield the code of a function and of the functions that it names, which no call can change."""
    yield function.__code__
    for name in _iter_code_names(function.__code__):
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType):
            yield called.__code__


def _iter_bound_literals(function: FunctionType) -> Iterator[object]:
    """Yield the literals in the statements that bind the names used by a function, recursively."""
    names = frozenset(_iter_code_names(function.__code__))
    pending = [(function.__globals__, function.__code__.co_filename, name) for name in names]
    files = {function.__code__.co_filename}
    seen: set[tuple[str, str]] = set()
    for module_globals, file, name in pending:  # grows during the loop
        if (file, name) in seen or len(seen) >= _MAX_NAMES:
            continue
        seen.add((file, name))
        source_file = _parse_source_file(file)
        yield from source_file.literals.get(name, ())
        pending += [(module_globals, file, used_name) for used_name in source_file.uses.get(name, ())]
        for path, member in source_file.imports.get(name, ()):
            submodule = (
                None
                if member is None
                else _find_user_module(f"{path}{'' if path.endswith('.') else '.'}{member}", module_globals)
            )
            module = submodule or _find_user_module(path, module_globals)
            member_names = names if member is None or submodule is not None else frozenset({member})
            origin = getattr(module, "__file__", None)
            if module is not None and isinstance(origin, str) and len(files | {origin}) <= _MAX_FILES:
                files.add(origin)
                pending += [(vars(module), origin, member_name) for member_name in member_names]


def _find_user_module(path: str, module_globals: Mapping[str, object]) -> ModuleType | None:
    """Return a loaded module outside the standard library, which code with ``module_globals`` imports as ``path``."""
    try:
        name = resolve_name(path, cast("str | None", module_globals.get("__package__")))
    except ImportError:
        return None
    return None if name.partition(".")[0] in sys.stdlib_module_names else sys.modules.get(name)


@dataclass(frozen=True, slots=True)
class _SourceFile:
    """The bindings in a source file by name, regardless of scope."""

    literals: dict[str, set[str | int | float]] = field(default_factory=dict[str, set[str | int | float]])
    uses: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    imports: dict[str, list[tuple[str, str | None]]] = field(default_factory=dict[str, list[tuple[str, str | None]]])
    parameters: list[tuple[range, set[str]]] = field(default_factory=list[tuple[range, set[str]]])
    """The lines of each outermost statement, and its parameter names that are never rebound."""

    def parameters_at(self, line: int) -> set[str]:
        """Return the parameter names that are never rebound in the outermost statement at a line."""
        return next((names for lines, names in self.parameters if line in lines), set[str]())


@lru_cache(maxsize=128)
def _parse_source_file(file: str) -> _SourceFile:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _SourceFile()
    source_file = _SourceFile()
    for statement in tree.body:
        nodes = list(ast.walk(statement))
        parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
        bound = {name for node in nodes for name in _iter_rebound_names(node)}
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        source_file.parameters.append((lines, parameters - bound))
    for node in ast.walk(tree):
        for name, path, member in _iter_imports(node):
            source_file.imports.setdefault(name, []).append((path, member))
        names = list(_iter_assigned_names(node))
        for each in ast.walk(node) if names else ():
            _record_binding(source_file, names, each)
    return source_file


def _record_binding(source_file: _SourceFile, names: list[str], node: ast.AST) -> None:
    """Record a node of the statement that binds ``names``."""
    for name in names:
        match node:
            case ast.Constant(value=str() | int() | float() as literal):
                source_file.literals.setdefault(name, set()).add(literal)
            case ast.Name(id=used) | ast.Attribute(attr=used):
                source_file.uses.setdefault(name, set()).add(used)
            case _:
                pass


def _iter_imports(node: ast.AST) -> Iterator[tuple[str, str, str | None]]:
    """Yield each imported name, the path of its module, and the imported member (None for the module)."""
    match node:
        case ast.Import():
            for name in node.names:
                path = name.name if name.asname else name.name.partition(".")[0]
                yield name.asname or path, path, None
        case ast.ImportFrom():
            for alias in node.names:
                yield alias.asname or alias.name, "." * node.level + (node.module or ""), alias.name
        case _:
            pass


def _iter_assigned_names(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that a statement assigns."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _iter_target_names(target)
        case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
            yield from _iter_target_names(node.target)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case _:
            pass


def _iter_target_names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name():
            yield target.id
        case ast.Attribute():
            yield target.attr
        case ast.Tuple() | ast.List():
            for element in target.elts:
                yield from _iter_target_names(element)
        case _:
            pass


def _iter_rebound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds other than as parameters."""
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


def _iter_code_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _iter_code_names(constant)


def _cell_value(cell: Any) -> object:
    try:
        return cast("object", cell.cell_contents)
    except ValueError:  # it is filled later
        return None


def parse_number(text: str) -> float:
    """Return the number that a text spells, with any group separator, or NaN for versions, dates and words."""
    try:
        return float(re.sub(r"[,_' \u00a0\u202f]", "", text))
    except ValueError:
        return math.nan
