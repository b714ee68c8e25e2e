"""Sending for the length of one emission: the caller's client, or one that is made and closed here."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.client import check, make

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from emitter.profile import Profile


@contextmanager
def session(profile: Profile, client: object, base_url: str | None, model: str = "") -> Generator[object]:
    """Yield the client to send through; raises ``InputError`` for one of the caller's that cannot send to ``model``."""
    used = make(profile, asynchronous=False, base_url=base_url) if client is None else client
    fitting(client, profile, model, asynchronous=False)
    try:
        yield used
    finally:
        if client is None:
            cast("Any", used).close()


@asynccontextmanager
async def asession(profile: Profile, client: object, base_url: str | None, model: str = "") -> AsyncGenerator[object]:
    """Yield the client to send through, or the asynchronous half of it."""
    made = make(profile, asynchronous=True, base_url=base_url) if client is None else client
    used = getattr(made, "aio", made)
    fitting(client, profile, model, asynchronous=True)
    try:
        yield used
    finally:
        if client is None:
            await _aclose(used)


def fitting(client: object, profile: Profile, model: str, *, asynchronous: bool) -> None:
    """Raise ``InputError`` for a client of the caller's that cannot send to ``model``."""
    if client is not None:
        used = getattr(client, "aio", client) if asynchronous else client
        check(used, profile, model, asynchronous=asynchronous)


async def _aclose(client: object) -> None:
    closing = getattr(client, "aclose", None) or cast("Any", client).close
    await closing()
