"""Ask a second model to judge each valid answer of an emission."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from emitter import prompts
from emitter.checks.judge import Review, check_quotes, describe_slots, read_review
from emitter.forms.content import ContentChecks
from emitter.forms.document import document_form
from emitter.messages import JUDGE_ROUTE, Message, Role
from emitter.models import BindingMoment
from emitter.prompts import fence

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.checks.judge import ModelJudge
    from emitter.client.prepared import PreparedEmission
    from emitter.core.effects import EmissionRequest
    from emitter.forms.form import OutputForm
    from emitter.messages import Json
    from emitter.policy import PriceTable
    from emitter.schema.results import ParseResult


@dataclass(frozen=True, slots=True)
class PreparedJudge:
    """A judge with its prepared emission, which has no text to judge yet."""

    judge: ModelJudge
    prepared: PreparedEmission
    content: ContentChecks
    is_offline: bool = False

    def offline(self) -> PreparedJudge:
        """Return a judge that asks no model."""
        return replace(self, is_offline=True)

    @property
    def prices(self) -> PriceTable | None:
        """The prices of the judge's calls, if the caller passed some or has a cost limit."""
        return self.prepared.emission.prices

    def request(self, value: Any) -> EmissionRequest | None:
        """Return the request that asks about a binding moment."""
        if self.is_offline or not isinstance(value, BindingMoment):
            return None
        template = self.prepared.emission
        text = fence(describe_slots(value), "decision", "another agent")
        return replace(
            template,
            request=replace(template.request, messages=(Message(Role.USER, text),), route=JUDGE_ROUTE),
            contract=replace(template.contract, read_value=partial(_read_answer, template.contract.read_value, value)),
        )

    def review(self, value: Any, document: Json, answer: Any) -> ParseResult[Any]:
        """Return the findings of the judge, or of its fallback if there is no answer."""
        if not isinstance(value, BindingMoment):
            return self.content.run(value, document)
        if isinstance(answer, Review):
            return self.content.run(value, document, findings=read_review(answer, value))
        return replace(self.content, checks=(self.judge.fallback,)).run(value, document)


def review_form() -> OutputForm:
    """Return the output form of a judge's answer."""
    return replace(document_form(Review), system_prompt=prompts.judge_prompt)


def _read_answer(read: Callable[[Json], ParseResult[Any]], moment: BindingMoment, document: Json) -> ParseResult[Any]:
    """Read a judge's answer. Its quotes must occur in the judged text."""
    result = read(document)
    if not isinstance(result.value, Review):
        return result
    return ContentChecks((), frozenset).run(result.value, document, findings=check_quotes(result.value, moment))
