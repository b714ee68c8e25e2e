"""A whole HTML page of ours: one file, no script, no address of anybody's, and a policy that says so to the browser.

Source: Content Security Policy Level 3, sections 3.3 (the ``meta`` element) and 8.4 (hashes).
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from emitter.render.html.markup import Markup, element, join

if TYPE_CHECKING:
    from emitter.render.html.markup import Child

_STYLE = Markup(files("emitter.render.html").joinpath("style.css").read_text(encoding="utf-8"))
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def policy(form_action: str) -> str:
    """Return what a page may do: show itself, in its one style sheet, and send its forms to ``form_action``."""
    return f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action {form_action}"


STATIC: Final = policy("'none'")
"""The policy of a page that sends nothing."""

OWN: Final = policy("'self'")
"""The policy of a page whose forms go where it came from."""


def document(title: str, *children: Child, security: str = STATIC) -> str:
    """Return the page; ``security`` is its Content-Security-Policy."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=security),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="same-origin"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", _STYLE),
    )
    body = element("body", element("main", *children))
    return f"<!doctype html>\n{element('html', join(head, body), lang='en')}\n"
