"""How surfaces made of JSON say an option: its number and the mark come first, in words of ours alone.

The label follows on a line of its own or after a colon, where it can put no mark that looks like ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.render.layout import Choice


def numbered(choice: Choice) -> str:
    """Return what stands over an option."""
    return _marked(f"Option {choice.key}", choice)


def press(choice: Choice) -> str:
    """Return the words on an option's button."""
    return _marked(f"Choose {choice.key}", choice)


def titled(choice: Choice) -> str:
    """Return an option as one entry of a list."""
    return f"{numbered(choice)}: {choice.label}"


def careful(choice: Choice) -> tuple[str, ...]:
    """Return the sentence that is shown with a label that deceives, if it does."""
    return () if choice.caution is None else (choice.caution,)


def _marked(words: str, choice: Choice) -> str:
    return words if choice.mark is None else f"{words} ({choice.mark})"
