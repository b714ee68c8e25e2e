"""Draw a decision as an e-mail with a link to the page where it is answered.

The mail has the whole decision, as text and as HTML. It cannot be answered by a reply: a sender's address proves
nothing.

Sources: RFC 5322, RFC 2046, section 5.1.4 (alternatives), and RFC 3834, section 5 (``Auto-Submitted``).
"""

from __future__ import annotations

from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from emitter.errors import BadResolution, InputError
from emitter.render.html_page import build_html_page, element
from emitter.render.layout import build_layout
from emitter.render.text_formats import format_moment

if TYPE_CHECKING:
    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment

_HINT = "Answer on the page that this mail links to. A reply to this mail is not read."
_TEXT_WIDTH = 76
_MAX_SUBJECT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Email:
    """The e-mail renderer. Set the addresses of the message, and send it with ``smtplib``.

    Attributes:
        link: The page of the decision, such as ``https://x.example/inbox/decisions/...``. It names the decision and
            lets nobody in: the page authenticates whoever opens it.

    Raises:
        InputError: The link is not an ``http`` or ``https`` address.
    """

    link: str
    name: str = "email"

    def __post_init__(self) -> None:
        parts = urlsplit(self.link)
        if parts.scheme not in {"http", "https"} or not parts.netloc or not self.link.isprintable() or " " in self.link:
            raise InputError("link must be an http or https address.", hint="Pass the decision's page in the inbox.")

    def draw(self, moment: BindingMoment) -> EmailMessage:
        """Return a message without addresses, as text with an HTML alternative."""
        layout = build_layout(moment)
        message = EmailMessage()
        message["Subject"] = f"Decision: {layout.stem}"[:_MAX_SUBJECT_LENGTH]
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=urlsplit(self.link).hostname)
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(f"{_HINT}\n{self.link}\n\n{format_moment(moment, _TEXT_WIDTH)}\n")
        link = element("p", element("a", "Answer this decision", href=self.link))
        message.add_alternative(build_html_page(layout, _HINT, header=(link,)), subtype="html")
        return message

    def read(self, _moment: BindingMoment, _reply: Json) -> Resolution:
        """Raise ``BadResolution``, because a mail does not answer a decision."""
        raise BadResolution("A mail does not answer a decision.", hint="Answer on the page that it links to.")
