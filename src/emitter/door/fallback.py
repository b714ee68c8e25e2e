"""The two requests by which an answer is had in plain words first, and then put into the form."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from emitter import prompt
from emitter.door.wording import joined, unknown
from emitter.kinds import Trust
from emitter.prompt import Material
from emitter.steps import Fallback
from emitter.wire import Message, OutputMode, Role

if TYPE_CHECKING:
    from emitter.prompt import Prompts
    from emitter.schema import Compiled
    from emitter.wire import Request

_SOURCE = "the answer in plain words"


def fallback(prompts: Prompts, said: str, spoken: tuple[Message, ...], compiled: Compiled) -> Fallback:
    """Return how an answer is had in two calls.

    ``said`` is what the system prompt says of the task, ``spoken`` are the turns, ending in the wish for plain
    words. The words go back as what they are: text that nobody vouches for.
    """
    form = json.dumps(compiled.original, ensure_ascii=False)

    def describe(request: Request) -> Request:
        return replace(
            request,
            system=joined(said, prompts.fill("in_words", schema=form)),
            messages=spoken,
            output=replace(request.output, mode=OutputMode.TEXT),
            correction=None,
        )

    def convert(request: Request, words: str) -> Request:
        answer = prompt.material(prompts, Material(_carried(words), _SOURCE, Trust.UNTRUSTED))
        return replace(
            request,
            messages=(
                Message(Role.USER, joined(prompts.fill("into_form", answer=answer), unknown(prompts, compiled))),
            ),
            correction=None,
        )

    return Fallback(describe, convert)


def _carried(words: str) -> str:
    """Return the words as a wire can carry them: half a character becomes a question mark."""
    return words.encode(errors="replace").decode()
