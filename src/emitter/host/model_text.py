"""Extract envelopes from a model's answer, and write the prompt for its next turn.

``extract_documents`` finds JSON documents in text: a single document, an array, or fenced code blocks.
``build_follow_up`` asks for a correction or gives a schema. ``render_for_model`` renders an envelope's payload,
fenced unless it is trusted.

Source: ai-envelope.md, "Wire serialization", "schema.request payload" and "Trust boundary".
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter import prompts as prompt
from emitter.host.outcomes import Gated, InvalidEnvelope, OutcomeCode
from emitter.host.pipeline import REPAIRABLE, counts_as_round
from emitter.messages import Trust, as_list
from emitter.recover import Recovered, RecoveryPath, parse_answer
from emitter.recover.lenient_parser import DOCUMENT_START
from emitter.strict_json import NotJsonError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.host.pipeline import Acceptance
    from emitter.messages import Json
    from emitter.models.envelope import AIEnvelope
    from emitter.prompts import PromptTemplates
    from emitter.recover import Ambiguous, Retracted

    RecoveryOutcome: TypeAlias = Recovered | Ambiguous | Retracted | None

MAX_DOCUMENTS: Final = 256
"""The most documents to take from one text: eight times the default limit of a turn."""
MAX_REPAIRS: Final = 8
"""The most broken blocks to read. A repair can take ten thousand times as long as reading valid JSON."""
_LANGUAGES = frozenset({"json", "jsonc", "json5"})
_LEADING_SPACE = re.compile(r"[\s\ufeff]*+")
_ARRAY_OPENING = re.compile(r"(?:\[\s*+)?+(?=\{)")
_ESCAPED_OBJECT = '{\\"'


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """One JSON document of a text, or one element of an array.

    ``path`` is None if the text looks like JSON but cannot be read: it is cut off, broken beyond repair, ambiguous, or
    exceeds a limit. Its ``value`` is None then, so that the host refuses it instead of overlooking it. ``byte_offset``
    is the start of the document, or of its array, in the UTF-8 bytes of the text.
    """

    value: Json
    path: RecoveryPath | None
    byte_offset: int


def extract_documents(text: str) -> tuple[ExtractedDocument, ...]:
    """Return the documents of ``text`` in their order. It never raises.

    - A text that is JSON is one document, or an array of them.
    - Otherwise its fenced blocks are the documents: ``json``, ``jsonc`` and ``json5`` blocks with any content, and
      blocks without a language if they are objects in strict JSON. A block without a closing fence is cut off.
    - A text without fences that starts like a document is read as leniently as an answer.
    - JSON within prose is prose. A document that appears twice is returned twice.
    - Words around a document cast no doubt on it, because nobody can be asked for the document alone, as an emission
      asks its model. A document without a fence is unreadable if the words take it back. Prose around fenced blocks is
      not read at all.

    At most ``MAX_DOCUMENTS`` are returned, and one more for the rest.

    Args:
        text: A complete answer. Check the stop reason first.
    """
    extractor = _Extractor(text)
    plain = _read_strict(text, RecoveryPath.DIRECT)
    if plain is not None:
        extractor.add_outcome(parse_answer(text) if isinstance(plain.value, str) else plain, 0)
        return tuple(extractor.documents)
    for block in iter_code_blocks(text, _LANGUAGES):
        extractor.add_block(block)
        if extractor.is_full:
            break
    if not extractor.documents and _looks_like_json(text):
        extractor.add_outcome(parse_answer(text), 0)
    return tuple(extractor.documents)


@dataclass(slots=True)
class _Extractor:
    """The documents so far; ``char_position`` and ``byte_position`` are the same place in the text."""

    text: str
    documents: list[ExtractedDocument] = field(default_factory=list[ExtractedDocument])
    repairs_left: int = MAX_REPAIRS
    char_position: int = 0
    byte_position: int = 0

    @property
    def is_full(self) -> bool:
        """True if the limit is reached."""
        return len(self.documents) > MAX_DOCUMENTS

    def add_block(self, block: CodeBlock) -> None:
        """Add the content of a fenced block, if it is JSON or claims to be."""
        if block.language in _LANGUAGES:
            if not block.is_closed or block.content.strip():
                self.add_outcome(self.read_block(block.content) if block.is_closed else None, block.start)
        elif not block.language and block.is_closed:
            plain = _read_strict(block.content, RecoveryPath.MARKDOWN_FENCE)
            if plain is not None and _holds_objects(plain.value):
                self.add_outcome(plain, block.start)

    def read_block(self, content: str) -> RecoveryOutcome:
        """Read a block strictly, or else as an answer while repairs are left."""
        plain = _read_strict(content, RecoveryPath.MARKDOWN_FENCE)
        if plain is not None or self.repairs_left == 0:
            return plain
        self.repairs_left -= 1
        return parse_answer(content)

    def add_outcome(self, outcome: RecoveryOutcome, start: int) -> None:
        """Add the documents read from the character ``start`` on, or an unreadable one."""
        offset = self.get_byte_offset(start)
        if not isinstance(outcome, Recovered):
            self.append(ExtractedDocument(None, None, offset))
            return
        offset += outcome.byte_offset or 0
        for value in _get_elements(outcome.value):
            if self.is_full:
                return
            self.append(ExtractedDocument(value, outcome.path, offset))

    def append(self, extracted: ExtractedDocument) -> None:
        """Add a document. The first one beyond the limit is unreadable and represents the rest."""
        is_within = len(self.documents) < MAX_DOCUMENTS
        self.documents.append(extracted if is_within else ExtractedDocument(None, None, extracted.byte_offset))

    def get_byte_offset(self, start: int) -> int:
        """Return the byte offset of a character at or after the previous one."""
        self.byte_position += _count_bytes(self.text[self.char_position : start])
        self.char_position = start
        return self.byte_position


def _read_strict(content: str, path: RecoveryPath) -> Recovered | None:
    try:
        value = parse_json(content)
    except NotJsonError:
        return None
    return Recovered(value, path, _count_bytes(content[: _find_content(content)]))


def _looks_like_json(text: str) -> bool:
    """Return whether a text starts with an object, or an array of them, so that it is not prose."""
    opening = _ARRAY_OPENING.match(text, _find_content(text))
    if opening is None:
        return False
    return bool(DOCUMENT_START.match(text, opening.end())) or text.startswith(_ESCAPED_OBJECT, opening.end())


def _holds_objects(value: Json) -> bool:
    """Return whether a value is an object, or a non-empty array of objects."""
    elements = _get_elements(value)
    return bool(elements) and all(isinstance(element, dict) for element in elements)


def _get_elements(value: Json) -> list[Json]:
    return as_list(value) if isinstance(value, list) else [value]


def _find_content(text: str) -> int:
    space = _LEADING_SPACE.match(text)
    return space.end() if space else 0


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


_LINE = re.compile(r"[^\r\n]*+(?:\r\n|[\r\n]|\Z)")
_OPENING = re.compile(r"[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w+.-]*+)(?P<rest>[^\r\n]*+)")
_INLINE_DOCUMENT = re.compile(r"[ \t]*+[\[{][ \t]*+[\"{]")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block; ``content`` begins at the character ``start`` of the text."""

    language: str
    content: str
    start: int
    is_closed: bool


@dataclass(frozen=True, slots=True)
class _OpenFence:
    """An opening fence; if ``is_lenient``, it may be closed on the same line after a document."""

    marker: str
    language: str
    start: int
    is_lenient: bool

    def find_closing(self, line: str) -> int | None:
        """Return the number of characters before the closing fence, if the line has one."""
        stripped = line.rstrip()
        before = stripped.rstrip(self.marker[0])
        if len(stripped) - len(before) < len(self.marker) or (before.strip() and not self.is_lenient):
            return None
        return len(before)


def iter_code_blocks(text: str, languages: frozenset[str]) -> Iterator[CodeBlock]:
    """Yield the fenced blocks of ``text``. Blocks of ``languages`` are read leniently. Inner fences are content."""
    fence: _OpenFence | None = None
    for line in _LINE.finditer(text):
        start = line.start()
        if fence is None:
            fence = _parse_opening(line, languages)
            if fence is None or fence.start == line.end():
                continue
            start = fence.start
        end = fence.find_closing(text[start : line.end()])
        if end is not None:
            yield CodeBlock(fence.language, text[fence.start : start + end], fence.start, is_closed=True)
            fence = None
    if fence is not None:
        yield CodeBlock(fence.language, text[fence.start :], fence.start, is_closed=False)


def _parse_opening(line: re.Match[str], languages: frozenset[str]) -> _OpenFence | None:
    """Return the fence that a line opens, if any."""
    opening = _OPENING.match(line[0])
    if opening is None:
        return None
    marker, language, rest = opening["fence"], opening["language"].lower(), opening["rest"]
    is_lenient = language in languages
    if is_lenient and _INLINE_DOCUMENT.match(rest):
        return _OpenFence(marker, language, line.start() + opening.start("rest"), is_lenient)
    # text between backticks on one line is inline code
    return None if "`" in rest and marker.startswith("`") else _OpenFence(marker, language, line.end(), is_lenient)


DEFAULT_SOURCE = "run-event"
"""The source of an envelope that is given to a model (OpenWOP's word)."""


def build_follow_up(acceptance: Acceptance, prompts: PromptTemplates | None = None) -> str | None:
    """Return the prompt for the model's next turn, or None if there is none.

    It contains the schema that the model asked for, or the corrections to make, and nothing of the envelope.
    A node that failed has no next turn.
    """
    if acceptance.failed:
        return None
    templates, outcome = prompts or prompt.default_templates(), acceptance.outcome
    if acceptance.requested_kind is not None:
        return _build_schema_reply(templates, acceptance.requested_kind, acceptance)
    if isinstance(outcome, Gated) and (counts_as_round(outcome) or outcome.code is OutcomeCode.CONTRACT):
        return prompt.render_correction(templates, [f"/type: one of {', '.join(outcome.allowed_kinds)}"])
    if isinstance(outcome, InvalidEnvelope) and outcome.code in REPAIRABLE:
        return prompt.render_correction(templates, outcome.violations)
    return None


def _build_schema_reply(prompts: PromptTemplates, requested_kind: str, acceptance: Acceptance) -> str:
    registry = acceptance.config.registry
    kind = registry.get(requested_kind)
    if kind is None:
        return prompt.render_unknown_kind(prompts, registry.ids)
    return prompt.render_schema_reply(prompts, kind.id, kind.version or 0, kind.schema)


def render_for_model(
    envelope: AIEnvelope, *, source: str = DEFAULT_SOURCE, attributes: Mapping[str, str] | None = None
) -> str:
    """Return the envelope's payload as text for a model, fenced unless it is trusted.

    Nothing in the content can close the fence.

    Args:
        envelope: The accepted envelope.
        source: The origin to name in the fence, such as ``"mcp-tool"``.
        attributes: More attributes of the fence, such as ``{"tool": "search"}``.

    Raises:
        InputError: The name of an attribute is not an identifier, or is ``type`` or ``source``.
    """
    text = json.dumps(envelope.payload, ensure_ascii=False)
    if envelope.meta.content_trust is Trust.TRUSTED:
        return text
    return prompt.fence(text, envelope.type, source, attributes or {})
