"""Answer a decision on a local web page. Needs the extra ``web``.

The server listens on loopback and answers only requests to its own address. Each decision has an unguessable
link, which is never logged. An answer needs the link's cookie and form token and must come from the page
itself; the first answer uses the link up. A process of the same user that can read the link can answer too, so
show the link where the agent cannot read it.

``inbox`` is an application for the decisions of many agents: it lists them for the people whom your service
authenticates, and mounts into FastAPI or Starlette.

Source: draft-morrison-binding-moment-envelope-00, sections 6.3, 8 and 11.4.
"""

from emitter.decisions.principals import DecisionAction as DecisionAction
from emitter.decisions.principals import Principal as Principal
from emitter.decisions.principals import is_same_principal as is_same_principal
from emitter.web.answering import DetailSetting as DetailSetting
from emitter.web.inbox_application import inbox as inbox
from emitter.web.links import Link as Link
from emitter.web.links import Links as Links
from emitter.web.links import create_app as create_app
from emitter.web.server import LOOPBACK as LOOPBACK
from emitter.web.server import Address as Address
from emitter.web.server import Site as Site
from emitter.web.server import aserve as aserve
from emitter.web.server import open_site as open_site
from emitter.web.server import serve as serve
