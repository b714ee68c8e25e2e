"""Profiles that a caller makes: from a TOML file or text, or from another profile with other facts.

Such a profile states only what differs from another one. Its tables are merged as those of ``providers/*.toml`` are,
with four differences. A table without ``source`` has that of the profile. A row of ``models`` states only what differs
from the row that the model had. The address and the key's variables are inherited together, or not at all. The names of
the profiles that it extends are its aliases.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast, get_args

from emitter.assets import read_file
from emitter.errors import BadProfile
from emitter.messages import as_list, as_mapping
from emitter.profiles.packaged import (
    NOT_INHERITED,
    NOT_INHERITED_BY_CLIENT,
    FilePath,
    TomlTable,
    leave_out,
    listed_profile_names,
    merge_tables,
    profile_names,
)
from emitter.profiles.tables import LimitName, ProfileTable, SourcedTable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_DEFAULT_PARENT = "openai-compatible"
_DEFAULT_NAME = "custom"
_MAX_BYTES = 1_000_000
_SUFFIX = ".toml"
_IDENTITY = ("name", "title", "provider", "aliases")
_SHOWN_ERRORS = frozenset(
    {"bool_type", "enum", "float_type", "greater_than", "greater_than_equal", "int_type", "literal_error"}
)
"""Errors whose message quotes the value. The value of any other key might be a credential."""
_UNQUOTED_TABLE = "client"


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a profile: the words for an error message, the name by default, and the text."""

    place: str
    name: str
    text: str = ""

    def error(self, key: str, problem: str, hint: str | None = None) -> BadProfile:
        """Return an error about a key, with its line if there is only one with such a key."""
        name = next(part for part in reversed(key.split(".")) if not part.isdigit() or part == key)
        lines = [
            number
            for number, line in enumerate(self.text.splitlines(), 1)
            if re.match(rf'\s*(\[+[\w.\-"]*\.?)?["\']?{re.escape(name)}\b["\']?\s*[=\]]', line)
        ]
        where = f", line {lines[0]}" if len(lines) == 1 else ""
        return BadProfile(f"{self.place}{where}: {key}: {problem}", hint=hint)


def read_table(source: str | FilePath) -> tuple[Origin, str, TomlTable]:
    """Return the origin of a TOML file or text, the name of the profile that it extends, and its tables."""
    origin = _read_source(source)
    try:
        table: TomlTable = tomllib.loads(origin.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadProfile(f"{origin.place}: invalid TOML: {error}.", hint=_FORMAT_HINT) from error
    return origin, _parent_name(table.pop("extends", _DEFAULT_PARENT), origin), table


_FORMAT_HINT = "The guide docs/guides/your-own-server.md shows the format."
_SOURCE_HINT = "Pass the path of a file that ends in .toml, or TOML text such as 'extends = \"vllm\"'."


def _read_source(source: object) -> Origin:
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        raise BadProfile(f"The profile is of type {type(source).__name__}, not a path or text.", hint=_SOURCE_HINT)
    if isinstance(source, str) and ("\n" in source or not source.strip().endswith(_SUFFIX)):
        if "=" not in source and "[" not in source:
            raise BadProfile("The profile is neither TOML nor the path of a .toml file.", hint=_SOURCE_HINT)
        return Origin("profile", _DEFAULT_NAME, source)
    path = str(cast("str | FilePath", source))
    try:
        content = read_file(path, _MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, or a null character in the path
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadProfile(f"The profile {path!r} cannot be read: {reason}.", hint=_SOURCE_HINT) from error
    if len(content) > _MAX_BYTES:
        raise BadProfile(f"{path} has more than {_MAX_BYTES:,} bytes.", hint=_FORMAT_HINT)
    return Origin(path, re.split(r"[/\\]", path)[-1].removesuffix(_SUFFIX), text)


def _parent_name(name: object, origin: Origin) -> str:
    if isinstance(name, str) and name in profile_names():
        return name
    close = get_close_matches(str(name), profile_names(), n=1)
    suggestion = f'Did you mean "{close[0]}"? ' if close else ""
    hint = f"{suggestion}Choose one of {', '.join(listed_profile_names())}."
    raise origin.error("extends", f"there is no profile {str(name)[:_MAX_QUOTE]!r}.", hint)


_MAX_QUOTE = 60


def facts_table(name: str, wires: list[str], facts: dict[str, object]) -> tuple[Origin, TomlTable]:
    """Return the origin and the tables of single facts about a profile with these wires."""
    origin = Origin("Profile.override", name)
    unknown = sorted(facts.keys() - _FACTS.keys() - {"modes", "strict", "tables"})
    if unknown:
        raise origin.error(unknown[0], *_suggest(unknown[0], (*_FACTS, "modes", "strict", "tables")))
    table: TomlTable = {}
    for fact, value in facts.items():
        for path in _fact_paths(fact, wires):
            _write(table, path, value)
    if "models" in table:
        table["models"] = [{"match": "*", **table["models"]}]
    tables: object = facts.get("tables", {})
    if not isinstance(tables, dict):
        raise origin.error("tables", "must be a mapping of tables, as in a TOML file.")
    return origin, _merge_deep(table, to_toml(tables))


_FACTS = {
    "source": "source",
    "verified": "verified",
    "name": "name",
    "base_url": "client.base_url",
    "key_env": "client.key_env",
    "key_required": "client.key_required",
    "context": "models.context",
    "max_output": "models.max_output",
    "enforced": "wires.*.output.enforced",
    "shown": "wires.*.output.shown",
    "stops": "wires.*.stops.reasons",
    "usage": "wires.*.usage",
    "rules": "faults.rules",
    "keywords": "subset.keywords",
}
"""The places of single facts in the tables. An asterisk stands for every wire."""
_FACTS_OF_TWO_TABLES = {
    "modes": ("wires.*.output.modes", "models.modes"),
    "strict": ("wires.*.output.strict", "models.strict"),
}


def _fact_paths(name: str, wires: list[str]) -> list[tuple[str, ...]]:
    """Return the places of a fact."""
    found: list[tuple[str, ...]] = []
    for place in _FACTS_OF_TWO_TABLES.get(name, (_FACTS[name],) if name in _FACTS else ()):
        first, *rest = place.split(".")
        found += [(first, wire, *rest[1:]) for wire in wires] if rest[:1] == ["*"] else [(first, *rest)]
    return found


def place_fact(name: str, wire: str) -> str:
    """Return the dotted key under which a file states a single fact. Facts of models are in a row of ``models``."""
    return ".".join(_fact_paths(name, [wire])[0])


def _write(table: TomlTable, path: tuple[str, ...], value: object) -> None:
    *outer, last = path
    for key in outer:
        table = table.setdefault(key, {})
    table[last] = to_toml(value)


def to_toml(value: Any) -> Any:
    """Return a value with the types that TOML has: no enums, tuples or sets."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {to_toml(key): to_toml(inner) for key, inner in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_toml(inner) for inner in cast("list[object]", value)]
    return value


def _merge_deep(first: TomlTable, second: TomlTable) -> TomlTable:
    """Return a table with the entries of both; the second wins."""
    merged = {**first, **second}
    for key in first.keys() & second.keys():
        if isinstance(first[key], dict) and isinstance(second[key], dict):
            merged[key] = _merge_deep(first[key], second[key])
        elif isinstance(first[key], list) and isinstance(second[key], list):
            merged[key] = [*second[key], *first[key]]
    return merged


def merge_custom(kind: type[ProfileTable], table: TomlTable, inherited: TomlTable, origin: Origin) -> TomlTable:
    """Return the tables of a profile, with those of the profile that it extends."""
    source = table.get("source", f"{origin.place}, given by the caller")
    verified = table.pop("verified", dt.datetime.now(tz=dt.UTC).date())
    if not isinstance(verified, dt.date):
        raise origin.error("verified", "it should be a date, such as 2027-01-31.")
    _complete(kind, table, inherited, _Statement(origin, {"source": source, "verified": verified}))
    if as_mapping(table.get("client")).keys() & {"base_url", "base_url_env"}:
        inherited["client"] = leave_out(inherited["client"], NOT_INHERITED_BY_CLIENT)
    rows: object = table.pop("models", [])
    if not isinstance(rows, list):
        raise origin.error("models", "must be a list of tables, each below [[models]].")
    identity = _identify(inherited, table, origin)
    merged = merge_tables(leave_out(inherited, (*NOT_INHERITED, *_IDENTITY)), table, f"{origin.place}: ")
    merged |= {
        **identity,
        "source": source,
        "models": _merge_models(cast("list[Any]", rows), as_list(merged["models"])),
    }
    return merged


def _identify(parent: TomlTable, table: TomlTable, origin: Origin) -> TomlTable:
    """Return the names of a profile. One that corrects another keeps its names."""
    own = {key: table[key] for key in _IDENTITY if key in table}
    if "name" not in table and origin.name == parent["name"]:
        return {key: parent[key] for key in _IDENTITY if key in parent} | own
    default = re.sub(r"[^a-z0-9._-]+", "-", origin.name.lower()).strip("-._") or _DEFAULT_NAME
    name = table.get("name", default)
    aliases = [*as_list(table.get("aliases")), parent["name"], *as_list(parent.get("aliases"))]
    return {"title": name, "provider": name, **own, "name": name, "aliases": aliases}


@dataclass(frozen=True, slots=True)
class _Statement:
    """The origin of a profile, and the source and date of its tables."""

    origin: Origin
    source: TomlTable


def _complete(
    kind: type[ProfileTable], table: TomlTable, inherited: object, statement: _Statement, path: str = ""
) -> None:
    """Reject unknown keys of a table and of the tables in it, and add their sources."""
    fields, parent = kind.model_fields, as_mapping(cast("Any", inherited))
    _check_without(table, statement.origin, path)
    for key, value in table.items():
        place = f"{path}{key}"
        if key not in fields and key != "without":
            raise statement.origin.error(place, *_suggest(key, tuple(fields)))
        inner = _table_type(fields[key].annotation) if key in fields else None
        if inner is None:
            continue
        if key == "wires":
            for wire, facts in as_mapping(value).items():
                _complete_value(inner, facts, as_mapping(parent.get(key)).get(wire), statement, f"{place}.{wire}.")
        else:
            _complete_value(inner, value, parent.get(key), statement, f"{place}.")
    states_facts = any(
        not isinstance(value, dict) or key not in fields or _table_type(fields[key].annotation) is None
        for key, value in table.items()
    )
    if issubclass(kind, SourcedTable) and states_facts and "source" not in table:
        source = statement.source["source"]
        known = parent.get("source")
        table["source"] = f"{source}; the rest: {known}" if known else source
    if issubclass(kind, SourcedTable) and states_facts:
        table.setdefault("verified", statement.source["verified"])


def _complete_value(
    kind: type[ProfileTable], value: object, inherited: object, statement: _Statement, path: str
) -> None:
    """Complete a table, or each table of a list."""
    tables: list[object] = [value] if isinstance(value, dict) else as_list(cast("Any", value))
    for table in tables:
        if isinstance(table, dict):
            _complete(kind, cast("TomlTable", table), inherited, statement, path)


def _check_without(table: TomlTable, origin: Origin, path: str) -> None:
    names = table.get("without", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in cast("list[object]", names)):
        raise origin.error(f"{path}without", 'must be a list of names, such as ["media"].')


def _table_type(annotation: object) -> type[ProfileTable] | None:
    """Return the table in a field's type, such as that of ``tuple[ModelLimits, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, ProfileTable):
        return annotation
    return next((found for each in get_args(annotation) if (found := _table_type(each))), None)


def _suggest(key: str, known: tuple[str, ...]) -> tuple[str, str]:
    """Return the problem with an unknown key, and what to write instead."""
    close = get_close_matches(str(key), known, n=1)
    choice = f"Did you mean {close[0]!r}? " if close else ""
    return "there is no such key here.", f"{choice}The keys are {', '.join(known)}."


def _merge_models(own: list[Any], inherited: list[Any]) -> list[Any]:
    """Return the rows of models, each with the facts that the caller's rows state for its models."""
    rows = inherited
    for row in reversed(own):
        rows = _apply_row(row, rows)
    return rows


def _apply_row(row: Any, rows: list[Any]) -> list[Any]:
    pattern = as_mapping(row).get("match")
    if not isinstance(pattern, str):
        return [row, *rows]  # validation reports it
    changed = [_override_row(row, each) if fnmatchcase(each["match"], pattern) else each for each in rows]
    if any(each["match"] == pattern for each in rows):
        return changed
    place = next(index for index, each in enumerate(rows) if fnmatchcase(pattern, each["match"]))
    return [*changed[:place], {**_override_row(row, rows[place]), "match": pattern}, *changed[place:]]


def _override_row(row: TomlTable, base: TomlTable) -> TomlTable:
    """Return a row with the facts of another. What the other states is assumed no longer."""
    assumed = set(get_args(LimitName)) if base.get("known") is False else set(as_list(base.get("assumed")))
    merged = {**base, **row, "match": base["match"]}
    if "known" not in row:
        merged |= {"known": True, "assumed": sorted({*assumed} - row.keys())}
    if "context" in row and "elastic" not in row:
        merged["elastic"] = False
    return merged


def describe_invalid(errors: list[ErrorDetails], merged: TomlTable, origin: Origin) -> BadProfile:
    """Return the first error. A value that may have several types has one for each of them."""
    first = errors[0]
    key = _describe_place(first["loc"], merged)
    same = [error["msg"] for error in errors if _describe_place(error["loc"], merged) == key]
    problem = " or ".join(dict.fromkeys(same)).removeprefix("Value error, ")
    for word, replacement in _WORDS.items():
        problem = problem.replace(word, replacement)
    if first["type"] in _SHOWN_ERRORS and not key.startswith(_UNQUOTED_TABLE):
        problem = f"it is {repr(first['input'])[:_MAX_QUOTE]}; {problem}"
    return origin.error(key, f"{problem}.")


def _describe_place(place: tuple[int | str, ...], merged: TomlTable) -> str:
    """Return the keys of a place. A row of a list is named by its pattern."""
    parts: list[str] = []
    value: Any = merged
    for part in place:
        if isinstance(part, str) and "[" in part:  # pydantic's name of a type, or of a key
            continue
        value = as_mapping(value).get(str(part)) if isinstance(value, dict) else _item(value, part)
        row = as_mapping(value).get("match") if isinstance(part, int) else None
        parts.append(str(part) if row is None else f'"{row}"')
    return ".".join(parts)


_WORDS = {
    "Input should": "it should",
    "valid tuple": "list",
    "valid dictionary": "table",
    "a valid boolean": "true or false",
    " or instance of ClientConfig": "",
}
"""Pydantic's words, and those of TOML."""


def _item(value: Any, part: object) -> Any:
    items = as_list(value)
    return items[part] if isinstance(part, int) and part < len(items) else None
