"""The binding moment: eight slots in one closed object.

Source: draft-morrison-binding-moment-envelope-00, sections 4 and 5. The models hold the machine-checkable
part of the draft (cardinality, types, closed objects, the index in range); the construction discipline is
asked for in ``prompts/`` and checked elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from emitter.wire import Json

BINDING_MOMENT = "vendor.emitter.binding-moment"
"""The kind's id; its payload is ``{reasoning?, binding_moment}``."""

MIN_OPTIONS = 2
MAX_OPTIONS = 4


class Slot(BaseModel):
    """A closed, frozen object that takes no value of another type; an absent member is left out, never null."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _no_null(given: Json) -> Json:
    if given is None:
        raise ValueError("an absent member must be left out, not null")
    return given


def _whole(text: str) -> str:
    """Refuse half a character: nothing can carry it, and no digest can be taken of it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("a string holds half of a surrogate pair") from error
    return text


Text: TypeAlias = Annotated[str, AfterValidator(_whole)]


class Option(Slot):
    """One substantive answer and, on one line, why one might choose it (section 5.6)."""

    label: Text
    reasoning: Text


class Hatches(Slot):
    """The principal's two vetoes (section 5.8): another answer, or another question."""

    free_text: bool
    dialogue: bool


OPEN_HATCHES = Hatches(free_text=True, dialogue=True)
"""Both vetoes open: the default posture."""


class Question(Slot):
    """The binding slots: stem, options, the recommended one, the hatches (sections 5.5 to 5.8)."""

    stem: Text
    options: Annotated[tuple[Option, ...], Field(strict=False, min_length=MIN_OPTIONS, max_length=MAX_OPTIONS)]
    recommended_idx: Annotated[int, Field(ge=0)]
    hatches: Hatches

    @classmethod
    def ask(cls, stem: str, options: Iterable[Option], recommended_idx: int, hatches: Hatches = OPEN_HATCHES) -> Self:
        """Return the question with both hatches open, unless they are given."""
        return cls(stem=stem, options=tuple(options), recommended_idx=recommended_idx, hatches=hatches)

    @model_validator(mode="after")
    def _index_in_range(self) -> Self:
        if self.recommended_idx >= len(self.options):
            raise ValueError("recommended_idx must be below the number of options")
        return self

    @property
    def recommended(self) -> Option:
        """The option the agent recommends."""
        return self.options[self.recommended_idx]


class Meta(Slot):
    """What a surface may use beside the slots (section 5.9); an absent member stays absent."""

    decision_class: Annotated[Text | None, BeforeValidator(_no_null)] = None
    calibration_note: Annotated[Text | None, BeforeValidator(_no_null)] = None


class BindingMoment(Slot):
    """A decision, ready for its principal."""

    synopsis: Text
    findings: Annotated[tuple[Text, ...], Field(strict=False)]
    recommendations: Annotated[tuple[Text, ...], Field(strict=False)]
    offer: Text
    question: Question
    meta: Annotated[Meta | None, BeforeValidator(_no_null)] = None

    def to_json(self) -> dict[str, Json]:
        """Return the wire form: exactly the members, absent ones left out."""
        return self.model_dump(mode="json", exclude_none=True)
