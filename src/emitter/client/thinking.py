"""Remember how many tokens a model spends on thinking, so that the first budget of later emissions has room for it.

A profile states an allowance for each effort, but what a model really spends depends on the task and on the server.
What was seen is kept like the refusals of a server, for each effort: the last answers of a model count.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import WeakKeyDictionary

from emitter import recover
from emitter.budget import estimate_max_tokens
from emitter.client.refusals import find_server

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.messages import Json, ModelRequest, ModelResponse

_MAX_MODELS: Final = 1024
"""The maximum number of models and efforts that are remembered for a client. The oldest is forgotten first."""
_MAX_ANSWERS: Final = 16
_QUANTILE: Final = 0.9
"""One runaway answer in ten leaves the estimate alone."""
_MARGIN: Final = 1.25
_STEP: Final = 1024
"""Estimates are multiples of this, so that similar answers lead to the same budget."""


class _SeenThinking:
    """The thinking of the last answers of a model, and the tokens to reserve for the next one."""

    __slots__ = ("_answers", "reserved")

    def __init__(self) -> None:
        self._answers: deque[int] = deque(maxlen=_MAX_ANSWERS)
        self.reserved = 0

    def add(self, tokens: int) -> None:
        self._answers.append(tokens)
        rank = math.ceil(len(self._answers) * _QUANTILE)
        self.reserved = math.ceil(sorted(self._answers)[rank - 1] * _MARGIN / _STEP) * _STEP


_Key: TypeAlias = "tuple[Hashable, Hashable]"
_SEEN: WeakKeyDictionary[object, dict[_Key, _SeenThinking]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def recall_thinking(settings: Settings, target: ModelTarget, options: Mapping[str, Json]) -> int:
    """Return the tokens that the model's thinking is expected to take under ``options``, or 0 if none was seen."""
    if not _SEEN:  # no model has thought, which is what most programs see
        return 0
    with suppress(TypeError):  # a client that cannot be referenced weakly
        owner, server = find_server(settings, target)
        seen = _SEEN.get(owner, {}).get((server, _effort(target, options)))
        return 0 if seen is None else seen.reserved
    return 0


def remember_thinking(settings: Settings, target: ModelTarget, request: ModelRequest, answer: ModelResponse) -> None:
    """Remember how many tokens of an answer were thinking, if any and if they count towards the output budget."""
    spent = count_thinking(answer)
    if not spent or not target.profile.counts_thinking(target.wire):
        return
    with _LOCK, suppress(TypeError):
        owner, server = find_server(settings, target)
        models = _SEEN.setdefault(owner, {})
        key = (server, _effort(target, request.options))
        seen = models.pop(key, None) or _SeenThinking()
        models[key] = seen
        seen.add(spent)
        if len(models) > _MAX_MODELS:
            del models[next(iter(models))]


def count_thinking(answer: ModelResponse) -> int:
    """Return the tokens of thinking in an answer: as the server counts them, or else a lower estimate.

    Many servers send the thinking in a field or in tags and do not count it.
    """
    usage, text = answer.usage, answer.text
    if usage is None or usage.estimated:
        return 0
    if usage.thinking or answer.arguments:
        return usage.thinking
    if answer.has_thinking:
        return max(usage.output - estimate_max_tokens(text), 0)
    if not text or text[0] in "{[":
        return 0
    hidden = len(text) - len(recover.strip_thinking(text))
    return usage.output * hidden // len(text)


def _effort(target: ModelTarget, options: Mapping[str, Json]) -> Hashable:
    return target.profile.thinking_options(target.wire, options) if options else ()
