"""The vendors' prompt caches, simulated by their published rules.

A request is split into blocks in the order in which the vendor reads it: tools and schema, system prompt, messages. At
a vendor with marks, only a prefix that ends at a mark is written and read. At the others, the longest prefix that two
prompts share is read. Vendors do not promise a hit; the simulation gives every hit that the rules allow.

The rules are independent of ``providers/*.toml``, so that each can be tested against the other.
"""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from emitter.messages import HOUR, as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import ErrorKind, PlannedError, count_tokens
from emitter.testing.wires.common import CACHE_MARKS, TOKENS_PER_MESSAGE, count_text_tokens, dump_compact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.messages import Json, Usage
    from emitter.testing.plans import ReceivedRequest

_MAX_MARKS = 4
_LOOKBACK = 20
"""The number of blocks before a mark at which Anthropic looks for an entry."""
_SECONDS = {"5m": 300.0, "1h": 3_600.0, "30m": 1_800.0, "12h": 43_200.0, "24h": 86_400.0, "in_memory": 300.0}


class CachedTokens(NamedTuple):
    """The input tokens of a request that were read from the cache and written to it."""

    read: int = 0
    written: int = 0
    written_1h: int = 0

    def add_to(self, usage: Usage) -> Usage:
        """Return the usage with these tokens, which are part of its input."""
        return replace(usage, cache_read=self.read, cache_write=self.written, cache_write_1h=self.written_1h)


NOTHING_CACHED = CachedTokens()


class _Block(NamedTuple):
    """A part of a prompt. ``mark`` is the lifetime of the prefix that ends with it, if it is marked.

    Schemas come first and have no ``tokens``: the length of a prefix is computed backwards, as the tokens of the
    request without the tokens of the blocks after it.
    """

    text: str
    tokens: int
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules by which a vendor caches the prompts of some models.

    Attributes:
        minimum: The tokens of the shortest prefix that is cached.
        lifetime: The default lifetime.
        is_marked: Only a prefix that ends at a mark is cached.
        marks_last: The vendor itself marks the end of the last message.
        unit: Tokens are read in multiples of this beyond the minimum.
    """

    minimum: int
    lifetime: str
    is_marked: bool = True
    marks_last: bool = False
    unit: int = 1


_CLAUDE_MINIMUMS = (
    (re.compile(r"claude-(opus-5|fable|mythos)"), 512),
    (re.compile(r"claude-(opus-4-[567]|haiku-4-5)"), 4_096),
    (re.compile(r"claude-3(-5)?-haiku"), 2_048),
)
_GPT_WITH_MARKS = re.compile(r"gpt-(5\.[6-9]|[6-9])")
_GEMINI_MINIMUMS = ((re.compile(r"gemini-2\.5"), 2_048), (re.compile(r"gemini-[3-9]"), 4_096))


def _find_minimum(table: tuple[tuple[re.Pattern[str], int], ...], model: str, default: int = 0) -> int:
    return next((minimum for pattern, minimum in table if pattern.search(model)), default)


def find_rules(request: ReceivedRequest) -> _Rules | None:
    """Return the rules of a model, or None if its prompts are not cached."""
    model = request.model
    match request.wire:
        case WireFormat.ANTHROPIC:
            return _Rules(_find_minimum(_CLAUDE_MINIMUMS, model, 1_024), "5m")
        case WireFormat.BEDROCK_CONVERSE if "claude" in model:
            return _Rules(_find_minimum(_CLAUDE_MINIMUMS, model, 1_024), "5m")
        case WireFormat.BEDROCK_CONVERSE:
            return _Rules(1_000, "5m") if "amazon.nova" in model else None
        case WireFormat.GOOGLE | WireFormat.GEMINI_INTERACTIONS:
            minimum = _find_minimum(_GEMINI_MINIMUMS, model)
            return _Rules(minimum, "5m", is_marked=False) if minimum else None
        case WireFormat.OPENAI_RESPONSES | WireFormat.OPENAI_CHAT:
            options = as_mapping(request.body.get("prompt_cache_options"))
            if _GPT_WITH_MARKS.match(model):
                return _Rules(1_024, options.get("ttl", "30m"), marks_last=options.get("mode") != "explicit")
            lifetime = request.body.get("prompt_cache_retention") or "in_memory"
            return _Rules(1_024, lifetime, is_marked=False, unit=128)


def _iter_blocks(request: ReceivedRequest, rules: _Rules) -> Iterator[_Block]:
    """Yield the blocks of a prompt in the vendor's order."""
    body = request.body
    for key in ("tools", "toolConfig", "text", "response_format", "output_config", "outputConfig"):
        yield from _block_of(body.get(key), rules, 0)
    config = as_mapping(body.get("generationConfig"))
    yield from _block_of(config.get("responseJsonSchema", config.get("responseSchema")), rules, 0)
    for key in ("system", "instructions", "systemInstruction", "system_instruction"):
        for part in _parts(body.get(key)):
            yield from _block_of(part, rules)
    for key in ("messages", "input", "contents"):
        for message in _parts(body.get(key)):
            members = as_mapping(message)
            *others, last = _parts(members.get("content", members.get("parts")) if members else message) or [""]
            for part in others:
                yield from _block_of(part, rules)
            yield from _block_of(last, rules, count_text_tokens(last) + TOKENS_PER_MESSAGE)


def _parts(value: Json) -> list[Json]:
    return as_list(value) if isinstance(value, list) else [] if value is None else [value]


def _block_of(part: Json, rules: _Rules, tokens: int | None = None) -> Iterator[_Block]:
    """Yield the block of a part, if there is one. At Converse, a mark is a separate part without tokens."""
    if part is None:
        return
    members = as_mapping(part)
    marks = [as_mapping(members[name]) for name in CACHE_MARKS if name in members]
    mark = str(marks[0].get("ttl", rules.lifetime)) if marks else None
    plain: Json = {key: value for key, value in members.items() if key not in CACHE_MARKS} if members else part
    yield _Block(dump_compact(plain), count_text_tokens(plain) if tokens is None else tokens, mark)


def _prefix_lengths(request: ReceivedRequest, blocks: list[_Block]) -> list[int]:
    """Return the tokens of the prefix that ends with each block."""
    tokens_after = accumulate((block.tokens for block in reversed(blocks[1:])), initial=0)
    return [request.input_tokens - tokens for tokens in tokens_after][::-1]


@dataclass(slots=True)
class PromptCaches:
    """The prompt caches of all simulated vendors: ``simulator(prompt_caches=PromptCaches())``.

    Attributes:
        clock: Returns the time in seconds. An entry is forgotten at the end of its lifetime, which every hit renews.
    """

    clock: Callable[[], float] = time.monotonic
    _entries: dict[str, _Entry] = field(default_factory=dict[str, "_Entry"], repr=False)

    def find_error(self, request: ReceivedRequest) -> PlannedError | None:
        """Return the vendor's error for a request with too many marks."""
        rules = find_rules(request)
        if rules is None or request.wire not in (WireFormat.ANTHROPIC, WireFormat.BEDROCK_CONVERSE):
            return None
        marks = sum(block.mark is not None for block in _iter_blocks(request, rules))
        message = f"A maximum of {_MAX_MARKS} blocks with cache_control may be provided. Found {marks}."
        return PlannedError(ErrorKind.BAD_REQUEST, message) if marks > _MAX_MARKS else None

    def serve(self, request: ReceivedRequest) -> CachedTokens:
        """Return what a request reads and writes, and remember what it wrote."""
        rules = find_rules(request)
        blocks = [] if rules is None else list(_iter_blocks(request, rules))
        if rules is None or not blocks:
            return CachedTokens()
        now = self.clock()
        self._entries = {key: entry for key, entry in self._entries.items() if entry.expires > now}
        if not rules.is_marked:
            return self._serve_shared(request, blocks, rules)
        if rules.marks_last:
            blocks[-1] = blocks[-1]._replace(mark=blocks[-1].mark or rules.lifetime)
        return self._serve_marked(request, blocks, rules)

    def _serve_marked(self, request: ReceivedRequest, blocks: list[_Block], rules: _Rules) -> CachedTokens:
        """Read the longest prefix that was written before, and write the prefix that ends at each later mark."""
        keys = _prefix_keys(request, blocks)
        lengths = _prefix_lengths(request, blocks)
        marks = [index for index, block in enumerate(blocks) if block.mark is not None][-_MAX_MARKS:]
        marks = [index for index in marks if lengths[index] >= rules.minimum]
        # Entries are looked up at the marks and at the blocks before them, so that a conversation that grew by a few
        # messages still hits the prefix that its last request wrote.
        lookback = _LOOKBACK if request.wire is WireFormat.ANTHROPIC else len(blocks)
        looked_up = {index for mark in marks for index in range(max(0, mark - lookback), mark + 1)}
        hit = max((index for index in looked_up if keys[index] in self._entries), default=None)
        read = 0
        if hit is not None:
            read = lengths[hit]
            self._remember(keys[hit], self._entries[keys[hit]].lifetime)  # a hit renews the lifetime
        written = dict.fromkeys(_SECONDS, 0)
        cached = read
        for index in marks:
            lifetime = blocks[index].mark or rules.lifetime
            self._remember(keys[index], lifetime)
            written[lifetime] += max(lengths[index] - cached, 0)
            cached = max(cached, lengths[index])
        return CachedTokens(read, sum(written.values()), written[HOUR])

    def _serve_shared(self, request: ReceivedRequest, blocks: list[_Block], rules: _Rules) -> CachedTokens:
        """Read the longest prefix that the prompt shares with an earlier one. Writing is not reported."""
        head = f"{request.wire.value} {request.model}\n"
        text = head + "\n".join(block.text for block in blocks)
        shared = max((_count_shared(text, entry.text) for entry in self._entries.values()), default=0)
        self._remember(hashlib.sha256(text.encode()).hexdigest(), rules.lifetime, text)
        read, start = 0, len(head)
        for block, length in zip(blocks, _prefix_lengths(request, blocks), strict=True):
            if shared < start + len(block.text):  # the prompts differ within this block
                read += min(count_tokens(block.text[: max(0, shared - start)]), max(0, block.tokens - 1))
                break
            read, start = length, start + len(block.text) + 1
        return CachedTokens(0 if read < rules.minimum else read - (read - rules.minimum) % rules.unit)

    def _remember(self, key: str, lifetime: str, text: str = "") -> None:
        self._entries[key] = _Entry(self.clock() + _SECONDS[lifetime], lifetime, text)


def _count_shared(text: str, other: str) -> int:
    """Return the characters that two texts have in common at their beginning."""
    return next((index for index, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), len(text))


class _Entry(NamedTuple):
    """A prefix in a cache. ``text`` is the whole prompt at a vendor without marks."""

    expires: float
    lifetime: str
    text: str


def _prefix_keys(request: ReceivedRequest, blocks: list[_Block]) -> list[str]:
    """Return a digest of the prefix that ends with each block. A cache belongs to one model."""
    digest = hashlib.sha256(f"{request.wire.value} {request.model}".encode())
    keys: list[str] = []
    for block in blocks:
        digest.update(f"\n{block.text}".encode(errors="surrogatepass"))
        keys.append(digest.hexdigest())
    return keys
