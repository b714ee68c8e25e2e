"""Sending for the length of one emission: the caller's client, or one that is made and closed here."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.client import check, make

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from emitter.profile import Profile


@contextmanager
def session(profile: Profile, client: object, base_url: str | None) -> Generator[object]:
    """Yield the client to send through."""
    used = client or make(profile, asynchronous=False, base_url=base_url)
    check(used, profile, asynchronous=False)
    try:
        yield used
    finally:
        if client is None:
            cast("Any", used).close()


@asynccontextmanager
async def asession(profile: Profile, client: object, base_url: str | None) -> AsyncGenerator[object]:
    """Yield the client to send through, or the asynchronous half of it."""
    made = client or make(profile, asynchronous=True, base_url=base_url)
    used = getattr(made, "aio", made)
    check(used, profile, asynchronous=True)
    try:
        yield used
    finally:
        if client is None:
            await _aclose(used)


async def _aclose(client: object) -> None:
    closing = getattr(client, "aclose", None) or cast("Any", client).close
    await closing()
