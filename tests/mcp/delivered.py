"""A tool's result as a host shows it that hands on the text alone, and answers by the next call of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.decisions import digest
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.decisions.resolution import resolution_from_json
from emitter.mcp import sdk
from emitter.mcp.tools import attach_moment
from emitter.render.delivery import PlainResult, read_structured_content
from tests.render.text.subjects import PlainSubject

if TYPE_CHECKING:
    from emitter.decisions import Resolution, Unresolved
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.layout import HatchKind
    from emitter.testing.surfaces import ShownOption

_PLAIN = PlainSubject()


class ToolResult:
    """The surface that is the text of a tool's result; ``drawn`` is the result."""

    def draw(self, moment: BindingMoment) -> sdk.Result:
        """Return a result with the envelope."""
        return attach_moment(sdk.tool_result([sdk.text_block("Conventional.")], {}), moment)

    def text(self, drawn: sdk.Result) -> str:
        """Return all text."""
        return _PLAIN.text("\n".join(texts(drawn)))

    def option(self, drawn: sdk.Result, index: int) -> ShownOption:
        """Return the option in the block that is to be read."""
        return _PLAIN.option(texts(drawn)[1], index)

    def hatches(self, drawn: sdk.Result) -> set[HatchKind]:
        """Return the vetoes in the block that is to be read."""
        return _PLAIN.hatches(texts(drawn)[1])

    def select(self, drawn: sdk.Result, index: int) -> Json:
        """Return the argument of the next call."""
        return {"outcome": "selected", "digest": _digest(drawn), "index": index}

    def answer(self, drawn: sdk.Result, text: str) -> Json:
        """Return the argument of the next call."""
        return {"outcome": "free_text", "digest": _digest(drawn), "answer": text}

    def object(self, drawn: sdk.Result, text: str) -> Json:
        """Return the argument of the next call."""
        return {"outcome": "dialogue", "digest": _digest(drawn), "objection": text}

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return what the ledger makes of the argument."""
        ledger = Ledger()
        found: Any = ledger.resolve(ledger.open(moment).decision_id, _resolution(reply))
        assert isinstance(found, ResolvedDecision)
        return found.resolution  # type: ignore[return-value]  the words are at hand

    def deliver(self, result: Json) -> sdk.Result | PlainResult:
        """Return what a surface draws of a structured result."""
        found = read_structured_content(result)
        return found if isinstance(found, PlainResult) else self.draw(found.moment)


def texts(drawn: sdk.Result) -> list[str]:
    """Return the text blocks of a result."""
    return [str(getattr(each, "text", "")) for each in drawn.content]


def _digest(drawn: sdk.Result) -> str:
    found = read_structured_content(sdk.structured_content(drawn))
    assert not isinstance(found, PlainResult)
    return digest(found.moment)


def _resolution(reply: Json) -> Any:
    return resolution_from_json(reply)
