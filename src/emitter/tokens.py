"""Count tokens.

The count is exact if tiktoken is installed and its cache has the encoding's rank file. Otherwise it is an upper bound.
Nothing is downloaded and no file is removed: tiktoken's own loader could do both, so only its encoder is used.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from emitter.budget import estimate_max_tokens
from emitter.messages import OutputMode

if TYPE_CHECKING:
    from collections.abc import Callable

    import tiktoken

    from emitter.messages import ModelRequest

_CHUNK_SIZE = 1 << 16
_TOKENS_PER_MESSAGE = 4
_TOKENS_PER_REQUEST = 3
_MODES_WITH_SCHEMA = frozenset({OutputMode.JSON_SCHEMA, OutputMode.TOOL})


@dataclass(frozen=True, slots=True)
class _RankFile:
    """A published rank file. ``pattern`` splits the text before merging."""

    url: str
    size: int
    sha256: str
    pattern: str


# tiktoken 0.14.0, tiktoken_ext/openai_public.py
_ENCODINGS = {
    "o200k_base": _RankFile(
        url="https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        size=3_613_922,
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern=(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
    ),
    "cl100k_base": _RankFile(
        url="https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        size=1_681_126,
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
    ),
}
_encoding_cache: dict[str, tiktoken.Encoding | None] = {}
_encoding_lock = Lock()


def count_tokens(text: str, encoding: str | None) -> int:
    """Return the number of tokens in ``text``: exact if ``encoding`` is available, otherwise an upper bound.

    The first exact count in a process loads the ranks (0.3 s, 80 MiB). ``make_token_counter`` can avoid that.
    """
    return make_token_counter(encoding)(text)


def make_token_counter(encoding: str | None, *, load: bool = True) -> Callable[[str], int]:
    """Return a function that counts tokens in ``encoding``. None stands for an unpublished tokenizer.

    If ``load`` is false, an encoding is used only if this process has loaded it before.
    """
    available = _find_encoding(encoding, load=load) if encoding in _ENCODINGS else None
    return estimate_max_tokens if available is None else lambda text: _count_exactly(available, text)


def has_exact_counter(encoding: str | None, *, load: bool = True) -> bool:
    """Return whether ``make_token_counter`` would count exactly."""
    return encoding in _ENCODINGS and _find_encoding(encoding, load=load) is not None


def count_request_tokens(request: ModelRequest, encoding: str | None) -> int:
    """Return the input tokens of system prompt, messages and schema, with OpenAI's published overhead per message."""
    overhead = _TOKENS_PER_MESSAGE * (len(request.all_messages()) + 1) + _TOKENS_PER_REQUEST
    return sum(map(make_token_counter(encoding), request_texts(request))) + overhead


_TEXT = attrgetter("text")


def request_texts(request: ModelRequest, schema: str | None = None) -> tuple[str, ...]:
    """Return the texts of the request's input. ``schema`` is the schema as text, if it is known already."""
    texts = (request.system, *map(_TEXT, request.all_messages()))
    if request.output.mode not in _MODES_WITH_SCHEMA:
        return texts
    return (*texts, json.dumps(request.output.schema, ensure_ascii=False) if schema is None else schema)


def _count_exactly(encoding: tiktoken.Encoding, text: str) -> int:
    # tiktoken takes quadratic time for some long texts. Cutting them may add a token at each cut.
    return sum(
        len(encoding.encode_ordinary(text[start : start + _CHUNK_SIZE])) for start in range(0, len(text), _CHUNK_SIZE)
    )


def _find_encoding(name: str, *, load: bool) -> tiktoken.Encoding | None:
    if name in _encoding_cache or not load:
        return _encoding_cache.get(name)
    with _encoding_lock:
        if name not in _encoding_cache:
            _encoding_cache[name] = _load_encoding(name, _ENCODINGS[name])
        return _encoding_cache[name]


def _load_encoding(name: str, rank_file: _RankFile) -> tiktoken.Encoding | None:
    """Return the encoding, or None if tiktoken or its file is missing, or the file is not the published one."""
    content = _read_rank_file(rank_file)
    if content is None:
        return None
    try:
        import tiktoken  # noqa: PLC0415  an extra, and 20 ms that only an exact count is worth
    except ImportError:
        return None
    merges = {
        base64.b64decode(token): int(rank) for token, _, rank in (line.partition(b" ") for line in content.splitlines())
    }
    return tiktoken.Encoding(name, pat_str=rank_file.pattern, mergeable_ranks=merges, special_tokens={})


def _read_rank_file(rank_file: _RankFile) -> bytes | None:
    path = _cache_path(rank_file.url)
    try:
        if path is None or path.stat().st_size != rank_file.size:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == rank_file.sha256 else None


def _cache_path(url: str) -> Path | None:
    """Return the path of tiktoken's cached file. An empty variable turns its cache off."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return None
    name = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    return Path(folder or Path(tempfile.gettempdir()) / "data-gym-cache") / name
