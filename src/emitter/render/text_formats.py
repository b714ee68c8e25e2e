"""Draw a decision as plain text, as Markdown or as a notification.

Plain text and Markdown are answered by a typed line, a notification by the id of an action. All text of the
model is escaped.

Sources: draft-morrison-binding-moment-envelope-00, sections 8.1 and 8.2; CommonMark 0.31.2, sections 2.4 and
6.1; GitHub Flavored Markdown 0.29, section 6.9.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.decisions.resolution import ResolutionOutcome
from emitter.messages import as_mapping
from emitter.models import ClarificationRequest, Deliberation, ErrorReport
from emitter.render.layout import (
    ANSWER_FIELD,
    OBJECTION_FIELD,
    HatchKind,
    build_layout,
    button_label,
    option_title,
)
from emitter.render.replies import (
    CHOICE,
    check_digest,
    encode_choice,
    parse_form_reply,
    parse_typed_reply,
    typing_instructions,
)
from emitter.render.safe_text import cell_width, to_single_line, wrap_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.delivery import PlainResult
    from emitter.render.layout import Layout, OptionLayout

MIN_WIDTH = 20
"""Cells. A smaller width is raised to this one."""
_CONTINUATION_INDENT = " " * 6


@dataclass(frozen=True, slots=True)
class PlainText:
    """The plain-text renderer. ``width`` is in terminal cells; None leaves lines unwrapped."""

    width: int | None = None
    name: str = "text"

    def draw(self, moment: BindingMoment) -> str:
        """Return the decision as text, with instructions for an answer."""
        return f"{format_moment(moment, self.width)}\n\n{_wrap_row(typing_instructions(moment), self.width)}"

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return the resolution that a typed line means, or raise ``ResolutionError``, which says what can be typed."""
        return parse_typed_reply(moment, reply)


def format_moment(moment: BindingMoment, width: int | None = None) -> str:
    """Return the decision as text, wrapped to ``width`` terminal cells if it is given."""
    return "\n".join(_wrap_row(line, width) for line in _moment_lines(build_layout(moment)))


def _wrap_row(text: str, width: int | None) -> str:
    """Wrap a line. Its continuation rows are indented deeper than any option."""
    if width is None:
        return text
    content = text.lstrip()
    rows = wrap_text(content, max(width, MIN_WIDTH) - len(_CONTINUATION_INDENT))
    return text[: len(text) - len(content)] + f"\n{_CONTINUATION_INDENT}".join(rows)


def _moment_lines(layout: Layout) -> Iterator[str]:
    if layout.note is not None:
        yield from ("", f"(A note first: {layout.note})")
    yield from ("", layout.synopsis)
    for section in layout.sections:
        yield from ("", section.heading, *(f"  - {item}" for item in section.items))
    yield from ("", layout.offer, "", layout.stem)
    for choice in layout.choices:
        yield from _option_lines(choice)
    yield from (f"  {hatch.key}. {hatch.label}" for hatch in layout.hatches)


def _option_lines(choice: OptionLayout) -> Iterator[str]:
    mark = "" if choice.mark is None else f"  ({choice.mark})"
    warning = "" if choice.warning is None else f"  [careful: this option {choice.warning}]"
    yield f"  {choice.key}. {choice.label}{mark}{warning}"
    yield f"     {choice.reasoning}"


PLAIN_TEXT_RENDERER = PlainText()


def format_withheld(reason: Deliberation | ClarificationRequest | ErrorReport) -> str:
    """Return the agent's reason for withholding a decision as text."""
    return "\n".join(_withheld_lines(reason))


def format_plain_result(result: PlainResult) -> str:
    """Return a tool's own payload as indented JSON, after its diagnostic."""
    diagnostic = [] if result.diagnostic is None else [to_single_line(result.diagnostic), ""]
    return "\n".join([*diagnostic, *_payload_lines(result.payload)])


def _payload_lines(payload: Json) -> Iterator[str]:
    try:
        document = json.dumps(payload, ensure_ascii=False, indent=2, default=repr)
    except (RecursionError, ValueError, TypeError):
        yield "(The tool's result cannot be shown as JSON.)"
        return
    for line in document.split("\n"):
        yield f"{' ' * (len(line) - len(line.lstrip(' ')))}{to_single_line(line)}"


def _withheld_lines(reason: Deliberation | ClarificationRequest | ErrorReport) -> Iterator[str]:
    match reason:
        case Deliberation(state=state, missing=missing, permission=permission):
            yield from ("", "Not yet: the agent holds no position it can commit to.", "", to_single_line(state))
            yield from (f"  - missing: {to_single_line(item)}" for item in missing)
            yield from ("", to_single_line(permission))
        case ClarificationRequest(questions=questions):
            yield from ("", "The agent has questions first.")
            yield from (f"  - {to_single_line(question.question)}" for question in questions)
        case ErrorReport(code=code, message=message):
            yield from ("", f"The agent cannot do this ({to_single_line(code)}): {to_single_line(message)}")


_MARKDOWN_CHARACTERS = re.compile(r"([!#$&()*+\-./:<=>@\[\\\]^_`{|}~])")
_AUTOLINKED = re.compile(r"[@#$]|//|:[\w+-]+:|\bGH-|\w\.\w\w|\b[0-9a-f]{7,}\b", re.IGNORECASE)
"""Links and addresses, mentions, references to issues and commits, emoji names and formulas."""


@dataclass(frozen=True, slots=True)
class Markdown:
    """The Markdown renderer."""

    name: str = "markdown"

    def draw(self, moment: BindingMoment) -> str:
        """Return the decision as Markdown."""
        return f"{format_markdown(build_layout(moment))}\n\n{typing_instructions(moment)}"

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return the resolution that a typed line means, or raise ``ResolutionError``, which says what can be typed."""
        return parse_typed_reply(moment, reply)


def format_markdown(layout: Layout) -> str:
    """Return a layout as Markdown."""
    return "\n\n".join(filter(None, _markdown_blocks(layout)))


def escape_markdown(text: str) -> str:
    """Return one line of Markdown that shows ``text`` literally."""
    return " ".join(map(_escape_word, text.split()))


def _escape_word(word: str) -> str:
    return _code_span(word) if _AUTOLINKED.search(word) else _MARKDOWN_CHARACTERS.sub(r"\\\1", word)


def _code_span(word: str) -> str:
    fence = "`" * (1 + max(map(len, re.findall("`+", word)), default=0))
    space = " " if word.startswith("`") or word.endswith("`") else ""
    return f"{fence}{space}{word}{space}{fence}"


def _markdown_blocks(layout: Layout) -> Iterator[str]:
    if layout.note is not None:
        yield f"*A note first:* {escape_markdown(layout.note)}"
    yield escape_markdown(layout.synopsis)
    for section in layout.sections:
        yield f"**{section.heading}**"
        yield "\n".join(f"- {escape_markdown(item)}" for item in section.items)
    yield escape_markdown(layout.offer)
    yield f"**The question:** {escape_markdown(layout.stem)}"
    yield from map(_markdown_option, layout.choices)
    yield "\n".join(f"- **{hatch.key}** {hatch.label}" for hatch in layout.hatches)


def _markdown_option(choice: OptionLayout) -> str:
    marks = [] if choice.mark is None else [f"**({choice.mark})**"]
    marks += [f"**{warning}**" for warning in choice.warnings]
    heading = " ".join((f"{choice.key}.", *filter(None, [escape_markdown(choice.label)]), *marks))
    return f"{heading}\n\n   {escape_markdown(choice.reasoning)}"


MARKDOWN_RENDERER = Markdown()
MAX_TITLE_WIDTH = 80
"""Cells: two lines on the narrowest notifier."""
_ELLIPSIS = "\u2026"


@dataclass(frozen=True, slots=True)
class Notification:
    """The notification renderer."""

    name: str = "notification"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the id, title, body, expanded view and actions of a notification."""
        layout = build_layout(moment)
        vetoes = [{"id": hatch.kind.value, "title": hatch.label, "asks": hatch.prompt} for hatch in layout.hatches]
        return {
            "id": layout.digest,
            "title": _shorten_title(layout.synopsis),
            "body": f"A decision with {len(layout.choices)} options is yours; recommended is {layout.recommended.key}. "
            "Open it to read and to answer.",
            "expanded": _expanded_view(layout),
            "actions": [*map(_choice_action, layout.choices), *vetoes],
        }

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return the resolution that a notifier's reply means.

        The reply holds the notification's ``id``, the ``action`` and, for a veto, the ``text``.

        Raises:
            ResolutionError: The reply is not a valid answer.
        """
        members = as_mapping(reply)
        check_digest(moment, members.get("id"))
        action = members.get("action")
        field = OBJECTION_FIELD if action == HatchKind.DIALOGUE.value else ANSWER_FIELD
        return parse_form_reply(moment, {CHOICE: action, field: members.get("text")})


def _shorten_title(synopsis: str) -> str:
    if cell_width(synopsis) <= MAX_TITLE_WIDTH:
        return synopsis
    return f"{wrap_text(synopsis, MAX_TITLE_WIDTH - 1)[0]}{_ELLIPSIS}"


def _expanded_view(layout: Layout) -> dict[str, Json]:
    return {
        "note": layout.note,
        "synopsis": layout.synopsis,
        "findings": list(layout.findings),
        "recommendations": list(layout.recommendations),
        "offer": layout.offer,
        "stem": layout.stem,
        "options": [
            {
                "title": option_title(choice),
                "reasoning": choice.reasoning,
                "recommended": choice.recommended,
                "warnings": list(choice.warnings),
            }
            for choice in layout.choices
        ],
        "hatches": [{"kind": hatch.kind.value, "label": hatch.label, "asks": hatch.prompt} for hatch in layout.hatches],
        "decision_class": layout.decision_class,
    }


def _choice_action(choice: OptionLayout) -> dict[str, Json]:
    return {"id": encode_choice(ResolutionOutcome.SELECTED, choice.index), "title": button_label(choice)}


NOTIFICATION_RENDERER = Notification()
