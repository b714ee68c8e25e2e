"""Real answers of 34 models to 104 documents: which of those that are no JSON are read, and what of them is true."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.core.control_characters import SourceTexts, find_control_characters
from emitter.recover import Recovered, parse_answer
from emitter.schema import compile_schema
from tests.recover.mutations import invented
from tests.recover.test_corpus import unclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.recover import Ambiguous, Retracted
    from tests.shared import Line

_HARMONY = re.compile(r"\Aanalysis.*?(?:assistantfinal|\Z)", re.DOTALL)
_THINKING = re.compile(r"\A.*</think>", re.DOTALL)


@dataclass(frozen=True)
class Answer:
    """An answer that a strict parser does not take, with its question."""

    model: str
    text: str
    line: Line

    @property
    def outcome(self) -> Recovered | Ambiguous | Retracted | None:
        """What recovery reads."""
        return parse_answer(self.text)

    @property
    def kind(self) -> str:
        """The kind of the answer, by a look at its brackets: ``empty``, ``cut`` or ``almost``."""
        answer = _THINKING.sub("", _HARMONY.sub("", self.text)).strip()
        begun = answer[answer.find("{") :] if "{" in answer else ""
        return "empty" if not self.text.strip() else "cut" if not begun or unclosed(begun) else "almost"

    def invented(self) -> list[str]:
        """Return what is read but does not stand in the answer."""
        return invented(self.outcome.value, self.text) if isinstance(self.outcome, Recovered) else []

    def is_valid(self) -> bool:
        """Tell whether what is read has the form that was asked for."""
        found = self.outcome
        return isinstance(found, Recovered) and not compile_schema(self.line["schema"], "openai").validate(found.value)

    def agreement(self) -> tuple[int, int]:
        """Return how many of the true values are read, and how many there are."""
        value = self.outcome.value if isinstance(self.outcome, Recovered) else None
        return agreement(value, self.line["truth"])


def agreement(value: Any, truth: Any) -> tuple[int, int]:
    """Return how many leaves of the truth a value has at their places, and how many there are."""
    leaves, found = dict(_leaves(truth)), dict(_leaves(value))
    return sum(found.get(path, ...) == leaf for path, leaf in leaves.items()), len(leaves)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict | list) and value:
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(child, f"{path}/{key}")
    else:
        yield path, json.dumps(value, sort_keys=True)


def answers(corpus: list[Line]) -> Iterator[Answer]:
    """Yield the answers that are texts. The corpus holds all others as parsed by a strict parser."""
    for line in corpus:
        for model, answer in line["answers"].items():
            if isinstance(answer, str):
                yield Answer(model, answer, line)


def corrections(corpus: list[Line]) -> tuple[Counter[str], Counter[str]]:
    """Count by model the corrections that words around a document buy, and those that control characters buy."""
    words = Counter(each.model for each in answers(corpus) if getattr(each.outcome, "doubtful", False))
    characters = Counter[str]()
    for line in corpus:
        sources, compiled = SourceTexts([line["context"], line["question"]]), compile_schema(line["schema"], "openai")
        for model, answer in line["answers"].items():
            value = getattr(parse_answer(answer), "value", None) if isinstance(answer, str) else answer
            characters[model] += bool(find_control_characters(value, sources, compiled))
    return words, +characters
