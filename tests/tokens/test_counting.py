"""Exact counts where the ranks are at hand, and nothing fetched or removed where they are not."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emitter import tokens
from emitter.budget import estimate_max_tokens
from emitter.messages import Message, ModelRequest, OutputFormat, OutputMode, Role
from tests.tokens.samples import COUNTED, ENCODINGS, at_hand

if TYPE_CHECKING:
    from collections.abc import Iterator

O200K = "fb374d419588a4632f3f557e76b4b70aebbca790"
TEXT = "Zahle 12345 Euro, 人工智能!"


@pytest.fixture
def afresh() -> Iterator[None]:
    """Forget what this process has loaded, and remember it again afterwards."""
    kept = dict(tokens._encoding_cache)
    tokens._encoding_cache.clear()
    yield
    tokens._encoding_cache.clear()
    tokens._encoding_cache.update(kept)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return every socket that was asked for; a proxy that swallows everything is set."""
    asked: list[object] = []

    class Refused(socket.socket):
        def __init__(self, *arguments: object, **_: object) -> None:
            asked.append(arguments)
            raise OSError

    monkeypatch.setattr(socket, "socket", Refused)
    monkeypatch.setattr(socket, "getaddrinfo", Refused)
    monkeypatch.setenv("HTTPS_PROXY", "http://10.255.255.1:9")
    return asked


@pytest.mark.parametrize(("text", "o200k", "cl100k"), COUNTED)
def test_a_count_is_exact_where_the_ranks_are_at_hand(text: str, o200k: int, cl100k: int) -> None:
    """The counts are those of the vendor's own encoder."""
    at_hand("o200k_base")
    at_hand("cl100k_base")
    assert [tokens.count_tokens(text, each) for each in ENCODINGS] == [o200k, cl100k]


@pytest.mark.parametrize("text", ["a" * 300_000, " " * 300_000, "中" * 150_000], ids=["letters", "blanks", "Han"])
def test_a_long_run_is_counted(text: str) -> None:
    """What a regular expression may stumble over is counted in pieces, each cut costing a token at most."""
    at_hand("o200k_base")
    assert 0 < tokens.count_tokens(text, "o200k_base") <= estimate_max_tokens(text)


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("content", [b"", b"x" * 100, b"x" * 3_613_922], ids=["empty", "short", "of the right size"])
def test_a_wrong_file_is_neither_used_nor_removed(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: list[object]
) -> None:
    """A file that is not the published one leaves the estimate, and stays as it is."""
    file = tmp_path / O200K
    file.write_bytes(content)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tokens.count_tokens(TEXT, "o200k_base") == estimate_max_tokens(TEXT)
    assert file.read_bytes() == content
    assert not offline


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize(
    ("variable", "place"),
    [("TIKTOKEN_CACHE_DIR", "nowhere"), ("DATA_GYM_CACHE_DIR", "nowhere"), ("TIKTOKEN_CACHE_DIR", "")],
    ids=["no such folder", "no such folder by the older name", "switched off"],
)
def test_without_a_file_nothing_is_fetched(
    variable: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: list[object]
) -> None:
    """No socket is opened: the estimate is given at once, and nothing is written."""
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / place) if place else "")
    assert not tokens.has_exact_counter("o200k_base")
    assert tokens.count_tokens(TEXT, "o200k_base") == estimate_max_tokens(TEXT)
    assert not offline
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("afresh")
def test_what_was_not_found_is_not_looked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure is remembered for the process, as a success is."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "nowhere"))
    assert not tokens.has_exact_counter("o200k_base")
    assert tokens._encoding_cache == {"o200k_base": None}
    assert not tokens.has_exact_counter("o200k_base")


@pytest.mark.usefixtures("afresh")
def test_threads_share_one_encoding() -> None:
    """The ranks are loaded once, however many ask for them first."""
    at_hand("o200k_base")
    tokens._encoding_cache.clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: tokens._find_encoding("o200k_base", load=True), range(8)))
    assert len({id(each) for each in found}) == 1


@pytest.mark.usefixtures("afresh")
def test_a_caller_that_may_not_wait_gets_the_estimate() -> None:
    """With ``load`` false nothing is read, and nothing is remembered as missing."""
    assert tokens.make_token_counter("o200k_base", load=False)(TEXT) == estimate_max_tokens(TEXT)
    assert not tokens.has_exact_counter("o200k_base", load=False)
    assert not tokens._encoding_cache


@pytest.mark.parametrize("encoding", [None, "", "p50k_base", "claude"])
def test_an_encoding_that_is_not_known_is_estimated(encoding: str | None) -> None:
    """A tokenizer that nobody publishes has the safe estimate."""
    assert tokens.count_tokens(TEXT, encoding) == estimate_max_tokens(TEXT)
    assert not tokens.has_exact_counter(encoding)


def test_the_table_of_rank_files_is_tiktokens_own() -> None:
    """Address, digest and pattern are those of the installed package."""
    spec = find_spec("tiktoken_ext.openai_public")
    assert spec is not None
    assert spec.origin is not None
    published = Path(spec.origin).read_text("utf-8")
    for name, ranks in tokens._ENCODINGS.items():
        _, _, rest = published.partition(f"def {name}()")
        own = rest.partition("\ndef ")[0]
        assert ranks.url in own
        assert ranks.sha256 in own
        assert "|".join(re.findall(r'r"""(.*?)"""', own)) == ranks.pattern


def test_importing_the_counter_loads_no_tokenizer() -> None:
    """The library and its counter can be imported without tiktoken."""
    code = "import sys, emitter.tokens, emitter.client.documents; assert 'tiktoken' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}}


@pytest.mark.parametrize(
    ("mode", "texts"),
    [
        (
            OutputMode.JSON_SCHEMA,
            ["Decide.", "Now?", "Again.", '{"type": "object", "properties": {"ok": {"type": "boolean"}}}'],
        ),
        (OutputMode.TEXT, ["Decide.", "Now?", "Again."]),
    ],
)
def test_a_request_is_counted_with_all_that_it_sends(mode: OutputMode, texts: list[str]) -> None:
    """System, turns, correction and a schema that is sent beside the prompt all count."""
    said = (Message(Role.USER, "Now?"),)
    request = ModelRequest(
        "m", "Decide.", said, OutputFormat("d", SCHEMA, mode), max_output_tokens=9, correction="Again."
    )
    assert (
        sum(map(estimate_max_tokens, texts))
        < tokens.count_request_tokens(request, None)
        <= sum(map(estimate_max_tokens, texts)) + 20
    )
