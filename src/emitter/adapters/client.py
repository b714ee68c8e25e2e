"""Making a vendor's client from its usual environment variables, when the caller brings none."""

from __future__ import annotations

import importlib
import inspect
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from emitter.adapters.credentials import of_client
from emitter.errors import InputError, MissingExtra, MissingKey
from emitter.profile.model import Sdk

if TYPE_CHECKING:
    from types import ModuleType

    from emitter.profile.model import Client, Profile

_MODULES = {Sdk.OPENAI: "openai", Sdk.ANTHROPIC: "anthropic", Sdk.GOOGLE: "google.genai"}
_NO_KEY = "no-key"


def make(
    profile: Profile,
    *,
    asynchronous: bool,
    base_url: str | None = None,
    api_key: str | None = None,
    http_client: object = None,
) -> object:
    """Return a client of the profile's SDK.

    ``base_url`` and ``api_key`` beat the environment and the profile. ``http_client`` is an ``httpx2``
    client to send through, of the matching kind. Raises ``MissingExtra`` or ``MissingKey``.
    """
    facts = profile.client
    sdk = _load(facts.sdk)
    key = api_key or _key(profile)
    url = _base_url(profile, base_url)
    if facts.sdk is Sdk.GOOGLE:
        return _google(sdk, key, url, http_client, asynchronous=asynchronous)
    arguments: dict[str, Any] = {"api_key": key, "max_retries": 0}
    if url is not None:
        arguments["azure_endpoint" if facts.flavour.startswith("Azure") else "base_url"] = url
    if http_client is not None:
        arguments["http_client"] = http_client
    return _flavour(sdk, facts, asynchronous=asynchronous)(**arguments, **_version(facts))


def reachable(profile: Profile) -> None:
    """Raise what ``make`` would, were a client made from the environment now; none is."""
    if not _is_installed(_MODULES[profile.client.sdk]):
        raise _missing(profile.client.sdk)
    _key(profile)
    _base_url(profile, None)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # its parent is not there, or it was taken out of the interpreter
        return False


def check(client: object, profile: Profile, model: str, *, asynchronous: bool) -> None:
    """Raise ``InputError`` for a client that cannot send to the profile's vendor, or not in this way, or not any more.

    A client is known by what it can do, so that a wrapper around one will do too.
    """
    instead = f"Pass client={_example(profile, asynchronous=asynchronous)}, or leave it out."
    if isinstance(client, type):
        raise InputError(f"client= is the class {_named(client)}, not a client.", hint=instead)
    sdk, named = profile.client.sdk, _named(type(client))
    send = _sends(client, sdk)
    if send is None:
        needs = f"{f'{profile.name}/{model}' if model else profile.title} needs {_a(_TITLES[sdk])} client"
        raise InputError(f"{needs}, but client= is {_a(named)}.", hint=instead)
    if inspect.iscoroutinefunction(send) and not asynchronous:
        hint = f"{instead.removesuffix('.')}; or call the async function, such as aemit."
        raise InputError(f"client= is {_a(named)}, which is async, and this call is not.", hint=hint)
    if asynchronous and not inspect.iscoroutinefunction(send):
        hint = f"{instead.removesuffix('.')}; or call the function that blocks, such as emit."
        raise InputError(f"client= is {_a(named)}, which blocks, and this call needs an async one.", hint=hint)
    if _is_closed(client, asynchronous=asynchronous):
        raise InputError("client= is closed.", hint="Pass an open one, or leave it out.")


_TITLES = {Sdk.OPENAI: "OpenAI", Sdk.ANTHROPIC: "Anthropic", Sdk.GOOGLE: "Google"}
_MARKS = {Sdk.OPENAI: "chat", Sdk.ANTHROPIC: "messages"}
"""What the clients of one SDK have that those of the other do not; ``post`` is what both send through."""


def _sends(client: object, sdk: Sdk) -> object:
    """Return the method by which a client of ``sdk`` sends; None where it has none."""
    raw: Any = client
    if sdk is Sdk.GOOGLE:
        send = getattr(getattr(raw, "models", None), "generate_content", None)
    else:
        send = getattr(raw, "post", None) if _has(client, _MARKS[sdk]) else None
    return send if callable(send) else None


def _has(client: object, name: str) -> bool:
    """Tell whether a client has an attribute; those of OpenAI's take a while to make, so they are not asked for."""
    return inspect.getattr_static(client, name, None) is not None or hasattr(client, name)


def _is_closed(client: object, *, asynchronous: bool) -> bool:
    """Tell whether a client was closed; Google's does not say it, but its HTTP client does."""
    raw: Any = client
    within = getattr(raw, "_api_client", None)
    http = getattr(within, "_async_httpx_client" if asynchronous else "_httpx_client", None)
    closed = getattr(raw if http is None else http, "is_closed", False)
    return (closed() if callable(closed) else closed) is True


def _example(profile: Profile, *, asynchronous: bool) -> str:
    """Return a client that would do, as one writes it."""
    facts = profile.client
    if facts.sdk is Sdk.GOOGLE:
        return "google.genai.Client()"
    theirs = None if profile.name == facts.sdk.value else facts.base_url
    address = f'"{theirs}"' if theirs else "..." if facts.base_url_required else ""
    at = f"{'azure_endpoint' if facts.flavour.startswith('Azure') else 'base_url'}={address}" if address else ""
    return f"{_MODULES[facts.sdk]}.{'Async' if asynchronous else ''}{facts.flavour}({at})"


def _named(kind: type) -> str:
    """Return a class as one writes it after importing its package."""
    module = "google.genai" if kind.__module__.startswith("google.genai") else kind.__module__.partition(".")[0]
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _load(sdk: Sdk) -> ModuleType:
    try:
        return importlib.import_module(_MODULES[sdk])
    except ImportError as error:
        raise _missing(sdk) from error


def _missing(sdk: Sdk) -> MissingExtra:
    return MissingExtra(f"The {sdk.value} SDK is not installed.", hint=f"Run: pip install 'emitter[{sdk.value}]'")


def _flavour(sdk: ModuleType, facts: Client, *, asynchronous: bool) -> Any:
    return getattr(sdk, f"{'Async' if asynchronous else ''}{facts.flavour}")


def _version(facts: Client) -> dict[str, str]:
    """Return the API version that Azure's client insists on; its own variable wins."""
    if not facts.flavour.startswith("Azure") or os.environ.get("OPENAI_API_VERSION"):
        return {}
    return {"api_version": facts.api_version} if facts.api_version else {}


def keys_of(profile: Profile, client: object) -> tuple[str, ...]:
    """Return the credentials that requests to the vendor may be sent with, so far as the client itself holds them."""
    named = (os.environ.get(name, "").strip() for name in profile.client.key_env)
    return tuple(dict.fromkeys(each for each in (*named, *of_client(client)) if each))


def _key(profile: Profile) -> str:
    facts = profile.client
    found = next((key for name in facts.key_env if (key := os.environ.get(name, "").strip())), None)
    if found is None and facts.key_required:
        names = " or ".join(facts.key_env)
        raise MissingKey(
            f"No key for {profile.title} was found.", hint=f"Set {names}, or pass a client of your own in Python."
        )
    return found or _NO_KEY


def _base_url(profile: Profile, given: str | None) -> str | None:
    facts = profile.client
    named = os.environ.get(facts.base_url_env) if facts.base_url_env else None
    url = given or named or facts.base_url
    if url is None and facts.base_url_required:
        where = f"set {facts.base_url_env}" if facts.base_url_env else "pass base_url="
        raise MissingKey(f"{profile.title} needs a base URL.", hint=f"Pass base_url= or client=, or {where}.")
    return url


def _google(sdk: ModuleType, key: str, url: str | None, http_client: object, *, asynchronous: bool) -> object:
    options: dict[str, Any] = {"retry_options": {"attempts": 1}}
    if url is not None:
        options["base_url"] = url
    if http_client is not None:
        options["httpx_async_client" if asynchronous else "httpx_client"] = http_client
    return sdk.Client(api_key=key, vertexai=False, http_options=options)
