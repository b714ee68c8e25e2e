"""Plain text, Markdown and the notification, held to the contract of every surface."""

from __future__ import annotations

from emitter.testing.surfaces import SurfaceContract
from tests.render.text.subjects import MarkdownSubject, NotificationSubject, PlainSubject


class TestPlainText(SurfaceContract):
    """Plain text, not wrapped; a typed line cannot name the envelope it answers."""

    subject = PlainSubject()
    bound = False


class TestNarrowPlainText(SurfaceContract):
    """Plain text in a window of forty cells."""

    subject = PlainSubject(40)
    bound = False


class TestMarkdown(SurfaceContract):
    """Markdown, read by a reader of CommonMark."""

    subject = MarkdownSubject()
    bound = False


class TestNotification(SurfaceContract):
    """A notification with an expanded view."""

    subject = NotificationSubject()
