"""Read the profiles in ``providers/*.toml``, each merged with those that it extends."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from emitter.assets import find_data_folder
from emitter.errors import BadProfile
from emitter.messages import as_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from importlib.resources.abc import Traversable

TomlTable: TypeAlias = dict[str, Any]


class FilePath(Protocol):
    """A path of the standard library, or any other object that names a file."""

    def __fspath__(self) -> str:
        """Return the path as text."""
        ...


_PREPENDED_LISTS = frozenset(
    {"rules", "models", "thinkers", "parameters", "encodings", "capabilities", "prices", "media", "caching"}
)
NOT_INHERITED = ("title", "provider", "aliases", "listed")
NOT_INHERITED_BY_CLIENT = ("key_env", "base_url", "base_url_env")
_SOURCE_KEYS = ("source", "verified")
_OWN_KEYS = ("abstract", "extends")
_MAX_EXTENDS = 8


@cache
def profile_names() -> tuple[str, ...]:
    """Return the names of all usable profiles in alphabetical order, including unlisted ones."""
    return tuple(name for name in _file_names() if not packaged_toml(name).get("abstract", False))


@cache
def _file_names() -> tuple[str, ...]:
    files = find_data_folder("providers").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


@cache
def packaged_toml(name: str) -> TomlTable:
    """Return the file of a profile, as it is."""
    return read_toml(find_data_folder("providers"), name)


def is_profile(name: str) -> bool:
    """Return whether there is a profile ``name`` that can be used."""
    return name in _file_names() and not packaged_toml(name).get("abstract", False)


@cache
def listed_profile_names() -> tuple[str, ...]:
    """Return the names of the profiles of actual providers and servers."""
    return tuple(name for name in profile_names() if packaged_toml(name).get("listed", True))


def merge_profile(name: str, read_table: Callable[[str], TomlTable]) -> TomlTable:
    """Return the tables of the profile ``name``, with those that it inherits."""
    chain = [read_table(name)]
    while (parent := chain[-1].get("extends")) is not None:
        if len(chain) == _MAX_EXTENDS:
            raise BadProfile(f"providers/{name}.toml: extends: a cycle, or more than {_MAX_EXTENDS} profiles.")
        chain.append(read_table(parent))
    merged: TomlTable = {}
    for table in reversed(chain):  # the most general profile first
        inherited = leave_out(merged, NOT_INHERITED)
        inherited["client"] = leave_out(merged.get("client", {}), NOT_INHERITED_BY_CLIENT)
        merged = merge_tables(inherited, leave_out(table, _OWN_KEYS), f"providers/{name}.toml: ")
    return {"name": name, "source": f"providers/{name}.toml", **merged}


def read_toml(directory: Traversable, name: str) -> TomlTable:
    """Return the file ``name.toml`` of a folder."""
    file = directory.joinpath(f"{name}.toml")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadProfile(f"providers/{name}.toml does not exist.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadProfile(f"providers/{name}.toml: invalid TOML: {error}.") from error


def leave_out(table: TomlTable, keys: Collection[str]) -> TomlTable:
    """Return a table without some of its keys."""
    return {key: value for key, value in table.items() if key not in keys}


def merge_tables(parent: TomlTable, child: TomlTable, place: str) -> TomlTable:
    """Merge ``child`` into ``parent``. The child's keys come first, because the first wire is the default."""
    without: list[str] = child.get("without", [])
    for name in without:
        if name not in parent and not any(name in as_list(value) for value in parent.values()):
            raise BadProfile(f"{place}without: {name!r} is not inherited here.")
    # A table with facts of its own needs a source of its own. One with only subtables states none.
    states_facts = any(not isinstance(value, dict) for value in child.values())
    own = leave_out(child, ("without",))
    inherited = leave_out(parent, (*without, *(_SOURCE_KEYS if states_facts else ())))
    for key, value in inherited.items():
        if isinstance(value, list):
            inherited[key] = [entry for entry in as_list(value) if entry not in without]
    ordered = [*own, *(key for key in inherited if key not in own)]
    return {key: _merge_value(key, inherited.get(key), own.get(key), f"{place}{key}.") for key in ordered}


def _merge_value(key: str, parent: Any, child: Any, place: str) -> Any:
    if child is None or parent is None:
        return parent if child is None else child
    if isinstance(child, dict) and isinstance(parent, dict):
        return merge_tables(cast("TomlTable", parent), cast("TomlTable", child), place)
    if key in _PREPENDED_LISTS and isinstance(child, list) and isinstance(parent, list):
        return [*as_list(child), *as_list(parent)]
    return cast("Any", child)
