"""Vendor profiles, read from ``providers/*.toml`` and checked on load.

``load`` returns one profile, ``names`` lists them. A file may name another in ``extends``: tables are then
merged key by key, ``rules``, ``models``, ``thinkers``, ``encodings`` and ``capabilities`` are put before the
parent's, any other value replaces it. A file with ``abstract = true`` exists only to be extended.
"""

from __future__ import annotations

import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from emitter.assets import folder
from emitter.errors import BadProfile, UnknownModel
from emitter.profile.model import Profile as Profile
from emitter.profile.model import Wire as Wire
from emitter.profile.model import WireName as WireName
from emitter.wire import sequence

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from pydantic_core import ErrorDetails

Toml = dict[str, Any]

_PREPENDED = frozenset({"rules", "models", "thinkers", "encodings", "capabilities"})
_MAX_EXTENDS = 8


@cache
def names() -> tuple[str, ...]:
    """Return the names of all profiles that can be used, in alphabetical order."""
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


def of_model(model: str) -> tuple[Profile, str]:
    """Return the profile and the vendor's own model name of ``vendor/model``; raises ``UnknownModel``."""
    vendor, _, name = model.partition("/") if isinstance(model, str) else ("", "", "")  # pyright: ignore[reportUnnecessaryIsInstance]
    if not name.strip() or vendor not in names():
        raise UnknownModel(
            f"{model!r} is no model this library knows how to reach.",
            hint=f"Write vendor/model; the vendors are {', '.join(names())}.",
        )
    return load(vendor), name


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
