"""The form of an answer: its schema, prompt words and reading, and its place in an OpenWOP envelope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.checks.judge import ModelJudge
    from emitter.core.verdicts import DocumentContract, DocumentReader
    from emitter.forms.content import ContentChecks
    from emitter.messages import Json
    from emitter.models import AIEnvelope
    from emitter.prompts import Example, PromptTemplates


class EnvelopeCodec(Protocol):
    """Converts an answer to an envelope's kind and payload, and back."""

    def to_payload(self, value: Any, document: Json, /) -> tuple[str, Json]:
        """Return the kind and payload of an answer."""
        ...

    def from_envelope(self, contract: DocumentContract, envelope: AIEnvelope, /) -> tuple[Any, Json] | None:
        """Return the value and document in an envelope, or None if the current contract does not accept it."""
        ...


@dataclass(frozen=True, slots=True)
class FormJudge:
    """A judge, and how its findings become violations of the form's document."""

    judge: ModelJudge
    content: ContentChecks


@dataclass(frozen=True, slots=True)
class OutputForm:
    """A form of output that an emission can ask for.

    ``kind`` is the envelope's kind, ``name`` the document's name on the wire, and ``schema`` the argument of
    ``compile_schema``. ``read_value`` and ``normalize`` are those of ``DocumentContract``. ``system_prompt`` returns
    the start of the system prompt, and ``render_history`` the principal's answers to earlier envelopes. ``examples``
    are documents to show, some with an input. ``cache_key`` identifies settings that affect the answer and are not in
    the prompt. If ``has_heading`` is true, a prompt that is one text is put under the heading that the system prompt
    mentions. ``judge`` is a model that is asked about each valid answer.
    """

    kind: str
    default_node_id: str
    name: str
    schema: object
    system_prompt: Callable[[PromptTemplates], str]
    read_value: DocumentReader
    codec: EnvelopeCodec
    normalize: Callable[[Json], Json] | None = None
    examples: tuple[Example[Json], ...] = ()
    render_history: Callable[[PromptTemplates], tuple[str, ...]] | None = None
    cache_key: tuple[str, ...] = ()
    has_heading: bool = True
    judge: FormJudge | None = None
