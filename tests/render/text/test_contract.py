"""Plain text, Markdown and the notification, held to the contract of every surface."""

from __future__ import annotations

from emitter.testing.sample_moments import FEW_MOMENTS, ORDINARY_MOMENTS
from emitter.testing.surfaces import SurfaceContract
from tests.render.text.subjects import MarkdownSubject, NotificationSubject, PlainSubject
from tests.work import FULL

MOMENTS = ORDINARY_MOMENTS if FULL else FEW_MOMENTS
"""For all but plain text, of which the others are variants."""


class TestPlainText(SurfaceContract):
    """Plain text, not wrapped; a typed line cannot name the envelope it answers."""

    subject = PlainSubject()
    bound = False


class TestNarrowPlainText(SurfaceContract):
    """Plain text in a window of forty cells."""

    subject = PlainSubject(40)
    bound = False
    moments = MOMENTS


class TestMarkdown(SurfaceContract):
    """Markdown, read by a reader of CommonMark."""

    subject = MarkdownSubject()
    bound = False
    moments = MOMENTS


class TestNotification(SurfaceContract):
    """A notification with an expanded view."""

    subject = NotificationSubject()
    moments = MOMENTS
