"""The renderer: a page, and the reading of what comes back from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.render.html.page import page
from emitter.render.layout import layout
from emitter.render.reply import chosen, for_this
from emitter.render.typed import may_type, typed
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.html.form import Form
    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Html:
    """The surface of HTML. With a ``form``, its pages are answered where they stand, and else by a typed line."""

    form: Form | None = None
    name: str = "html"

    def draw(self, moment: BindingMoment) -> str:
        """Return a whole HTML document."""
        return page(layout(moment), self.form or may_type(moment))

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return what a reply says: the fields ``digest``, ``choice`` and a veto's words, or a typed line.

        Raises ``BadResolution``, ``WrongDigest``, ``NoSuchOption`` or ``HatchClosed``. A typed line, which
        names no envelope, is no reply to a page with a form.
        """
        if self.form is None and isinstance(reply, str):
            return typed(moment, reply)
        for_this(moment, mapping(reply).get("digest"))
        return chosen(moment, reply)


RENDERER: Final = Html()
