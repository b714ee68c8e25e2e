"""Keeping credentials out of a cassette: which part of a request carries them, and striking them out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from emitter.cassette.file import Interaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

STRUCK = "[REDACTED:credential]"
CREDENTIAL_QUERY = frozenset({"key", "api_key", "api-key", "access_token", "token"})
_CREDENTIAL_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization")
_SHORTEST_CREDENTIAL = 6


def credentials(request: httpx2.Request) -> Iterator[str]:
    """Yield the credentials that a request carries, longest first, bare and with their scheme."""
    found: set[str] = set()
    for name in _CREDENTIAL_HEADERS:
        for value in request.headers.get_list(name):
            found.update({value, value.partition(" ")[2]})
    found.update(value for name, value in request.url.params.multi_items() if name.lower() in CREDENTIAL_QUERY)
    yield from sorted((each for each in found if len(each) >= _SHORTEST_CREDENTIAL), key=len, reverse=True)


def strike(interaction: Interaction, found: tuple[str, ...]) -> Interaction:
    """Return the interaction with every credential in ``found`` struck out, wherever it stands."""
    if not found:
        return interaction
    escaped = (json.dumps(each, ensure_ascii=False)[1:-1] for each in found)
    pattern = re.compile("|".join(re.escape(each) for each in escaped))
    text = json.dumps(interaction.model_dump(mode="json"), ensure_ascii=False)
    return Interaction.model_validate_json(pattern.sub(STRUCK, text))
