"""Prepare the judge of an emission and send its requests on a connection of its own."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from emitter import prompts
from emitter.checks.review import Review, check_quotes, describe_slots, read_review
from emitter.client.execution import async_sdk_client, sdk_client
from emitter.client.request import prepare_emission
from emitter.client.settings import Settings
from emitter.client.transport import UnaryCall
from emitter.core.judging import judge_answer
from emitter.errors import EmitterError
from emitter.forms.content import ContentChecks
from emitter.forms.document import document_form
from emitter.messages import Fault, FaultKind, Message, Role
from emitter.models import BindingMoment
from emitter.prompts import fence

_NO_TEXT = "-"
"""Stands for the text to judge, which is not known when the judge is prepared."""

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from emitter.checks.judge import ModelJudge
    from emitter.client.request import PreparedEmission
    from emitter.core.effects import EffectGenerator, EmissionRequest
    from emitter.core.emission import EmissionState
    from emitter.core.judging import Judgment
    from emitter.core.verdicts import ClassifiedAnswer
    from emitter.forms.form import FormJudge
    from emitter.messages import CallResult, Json, ModelRequest, Usage
    from emitter.policy import Policy
    from emitter.schema.results import ParseResult
    from emitter.streaming import StreamEvent


@dataclass(frozen=True, slots=True)
class PreparedJudge:
    """A judge that is ready to be asked: its prepared emission without the text to judge."""

    judge: ModelJudge
    prepared: PreparedEmission
    content: ContentChecks
    is_offline: bool = False

    def offline(self) -> PreparedJudge:
        """Return a judge that asks no model."""
        return replace(self, is_offline=True)

    def route(self, send: Callable[[ModelRequest, float], Any]) -> Callable[[ModelRequest, float], Any]:
        """Return a transport that sends the judge's requests to the judge, and all others with ``send``."""
        output = self.prepared.emission_request.request.output

        def route(request: ModelRequest, timeout: float) -> Any:
            return JudgeCall(self, request, timeout) if request.output is output else send(request, timeout)

        return route

    def request(self, value: Any) -> EmissionRequest | None:
        """Return the request that asks about a binding moment."""
        if self.is_offline or not isinstance(value, BindingMoment):
            return None
        template = self.prepared.emission_request
        text = fence(describe_slots(value), "decision", "another agent")
        return replace(
            template,
            request=replace(template.request, messages=(Message(Role.USER, text),)),
            contract=replace(template.contract, read_value=partial(_read_answer, template.contract.read_value, value)),
        )

    def judge_answer(
        self,
        state: EmissionState,
        answer: CallResult,
        classification: ClassifiedAnswer,
        run: Callable[[EmissionRequest, Policy], EffectGenerator],
    ) -> Judgment:
        """Return a valid answer with the findings about it."""
        return judge_answer(self, state, answer, classification, run)

    def review(self, value: Any, document: Json, answer: Any) -> ParseResult[Any]:
        """Return the findings of the judge, or of its fallback if there is no answer."""
        if not isinstance(value, BindingMoment):
            return self.content.run(value, document)
        if isinstance(answer, Review):
            return self.content.run(value, document, findings=read_review(answer, value))
        return replace(self.content, checks=(self.judge.fallback,)).run(value, document)


def prepare_judge(form: FormJudge, settings: Settings) -> PreparedJudge:
    """Prepare the judge of a form. Raises ``InputError`` if its model cannot be used."""
    own = Settings(
        form.judge.model,
        client=form.judge.client,
        run_id=settings.run_id,
        clock=settings.clock,
        policy=replace(settings.policy, nl_to_format=False),
        prompts=settings.prompts,
        provider_ids=settings.provider_ids,
        pool=settings.pool,
    )
    review = replace(document_form(Review, (), ()), system_prompt=prompts.judge_prompt)
    return PreparedJudge(form.judge, prepare_emission(review, _NO_TEXT, own), form.content)


def _read_answer(read: Callable[[Json], ParseResult[Any]], moment: BindingMoment, document: Json) -> ParseResult[Any]:
    """Read a judge's answer; its words must be in the judged text."""
    reading = read(document)
    if not isinstance(reading.value, Review):
        return reading
    return ContentChecks((), frozenset).run(reading.value, document, findings=check_quotes(reading.value, moment))


class JudgeCall:
    """A request to the judge. A judge that cannot be reached is a fault, so that its fallback decides."""

    answer: CallResult

    def __init__(self, judge: PreparedJudge, request: ModelRequest, timeout: float) -> None:
        self._judge, self._request, self._timeout = judge, request, timeout
        self._call: UnaryCall | None = None

    def __iter__(self) -> Generator[StreamEvent]:
        """Send the request. There are no progress events."""
        try:
            with sdk_client(self._judge.prepared) as client:
                yield from self._open(client)
                self.answer = self._opened().answer
        except EmitterError as error:
            self.answer = Fault(FaultKind.AUTHENTICATION, str(error))

    async def __aiter__(self) -> AsyncGenerator[StreamEvent]:
        """Send the request. There are no progress events."""
        try:
            async with async_sdk_client(self._judge.prepared) as client:
                async with aclosing(self._open(client).__aiter__()) as events:
                    async for event in events:
                        yield event
                self.answer = self._opened().answer
        except EmitterError as error:
            self.answer = Fault(FaultKind.AUTHENTICATION, str(error))

    def usage_so_far(self) -> Usage | None:
        """Return the usage of an answer that was not read to its end."""
        return self._call.usage_so_far() if self._call else None

    def _open(self, client: object) -> UnaryCall:
        self._call = UnaryCall(self._judge.prepared, client, self._request, self._timeout)
        return self._call

    def _opened(self) -> UnaryCall:
        if self._call is None:
            raise RuntimeError("The judge's call has not been opened.")
        return self._call
