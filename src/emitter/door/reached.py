"""Whom a request reaches: from ``vendor/model`` and the caller's client to profile, wire and model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emitter import profile
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.profile import Profile, WireName


class Reached(NamedTuple):
    """Whom a request reaches."""

    profile: Profile
    wire: WireName
    model: str


def reached(model: str, client: object, wire: str | None) -> Reached:
    """Return whom a request for ``vendor/model`` reaches; raises ``UnknownModel``, ``InputError`` for no such wire."""
    named, own = profile.of_model(model)
    chosen = _for_client(named, client)
    return Reached(chosen, _wire(chosen, wire), own)


def _for_client(chosen: Profile, client: object) -> Profile:
    """Return the profile of the client's own flavour where one exists: an Azure client has Azure's limits."""
    flavour = type(client).__name__.removeprefix("Async")
    if client is None or flavour == chosen.client.flavour:
        return chosen
    others = (profile.load(each) for each in profile.names())
    same_sdk = (each for each in others if each.client.sdk is chosen.client.sdk)
    return next((each for each in same_sdk if each.client.flavour == flavour), chosen)


def _wire(chosen: Profile, named: str | None) -> WireName:
    if named is None:
        return chosen.default_wire
    found = next((each for each in chosen.wires if each == named), None)
    if found is None:
        has = ", ".join(each.value for each in chosen.wires)
        raise InputError(f"{chosen.title} has no wire {named!r}.", hint=f"It has {has}.")
    return found
