"""Every surface of JSON keeps the draft's contract for renderers."""

from __future__ import annotations

from emitter.testing.sample_moments import FEW_MOMENTS
from emitter.testing.surfaces import SurfaceContract
from tests.render.json.subject_a2ui import A2uiSubject
from tests.render.json.subject_adaptive_card import AdaptiveCardSubject
from tests.render.json.subject_forms import ElicitationSubject, OpenwopSurfaceSubject
from tests.render.json.subject_slack import SlackSubject


class TestSlack(SurfaceContract):
    """Slack Block Kit."""

    subject = SlackSubject()


class TestAdaptiveCard(SurfaceContract):
    """Adaptive Card."""

    subject = AdaptiveCardSubject()


class TestA2ui(SurfaceContract):
    """A2UI; every text is read by a reader of Markdown, which takes its time."""

    subject = A2uiSubject()
    moments = FEW_MOMENTS


class TestOpenwopSurface(SurfaceContract):
    """OpenWOP's surface."""

    subject = OpenwopSurfaceSubject()


class TestElicitation(SurfaceContract):
    """MCP's form; that a result names no envelope is the protocol's, whose requests do."""

    subject = ElicitationSubject()
