"""Spell the options in a message of the library as the command line has them: flags, and keys of a profile's file.

The library names an option as Python does, in one of these forms: ``Policy.max_cost``, ``Policy(max_cost=1)``,
``wire="openai-chat"``, ``profile=``, ``extra_body={...}`` and ``Profile.from_name(...).override(modes=["text"])``.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from emitter.cli.arguments import LIMITS
from emitter.errors import EmissionError
from emitter.messages import as_list, as_mapping
from emitter.profiles.custom import place_fact

if TYPE_CHECKING:
    from collections.abc import Callable, Container

_CALL: Final = re.compile(r"(?:\b\w+=)?\b(Policy|Profile\.from_name\(\.\.\.\)\.override)(?=\()")
_TABLE: Final = re.compile(r"(?<!\()\b(\w+)=(?=\{)")
_ARGUMENT: Final = re.compile(r"""\bPolicy\.(\w+)|(?<!\()\b(\w+)=(?:(["'])(.*?)\3|(?=[\s.,);:]|$))""")
"""In ``Ledger(sign=...)`` it is an argument of a class, which no flag stands for."""


def spell_error(error: BaseException, options: Container[str]) -> str:
    """Return the message of an error with the command's flags. The words of a vendor are left alone."""
    vendor_message = error.vendor_message if isinstance(error, EmissionError) else None
    if not vendor_message:
        return with_flags(str(error), options)
    quoted = f'"{vendor_message}"'
    return quoted.join(with_flags(part, options) for part in str(error).split(quoted))


def with_flags(message: str, options: Container[str]) -> str:
    """Return a message of the library with the command's flags in place of the options that they stand for."""
    message = _replace_values(_CALL, message, partial(_spell_call, options))
    message = _replace_values(_TABLE, message, partial(_spell_table, options))
    return _ARGUMENT.sub(partial(_spell_argument, options), message)


def _replace_values(pattern: re.Pattern[str], message: str, spell: Callable[[str, ast.expr], str | None]) -> str:
    """Return a message with each match and the brackets after it replaced, unless ``spell`` returns None."""
    parts: list[str] = []
    end = 0
    for match in pattern.finditer(message):
        stop = _find_end(message, match.end())
        values = None if match.start() < end or stop is None else _parse(message[match.end() : stop])
        spelled = None if values is None else spell(match[1], values)
        if spelled is not None and stop is not None:
            parts += [message[end : match.start()], spelled]
            end = stop
    return "".join([*parts, message[end:]])


_BRACKETS: Final = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def _find_end(message: str, start: int) -> int | None:
    """Return the end of the brackets that open at ``start``."""
    depth = 0
    for place, character in enumerate(message[start:], start):
        depth += _BRACKETS.get(character, 0)
        if depth == 0:
            return place + 1
    return None


def _parse(brackets: str) -> ast.expr | None:
    """Return a table, or the arguments of a call as a call, or None if they are no code.

    A value that is left out is an ellipsis.
    """
    code = brackets.replace("…", "...")
    with suppress(SyntaxError, ValueError):
        return ast.parse(f"call{code}" if code.startswith("(") else code, mode="eval").body
    return None


def _spell_call(options: Container[str], name: str, call: ast.expr) -> str | None:
    values = {str(each.arg): each.value for each in call.keywords} if isinstance(call, ast.Call) else {}
    if name == "Policy":
        is_known = all(each in options and each in LIMITS for each in values)
        return " ".join(_spell_limit(*each) for each in values.items()) if is_known else None
    if "profile" not in options:
        return None
    facts = " and ".join(_spell_fact(*each) for each in values.items())
    return f"{_flag('profile', 'FILE')} with {facts}"


def _spell_limit(name: str, value: ast.expr) -> str:
    if not isinstance(value, ast.Constant) or value.value is ...:
        return _flag(name, LIMITS[name][0])
    return _flag(name, None if value.value is True else str(value.value))


def _spell_fact(name: str, value: ast.expr) -> str:
    """Return a fact as a line of TOML. Its place may depend on the API, which ``--wire`` names as well."""
    key, written = place_fact(name, "API"), _to_toml(ast.literal_eval(value))
    table, _, last = key.partition(".")
    return f'models = [{{match = "*", {last} = {written}}}]' if table == "models" else f"{key} = {written}"


def _to_toml(value: Any) -> str:
    if value is ...:
        return "..."
    if isinstance(value, dict):
        entries = (f"{json.dumps(key)} = {_to_toml(each)}" for key, each in as_mapping(value).items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_to_toml, as_list(value)))}]"
    return json.dumps(value)


def _spell_table(options: Container[str], name: str, table: ast.expr) -> str | None:
    return _flag(name, shlex.quote(json.dumps(ast.literal_eval(table)))) if name in options else None


def _spell_argument(options: Container[str], match: re.Match[str]) -> str:
    name, word = match[1] or match[2], match[4]
    return _flag(name, word or ("FILE" if name == "profile" else None)) if name in options else match[0]


def _flag(name: str, value: str | None = None) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {value}"
