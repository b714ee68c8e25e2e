"""Addresses on the web, as far as they may be written into a payload or a schema."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from emitter.errors import InputError

_SCHEMES = frozenset({"http", "https"})
_WANTED = "Give one such as https://host.example, without credentials, query and fragment."


def on_the_web(url: str) -> bool:
    """Tell whether an address, which must be a URI, is http or https, has a host, and carries no credentials."""
    return _split(url) is not None


def based(base_url: object) -> str:
    """Return a host's base address without its last slash; raises ``InputError`` for what is none."""
    plain = isinstance(base_url, str) and base_url.isascii() and base_url.isprintable() and " " not in base_url
    parts = _split(base_url) if isinstance(base_url, str) and plain else None
    if parts is None or parts.query or parts.fragment:
        raise InputError("base_url is no http or https address of a host.", hint=_WANTED)
    return parts.geturl().rstrip("/")


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        named = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if named and "@" not in parts.netloc else None
