"""The local page: a decision to answer in a browser, on this machine alone, by whoever holds its link.

Source: draft-morrison-binding-moment-envelope-00, sections 6.3, 8 and 11.4: a consequential decision belongs on a
surface of the principal's own. What holds that here: the server listens on loopback and answers to its own address
only (no name that is rebound to it); each decision has an unguessable link, told to one person and never logged; an
answer counts only with the cookie and the form's token that go with the link, sent from the page itself; and the first
answer spends the link. A process of the same user that can read what was told can answer too: tell it where the agent
does not read. Needs the extra ``web``.
"""

from emitter.web.application import Detail as Detail
from emitter.web.application import app as app
from emitter.web.hosting import LOOPBACK as LOOPBACK
from emitter.web.hosting import Address as Address
from emitter.web.hosting import Site as Site
from emitter.web.hosting import hosted as hosted
from emitter.web.links import Link as Link
from emitter.web.links import Links as Links
from emitter.web.serving import aserve as aserve
from emitter.web.serving import serve as serve
