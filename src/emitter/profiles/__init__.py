"""Load provider profiles from ``providers/*.toml`` and find the profile of a model.

A profile may name another one in ``extends``. Tables are merged key by key, the lists ``rules``, ``models``,
``thinkers``, ``parameters``, ``encodings``, ``capabilities``, ``prices``, ``media`` and ``caching`` are put before
those of the parent, and any other value replaces the parent's. ``without`` in a table lists the keys, and the entries
of its lists, that the table does not inherit.

The names of a vendor, its address and the variables of its key are never inherited, so that no key is sent to another
vendor's server. A table that states facts needs a source of its own. A file with ``abstract = true`` can only be
extended.
"""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from emitter.assets import find_data_folder
from emitter.errors import BadProfile, UnknownModel
from emitter.messages import as_list
from emitter.profiles.model import ProviderProfile as ProviderProfile
from emitter.profiles.model import WireFormat as WireFormat
from emitter.profiles.model import WireProfile as WireProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from importlib.resources.abc import Traversable

    from pydantic_core import ErrorDetails

TomlTable = dict[str, Any]
_PREPENDED_LISTS = frozenset(
    {"rules", "models", "thinkers", "parameters", "encodings", "capabilities", "prices", "media", "caching"}
)
_OWN_KEYS = ("abstract", "extends")
_NOT_INHERITED = ("title", "provider", "aliases", "listed")
_NOT_INHERITED_BY_CLIENT = ("key_env", "base_url", "base_url_env")
_SOURCE_KEYS = ("source", "verified")
_MAX_EXTENDS = 8


@cache
def profile_names() -> tuple[str, ...]:
    """Return the names of all usable profiles in alphabetical order, including unlisted ones."""
    return tuple(name for name in _file_names() if not _packaged_toml(name).get("abstract", False))


@cache
def _file_names() -> tuple[str, ...]:
    files = find_data_folder("providers").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


@cache
def _packaged_toml(name: str) -> TomlTable:
    return _read_toml(find_data_folder("providers"), name)


@cache
def load_profile(name: str) -> ProviderProfile:
    """Return the profile ``name``.

    Raises:
        BadProfile: There is no such profile, or it is invalid. The message names the file, the key and allowed values.
    """
    if not _is_profile(name):
        raise BadProfile(f"There is no profile {name!r}.", hint=f"Choose one of {', '.join(profile_names())}.")
    return _build_profile(name, _packaged_toml)


def _is_profile(name: str) -> bool:
    return name in _file_names() and not _packaged_toml(name).get("abstract", False)


@cache
def listed_profile_names() -> tuple[str, ...]:
    """Return the names of the profiles of actual providers and servers."""
    return tuple(name for name in profile_names() if _packaged_toml(name).get("listed", True))


def find_profile(model: str) -> tuple[ProviderProfile, str]:
    """Return the profile and the provider's own model name for a model.

    Args:
        model: ``vendor/model``. ``vendor:model``, an alias of the vendor and the bare name of a model that only one
            vendor has are accepted as well.

    Raises:
        UnknownModel: No profile matches.
    """
    match = _find_profile_name(model) if isinstance(cast("object", model), str) else None
    if match is None:
        raise UnknownModel(
            f"{model!r} is not a model that emitter can reach.",
            hint=f"{_suggest_model(model)}Write vendor/model; the vendors are {', '.join(listed_profile_names())}.",
        )
    return load_profile(match[0]), match[1]


@lru_cache(maxsize=256)
def _find_profile_name(model: str) -> tuple[str, str] | None:
    vendor, name = _split_model_name(model)
    # The name of a profile is tried first, because finding an alias means reading all files.
    profile = vendor if _is_profile(vendor) else _profiles_by_alias().get(vendor)
    if profile is not None:
        return (profile, name) if name else None
    owner = _profile_of_bare_model(model.strip())
    return None if owner is None else (owner, model.strip())


def _split_model_name(model: str) -> tuple[str, str]:
    """Return the parts before and after the first ``/`` or ``:``."""
    vendor, *rest = re.split("[/:]", model.strip(), maxsplit=1)
    return vendor.strip().lower(), "".join(rest).strip()


@cache
def _profiles_by_alias() -> Mapping[str, str]:
    aliases = {alias: name for name in profile_names() for alias in _packaged_toml(name).get("aliases", ())}
    return MappingProxyType({**aliases, **{name: name for name in profile_names()}})


@cache
def _model_patterns() -> tuple[tuple[str, str], ...]:
    """Return the profile name and pattern of every model row that a profile does not inherit."""
    own = [(name, _packaged_toml(name).get("models", [])) for name in listed_profile_names()]
    return tuple((name, row["match"].lstrip("*")) for name, rows in own for row in rows if row["match"] != "*")


def _profile_of_bare_model(name: str) -> str | None:
    """Return the name of the only profile with a bare model name, or None."""
    bare = name.removeprefix("models/")
    if "/" in bare:
        return None
    owners = {vendor for vendor, pattern in _model_patterns() if fnmatchcase(bare, pattern)}
    return owners.pop() if len(owners) == 1 else None


def _suggest_model(model: object) -> str:
    """Return a question that suggests a similar model, or an empty string."""
    from difflib import get_close_matches  # noqa: PLC0415  only a misspelt name needs it

    if not isinstance(model, str) or not model.strip():
        return ""
    vendor, name = _split_model_name(model)
    vendors = get_close_matches(vendor, _profiles_by_alias(), n=1, cutoff=0.7 if name else 1.0)
    if vendors:
        return f"Did you mean {f'{_profiles_by_alias()[vendors[0]]}/{name or chr(8230)}'!r}? "
    owner = _profile_of_bare_model(name)
    if owner is not None:
        return f"Did you mean {f'{owner}/{name}'!r}? "
    stems = {re.split(r"[*?\[]", pattern)[0].rstrip("-.@"): profile for profile, pattern in _model_patterns()}
    models = get_close_matches(model.strip().lower(), stems, n=1, cutoff=0.7)
    return f"Did you mean {f'{stems[models[0]]}/{models[0]}'!r}? " if models else ""


def suggest_similar_model(profile: str, model: str) -> str:
    """Return a question that suggests a model of a known family with a similar name, or an empty string.

    Only the letters may differ: another number is another model.
    """
    from difflib import SequenceMatcher  # noqa: PLC0415  only an unknown model needs it

    stems = [re.split(r"[*?\[]", pattern)[0] for owner, pattern in _model_patterns() if owner == profile]
    likely: list[tuple[float, str]] = []
    for stem in stems:
        start = model[: len(stem)].lower()
        if start != stem and re.sub(r"\D", "", start) == re.sub(r"\D", "", stem):
            likely.append((SequenceMatcher(None, start, stem).ratio(), stem))
    ratio, stem = max(likely, default=(0.0, ""))
    return f"Did you mean {f'{profile}/{stem}{model[len(stem) :]}'!r}? " if ratio >= _MIN_SIMILARITY else ""


_MIN_SIMILARITY = 0.75


def load_profile_from(directory: Traversable, name: str) -> ProviderProfile:
    """Return the profile ``name`` from a folder of your own; may raise ``BadProfile``."""
    return _build_profile(name, partial(_read_toml, directory))


def _build_profile(name: str, read_table: Callable[[str], TomlTable]) -> ProviderProfile:
    chain = [read_table(name)]
    while (parent := chain[-1].get("extends")) is not None:
        if len(chain) == _MAX_EXTENDS:
            raise BadProfile(f"providers/{name}.toml: extends: a cycle, or more than {_MAX_EXTENDS} profiles.")
        chain.append(read_table(parent))
    merged: TomlTable = {}
    for table in reversed(chain):  # the most general profile first
        inherited = _leave_out(merged, _NOT_INHERITED)
        inherited["client"] = _leave_out(merged.get("client", {}), _NOT_INHERITED_BY_CLIENT)
        merged = _merge_tables(inherited, _leave_out(table, _OWN_KEYS), f"providers/{name}.toml: ")
    try:
        return ProviderProfile.model_validate({"name": name, **merged})
    except ValidationError as error:
        raise BadProfile("\n".join(_describe_error(name, detail) for detail in error.errors())) from error


def _read_toml(directory: Traversable, name: str) -> TomlTable:
    file = directory.joinpath(f"{name}.toml")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadProfile(f"providers/{name}.toml does not exist.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadProfile(f"providers/{name}.toml: invalid TOML: {error}.") from error


def _leave_out(table: TomlTable, keys: Collection[str]) -> TomlTable:
    return {key: value for key, value in table.items() if key not in keys}


def _merge_tables(parent: TomlTable, child: TomlTable, place: str) -> TomlTable:
    """Merge ``child`` into ``parent``. The child's keys come first, because the first wire is the default."""
    without: list[str] = child.get("without", [])
    for name in without:
        if name not in parent and not any(name in as_list(value) for value in parent.values()):
            raise BadProfile(f"{place}without: {name!r} is not inherited here.")
    # A table with facts of its own needs a source of its own. One with only subtables states none.
    states_facts = any(not isinstance(value, dict) for value in child.values())
    own = _leave_out(child, ("without",))
    inherited = _leave_out(parent, (*without, *(_SOURCE_KEYS if states_facts else ())))
    for key, value in inherited.items():
        if isinstance(value, list):
            inherited[key] = [entry for entry in as_list(value) if entry not in without]
    ordered = [*own, *(key for key in inherited if key not in own)]
    return {key: _merge_value(key, inherited.get(key), own.get(key), f"{place}{key}.") for key in ordered}


def _merge_value(key: str, parent: Any, child: Any, place: str) -> Any:
    if child is None or parent is None:
        return parent if child is None else child
    if isinstance(child, dict) and isinstance(parent, dict):
        return _merge_tables(cast("TomlTable", parent), cast("TomlTable", child), place)
    if key in _PREPENDED_LISTS and isinstance(child, list) and isinstance(parent, list):
        return [*as_list(child), *as_list(parent)]
    return cast("Any", child)


def _describe_error(name: str, error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in error["loc"])
    return f"providers/{name}.toml: {key}: {error['msg']}."
