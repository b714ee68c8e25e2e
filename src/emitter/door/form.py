"""What can be asked for: its schema, words, reading, and its place in an envelope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.judge import Contract, Read
    from emitter.kinds import AIEnvelope
    from emitter.prompt import Prompts
    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Enclosing:
    """From an answer to its kind and payload, and from an envelope back to the answer: its value and document.

    ``disclose`` returns None for an envelope that the contract of today does not take.
    """

    enclose: Callable[[Any, Json], tuple[str, Json]]
    disclose: Callable[[Contract, AIEnvelope], tuple[Any, Json] | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a door asks for.

    ``kind`` is the envelope's, ``node`` the node's id where the caller names none, ``name`` what the document
    is called on the wire, ``schema`` what ``compile_schema`` takes. ``words`` begin the system prompt.
    ``read`` and ``tidy`` are those of ``Contract``. ``enclosing`` puts an answer into its envelope and takes it out
    again. ``examples`` are valid documents to show. ``heard`` is what the principal said to earlier envelopes.
    ``terms`` are what else an answer depends on that no word says. ``headed`` puts a situation that is one text under
    the heading that the system prompt speaks of; a text without it is the task itself.
    """

    kind: str
    node: str
    name: str
    schema: object
    words: Callable[[Prompts], str]
    read: Read
    enclosing: Enclosing
    tidy: Callable[[Json], Json] = lambda document: document
    examples: tuple[Json, ...] = ()
    heard: Callable[[Prompts], tuple[str, ...]] = lambda _: ()
    terms: tuple[str, ...] = ()
    headed: bool = True
