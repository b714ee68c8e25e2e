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
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from emitter.errors import UnknownModel
from emitter.profiles.model import Profile as Profile
from emitter.profiles.model import WireFormat as WireFormat
from emitter.profiles.model import WireProfile as WireProfile
from emitter.profiles.model import load_profile as load_profile
from emitter.profiles.model import load_profile_from as load_profile_from
from emitter.profiles.packaged import is_profile, packaged_toml
from emitter.profiles.packaged import listed_profile_names as listed_profile_names
from emitter.profiles.packaged import profile_names as profile_names

if TYPE_CHECKING:
    from collections.abc import Mapping


def find_profile(model: str, profile: Profile | None = None) -> tuple[Profile, str]:
    """Return the profile and the provider's own model name for a model.

    Args:
        model: ``vendor/model``. ``vendor:model``, an alias of the vendor and the bare name of a model that only one
            vendor has are accepted as well.
        profile: The caller's profile. The name of the profile and those that it extends may stand before the model's.

    Raises:
        UnknownModel: No profile matches.
    """
    if profile is not None and isinstance(cast("object", model), str) and model.strip():
        return profile, _name_in_profile(model, profile)
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
    profile = vendor if is_profile(vendor) else _profiles_by_alias().get(vendor)
    if profile is not None:
        return (profile, name) if name else None
    owner = _profile_of_bare_model(model.strip())
    return None if owner is None else (owner, model.strip())


def _name_in_profile(model: str, profile: Profile) -> str:
    vendor, name = _split_model_name(model)
    return name if name and is_named(profile, vendor) else model.strip()


def is_named(profile: Profile, vendor: str) -> bool:
    """Return whether a vendor's name is that of the profile, or of one that it extends."""
    return vendor == profile.name or vendor in profile.aliases


def vendor_of(model: str) -> str:
    """Return the part of ``vendor/model`` before the slash, in lower case."""
    return _split_model_name(model)[0]


def _split_model_name(model: str) -> tuple[str, str]:
    """Return the parts before and after the first ``/`` or ``:``."""
    vendor, *rest = re.split("[/:]", model.strip(), maxsplit=1)
    return vendor.strip().lower(), "".join(rest).strip()


@cache
def _profiles_by_alias() -> Mapping[str, str]:
    aliases = {alias: name for name in profile_names() for alias in packaged_toml(name).get("aliases", ())}
    return MappingProxyType({**aliases, **{name: name for name in profile_names()}})


@cache
def _model_patterns() -> tuple[tuple[str, str], ...]:
    """Return the profile name and pattern of every model row that a profile does not inherit."""
    own = [(name, packaged_toml(name).get("models", [])) for name in listed_profile_names()]
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
