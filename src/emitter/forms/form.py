"""The form of an answer: its schema, prompt, reader and judge, and its conversion to an OpenWOP envelope."""

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
    """A judge, and the content checks that convert its findings to violations."""

    judge: ModelJudge
    content: ContentChecks


@dataclass(frozen=True, slots=True)
class OutputForm:
    """A form of output that an emission can ask for.

    Attributes:
        kind: The envelope's kind.
        default_node_id: The node id of the envelope, if the caller passes none.
        name: The document's name on the wire.
        schema: The argument of ``compile_schema``.
        system_prompt: Returns the start of the system prompt.
        read_value: Converts a valid document to its value (see ``DocumentContract``).
        codec: Converts an answer to the envelope's payload, and back.
        normalize: Fills in optional members before validation (see ``DocumentContract``).
        examples: Documents to show to the model, some of them with an input.
        render_history: Returns the principal's answers to earlier envelopes as prompt text.
        cache_key: Identifies settings that affect the answer and are not in the prompt.
        has_heading: Put a prompt that is a single text under the heading that the system prompt mentions.
        judge: A model that judges each valid answer.
        value_pointer: Maps a pointer in the document to one in the value.
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
    value_pointer: Callable[[str], str] = str
