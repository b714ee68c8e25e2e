"""Vendor profiles, read from ``providers/*.toml`` and checked on load.

``load`` returns one profile, ``names`` lists them. A file may name another in ``extends``: tables are then
merged key by key, ``rules``, ``models``, ``thinkers``, ``encodings`` and ``capabilities`` are put before the
parent's, any other value replaces it. A file with ``abstract = true`` exists only to be extended.
"""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from emitter.assets import folder
from emitter.errors import BadProfile, UnknownModel
from emitter.profile.model import Profile as Profile
from emitter.profile.model import Wire as Wire
from emitter.profile.model import WireName as WireName
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from pydantic_core import ErrorDetails

Toml = dict[str, Any]

_PREPENDED = frozenset({"rules", "models", "thinkers", "encodings", "capabilities"})
_OWN = ("aliases", "listed")
"""What a profile does not have from one that it extends."""
_MAX_EXTENDS = 8


@cache
def names() -> tuple[str, ...]:
    """Return the names of all profiles that can be used, in alphabetical order, those that are not listed too."""
    stems = sorted(
        file.name.removesuffix(".toml") for file in folder("providers").iterdir() if file.name.endswith(".toml")
    )
    return tuple(stem for stem in stems if not _read(folder("providers"), stem).get("abstract", False))


@cache
def load(name: str) -> Profile:
    """Return the profile ``name``.

    Raises ``BadProfile`` with file, key and allowed values when the file does not hold.
    """
    if name not in names():
        raise BadProfile(f"There is no profile {name!r}.", hint=f"There are {', '.join(names())}.")
    return load_from(folder("providers"), name)


@cache
def vendors() -> tuple[str, ...]:
    """Return the names of the profiles that stand for a vendor or a server, as they are listed."""
    return tuple(name for name in names() if load(name).listed)


def of_model(model: str) -> tuple[Profile, str]:
    """Return the profile and the vendor's own model name of ``vendor/model``; raises ``UnknownModel``.

    ``vendor:model``, another usual name of the vendor, and the bare name of a model that one vendor alone has are
    taken, too.
    """
    given = cast("object", model)
    found = _of_model(given) if isinstance(given, str) else None
    if found is None:
        raise UnknownModel(
            f"{model!r} is no model this library knows how to reach.",
            hint=f"{_meant(given)}Write vendor/model; the vendors are {', '.join(vendors())}.",
        )
    return load(found[0]), found[1]


@lru_cache(maxsize=256)
def _of_model(model: str) -> tuple[str, str] | None:
    vendor, name = _parts(model)
    if vendor in _called():
        return (_called()[vendor], name) if name else None
    owner = _owner(model.strip())
    return None if owner is None else (owner, model.strip())


def _parts(model: str) -> tuple[str, str]:
    """Return what stands before the first ``/`` or ``:``, and what stands behind it."""
    vendor, *rest = re.split("[/:]", model.strip(), maxsplit=1)
    return vendor.strip().lower(), "".join(rest).strip()


@cache
def _called() -> Mapping[str, str]:
    """Return the profile that each name of a vendor stands for."""
    aliases = {alias: name for name in names() for alias in load(name).aliases}
    return MappingProxyType({**aliases, **{name: name for name in names()}})


@cache
def _patterns() -> tuple[tuple[str, str], ...]:
    """Return the models that each profile names itself, rather than those that it extends, from their beginning."""
    own = [(name, _read(folder("providers"), name).get("models", [])) for name in vendors()]
    return tuple((name, row["match"].lstrip("*")) for name, rows in own for row in rows if row["match"] != "*")


def _owner(name: str) -> str | None:
    """Return the one profile that names a bare model."""
    bare = name.removeprefix("models/")
    if "/" in bare:
        return None
    owners = {vendor for vendor, pattern in _patterns() if fnmatchcase(bare, pattern)}
    return owners.pop() if len(owners) == 1 else None


def _meant(given: object) -> str:
    """Return a question that names what may have been meant, or nothing."""
    if not isinstance(given, str) or not given.strip():
        return ""
    vendor, name = _parts(given)
    near = get_close_matches(vendor, _called(), n=1, cutoff=0.7 if name else 1.0)
    if near:
        return f"Did you mean {f'{_called()[near[0]]}/{name or chr(8230)}'!r}? "
    owner = _owner(name)
    if owner is not None:
        return f"Did you mean {f'{owner}/{name}'!r}? "
    stems = {re.split(r"[*?\[]", pattern)[0].rstrip("-.@"): each for each, pattern in _patterns()}
    like = get_close_matches(given.strip().lower(), stems, n=1, cutoff=0.7)
    return f"Did you mean {f'{stems[like[0]]}/{like[0]}'!r}? " if like else ""


def load_from(place: Traversable, name: str) -> Profile:
    """Return the profile ``name`` of a folder of your own."""
    merged = _merged(place, name)
    merged.pop("abstract", None)
    try:
        return Profile.model_validate({"name": name, **merged})
    except ValidationError as error:
        raise BadProfile("\n".join(_sentence(name, each) for each in error.errors())) from error


def _merged(place: Traversable, name: str) -> Toml:
    chain: list[Toml] = []
    current: str | None = name
    while current is not None:
        if len(chain) == _MAX_EXTENDS:
            raise BadProfile(f"providers/{name}.toml: extends: more than {_MAX_EXTENDS} profiles, or a circle.")
        table = _read(place, current)
        current = table.pop("extends", None)
        chain.append(table)
    merged: Toml = {}
    for table in chain[1:]:
        for key in _OWN:
            table.pop(key, None)
    for table in reversed(chain):
        table.pop("abstract", None)
        merged = _merge(merged, table)
    return merged


def _read(place: Traversable, name: str) -> Toml:
    file = place.joinpath(f"{name}.toml")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadProfile(f"providers/{name}.toml does not exist.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadProfile(f"providers/{name}.toml: not TOML: {error}.") from error


def _merge(parent: Toml, child: Toml) -> Toml:
    """Lay ``child`` over ``parent``; the child's order of wires wins."""
    ordered = [*child, *(key for key in parent if key not in child)]
    return {key: _merge_value(key, parent.get(key), child.get(key)) for key in ordered}


def _merge_value(key: str, parent: Any, child: Any) -> Any:
    if child is None or parent is None:
        return parent if child is None else child
    if isinstance(child, dict) and isinstance(parent, dict):
        return _merge(cast("Toml", parent), cast("Toml", child))
    if key in _PREPENDED and isinstance(child, list) and isinstance(parent, list):
        return [*sequence(child), *sequence(parent)]
    return cast("Any", child)


def _sentence(name: str, error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in error["loc"])
    return f"providers/{name}.toml: {key}: {error['msg']}."
