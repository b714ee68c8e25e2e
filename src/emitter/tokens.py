"""Count tokens: exactly where the vendor's rank file is at hand, else by an estimate that is never too low.

Nothing is ever downloaded and no file is ever removed. tiktoken's own loader would do both, without a time
limit, so only its encoder is used here, on ranks that were read and verified first.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from emitter.budget.estimate import most
from emitter.wire import OutputMode

if TYPE_CHECKING:
    from collections.abc import Callable

    import tiktoken

    from emitter.wire import Request

_PIECE = 1 << 16
_AROUND_MESSAGE = 4
_AROUND_REQUEST = 3
_SENDS_SCHEMA = frozenset({OutputMode.JSON_SCHEMA, OutputMode.TOOL})


@dataclass(frozen=True, slots=True)
class _Ranks:
    """A published rank file; ``pattern`` splits text before the merges."""

    url: str
    size: int
    sha256: str
    pattern: str


# tiktoken 0.14.0, tiktoken_ext/openai_public.py
_ENCODINGS = {
    "o200k_base": _Ranks(
        url="https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        size=3_613_922,
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern=(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
    ),
    "cl100k_base": _Ranks(
        url="https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        size=1_681_126,
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
    ),
}
_loaded: dict[str, tiktoken.Encoding | None] = {}
_lock = Lock()


def count(text: str, encoding: str | None) -> int:
    """Return the tokens of ``text``: exact where ``encoding`` is at hand, else a number not below the true one.

    The first exact count of a process loads the ranks (0.3 s, 80 MiB); see ``counter`` for a way without.
    """
    return counter(encoding)(text)


def counter(encoding: str | None, *, load: bool = True) -> Callable[[str], int]:
    """Return what counts the tokens of a text in ``encoding``; None stands for a tokenizer nobody can have here.

    With ``load`` false an encoding is used only where this process has it already: a caller that may not wait
    gets the estimate at once.
    """
    found = _encoding(encoding, load=load) if encoding in _ENCODINGS else None
    return most if found is None else lambda text: _exact(found, text)


def at_hand(encoding: str | None, *, load: bool = True) -> bool:
    """Tell whether ``counter`` would count exactly."""
    return encoding in _ENCODINGS and _encoding(encoding, load=load) is not None


def of_request(request: Request, encoding: str | None) -> int:
    """Return the tokens that ``request`` puts in: system, turns and the schema that is sent, with what frames them.

    The frame is what OpenAI publishes for its chat models; what a vendor adds of its own besides is not known.
    """
    turns = request.turns()
    framed = _AROUND_MESSAGE * (len(turns) + 1) + _AROUND_REQUEST
    return sum(map(counter(encoding), texts(request))) + framed


def texts(request: Request, schema: str | None = None) -> tuple[str, ...]:
    """Return the texts of which the input of ``request`` is made; ``schema`` is its schema where known as text.

    A schema that stands in the prompt is a part of the prompt.
    """
    said = (request.system, *(each.text for each in request.turns()))
    if request.output.mode not in _SENDS_SCHEMA:
        return said
    return (*said, json.dumps(request.output.schema, ensure_ascii=False) if schema is None else schema)


def _exact(encoding: tiktoken.Encoding, text: str) -> int:
    return sum(len(encoding.encode_ordinary(text[start : start + _PIECE])) for start in range(0, len(text), _PIECE))


def _encoding(name: str, *, load: bool) -> tiktoken.Encoding | None:
    if name in _loaded or not load:
        return _loaded.get(name)
    with _lock:
        if name not in _loaded:
            _loaded[name] = _load(name, _ENCODINGS[name])
        return _loaded[name]


def _load(name: str, ranks: _Ranks) -> tiktoken.Encoding | None:
    """Return the encoding, or None where its file is not at hand or not the published one."""
    content = _content(ranks)
    if content is None:
        return None
    import tiktoken  # noqa: PLC0415 - 20 ms that only an exact count is worth

    merges = {
        base64.b64decode(token): int(rank) for token, _, rank in (line.partition(b" ") for line in content.splitlines())
    }
    return tiktoken.Encoding(name, pat_str=ranks.pattern, mergeable_ranks=merges, special_tokens={})


def _content(ranks: _Ranks) -> bytes | None:
    path = _cached(ranks.url)
    try:
        if path is None or path.stat().st_size != ranks.size:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == ranks.sha256 else None


def _cached(url: str) -> Path | None:
    """Return where tiktoken keeps the file of ``url``; an empty variable switches its cache off."""
    place = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if place == "":
        return None
    name = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    return Path(place or Path(tempfile.gettempdir()) / "data-gym-cache") / name
