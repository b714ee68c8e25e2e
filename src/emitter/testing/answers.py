"""What a model may write: the behaviours that come back as an answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emitter.kinds import turn
from emitter.testing.counting import tokens, within
from emitter.testing.draft import Behaviour, Draft, Ending, Failure, Trouble

if TYPE_CHECKING:
    from emitter.kinds.turn import Outcome
    from emitter.testing.asked import Asked
    from emitter.testing.draft import Planned
    from emitter.wire import Json

CHUNK = 20
"""The characters in one delta of a stream."""

_WORDS = ("the", "lock", "is", "gone", "so", "we", "go", "on", "with", "what", "was", "left", "and", "wait")
_SENTENCES = 3
_MOST_WORDS = 12


def _dumped(document: Json) -> str:
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document drawn by constrained decoding of the request's own schema; plain words where it has none.

    Needs the extra ``testing``. ``chunk`` is the characters in one delta of a stream.
    """

    chunk: int = CHUNK

    def plan(self, asked: Asked) -> Planned:
        """Return the drawn document; an error as the vendor's where its decoder takes no such schema."""
        if asked.schema is None:
            return Draft(_prose(asked), chunk=self.chunk)
        return _decoded(asked, asked.schema, broken=False, chunk=self.chunk)


DECODED = Decoded()
"""What the model writes where nothing else is said."""


def _decoded(asked: Asked, schema: Json, *, broken: bool, chunk: int = CHUNK) -> Planned:
    """Return a drawn document, broken in one place or not; an error where there is none."""
    from emitter.testing.decoding import document  # noqa: PLC0415  imports the validator

    luck = asked.luck()
    try:
        text = document.document(schema, luck)
        return Draft(document.broken(text, schema, luck) if broken else text, chunk=chunk)
    except document.Undecodable as error:
        return Failure(Trouble.BAD_SCHEMA, str(error))


def _prose(asked: Asked) -> str:
    luck = asked.luck()
    sentences = [luck.sample(_WORDS, luck.randint(4, _MOST_WORDS)) for _ in range(_SENTENCES)]
    return " ".join(f"{' '.join(each).capitalize()}." for each in sentences)


@dataclass(frozen=True, slots=True)
class Text:
    """This text, word for word; a document that is handed over is written as JSON."""

    text: Json
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _dumped(self.text))

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the text."""
        return Draft(self.text, chunk=self.chunk)


def decided(outcome: Outcome, reasoning: str = "") -> Text:
    """Return a decision, or what withholds one, as the model writes it when it is asked for a binding moment."""
    return Text(turn.document(outcome, reasoning))


@dataclass(frozen=True, slots=True)
class Cut:
    """An answer that is longer than its budget, however large that is.

    It ends after ``at`` tokens, without which after the request's budget; an answer that would have fitted is
    cut at three fifths. A budget of ``whole_at`` tokens or more is answered whole.
    """

    at: int | None = None
    whole_at: int | None = None
    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the cut answer."""
        whole = self.of.plan(asked)
        if not isinstance(whole, Draft) or self._has_room(asked.budget):
            return whole
        given = [each for each in (self.at, asked.budget) if each is not None]
        limit, length = min(given, default=None), tokens(whole.text)
        kept = length * 3 // 5 if limit is None or limit >= length else limit
        return replace(whole, text=within(whole.text, kept), ending=Ending.CUT, output=limit)

    def _has_room(self, budget: int | None) -> bool:
        return self.whole_at is not None and (budget is None or budget >= self.whole_at)


@dataclass(frozen=True, slots=True)
class Thinking:
    """An answer after so many tokens of thinking, which are billed and count against the budget."""

    tokens: int
    then: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the answer with its thinking."""
        said = self.then.plan(asked)
        return replace(said, thinking=said.thinking + self.tokens) if isinstance(said, Draft) else said


@dataclass(frozen=True, slots=True)
class Refused:
    """The model refuses; ``category`` is told by Anthropic alone."""

    text: str = "I'm sorry, but I can't help with that."
    category: str = "general_harms"

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the refusal."""
        return Draft(self.text, Ending.REFUSED, category=self.category)


@dataclass(frozen=True, slots=True)
class Filtered:
    """A safety system stops the answer after ``written``, or the prompt before there is one."""

    prompt: bool = False
    written: str = ""

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the block."""
        return Failure(Trouble.PROMPT_BLOCKED) if self.prompt else Draft(self.written, Ending.FILTERED)


@dataclass(frozen=True, slots=True)
class Paused:
    """The vendor pauses after ``written``, to be continued. Chat Completions has no word for it and says none."""

    written: str = ""

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return what was written so far."""
        return Draft(self.written, Ending.PAUSED)


@dataclass(frozen=True, slots=True)
class UnknownStop:
    """A whole answer that ends with a word that no table knows."""

    word: str = "quillious"
    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the answer with that ending."""
        said = self.of.plan(asked)
        return replace(said, ending=self.word) if isinstance(said, Draft) else said


@dataclass(frozen=True, slots=True)
class Violating:
    """A document that breaks the schema: the one given, or a drawn one that is broken in one place."""

    document: Json = None

    def __post_init__(self) -> None:
        if self.document is not None:
            object.__setattr__(self, "document", _dumped(self.document))

    def plan(self, asked: Asked) -> Planned:
        """Return the broken document."""
        if self.document is not None:
            return Draft(self.document)
        return _decoded(asked, {"type": "object"} if asked.schema is None else asked.schema, broken=True)


@dataclass(frozen=True, slots=True)
class Fenced:
    """The document in a Markdown fence."""

    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the fenced document."""
        return _rewritten(self.of.plan(asked), "```json\n{}\n```")


@dataclass(frozen=True, slots=True)
class InProse:
    """The document with words around it."""

    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the document among words."""
        return _rewritten(
            self.of.plan(asked), "Here is what you asked for:\n\n{}\n\nTell me if you need anything else."
        )


@dataclass(frozen=True, slots=True)
class Twice:
    """The same document twice in one answer; two calls where a tool is forced."""

    of: Behaviour = DECODED

    def plan(self, asked: Asked) -> Planned:
        """Return the document and again the document."""
        return _rewritten(self.of.plan(asked), "{}\n{}")


def _rewritten(said: Planned, form: str) -> Planned:
    return replace(said, text=form.replace("{}", said.text)) if isinstance(said, Draft) else said


@dataclass(frozen=True, slots=True)
class Malformed:
    """A clean answer in which there is no document."""

    text: str = "I would go on with what was left, since the lock is gone."

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return the words."""
        return Draft(self.text)


@dataclass(frozen=True, slots=True)
class Empty:
    """A clean answer that says nothing."""

    def plan(self, asked: Asked) -> Planned:  # noqa: ARG002  the same for everybody
        """Return no text."""
        return Draft("")
