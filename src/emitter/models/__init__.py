"""Payload models of the envelope kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.messages import Trust as Trust
    from emitter.models.authorization import AuthorizationEnvelope as AuthorizationEnvelope
    from emitter.models.binding_moment import OPEN_HATCHES as OPEN_HATCHES
    from emitter.models.binding_moment import BindingMoment as BindingMoment
    from emitter.models.binding_moment import ClarificationRequest as ClarificationRequest
    from emitter.models.binding_moment import Deliberation as Deliberation
    from emitter.models.binding_moment import ErrorReport as ErrorReport
    from emitter.models.binding_moment import Hatches as Hatches
    from emitter.models.binding_moment import Meta as Meta
    from emitter.models.binding_moment import Option as Option
    from emitter.models.binding_moment import Question as Question
    from emitter.models.envelope import AIEnvelope as AIEnvelope
    from emitter.models.envelope import EnvelopeMeta as EnvelopeMeta
    from emitter.models.envelope import EnvelopeSource as EnvelopeSource
    from emitter.models.standard_kinds import AUTHORIZATION as AUTHORIZATION
    from emitter.models.standard_kinds import BINDING_MOMENT as BINDING_MOMENT
    from emitter.models.standard_kinds import CLARIFICATION_REQUEST as CLARIFICATION_REQUEST
    from emitter.models.standard_kinds import DELIBERATION as DELIBERATION
    from emitter.models.standard_kinds import DOCUMENT as DOCUMENT
    from emitter.models.standard_kinds import ERROR as ERROR
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "authorization": "AuthorizationEnvelope",
            "binding_moment": (
                "BindingMoment ClarificationRequest Deliberation ErrorReport Hatches Meta OPEN_HATCHES Option Question"
            ),
            ".messages": "Trust",
            "envelope": "AIEnvelope EnvelopeMeta EnvelopeSource",
            "standard_kinds": ("AUTHORIZATION BINDING_MOMENT CLARIFICATION_REQUEST DELIBERATION DOCUMENT ERROR"),
        },
    )
