"""What is shown of an option, whether it is answered here or elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.render.html.markup import Markup, element, join, said
from emitter.render.wording import careful

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.render.layout import Choice


def name(choice: Choice) -> Markup:
    """Return the label, and the mark in words of ours."""
    mark = () if choice.mark is None else (" ", element("strong", choice.mark, class_="mark"))
    return join(said("span", choice.label), *mark)


def about(choice: Choice, tag: str) -> Iterator[Markup]:
    """Yield the lines below the label: a warning where there is one, and the reasoning."""
    for sentence in careful(choice):
        yield element(tag, sentence, id=_caution(choice), class_="caution")
    yield said(tag, choice.reasoning, id=_why(choice), class_="why")


def style(choice: Choice) -> str:
    """Return the classes of the option's element."""
    return "choice recommended" if choice.recommended else "choice"


def described(choice: Choice) -> str:
    """Return the ids of the lines below the label, in order."""
    return " ".join([*(_caution(choice) for _ in careful(choice)), _why(choice)])


def _caution(choice: Choice) -> str:
    return f"option-{choice.index}-caution"


def _why(choice: Choice) -> str:
    return f"option-{choice.index}-why"
