"""The guarded call: a tool that runs exactly the call that its principal approved, once, with a receipt."""

from emitter.authority.guard.briefing import Asked as Asked
from emitter.authority.guard.briefing import Brief as Brief
from emitter.authority.guard.briefing import template as template
from emitter.authority.guard.emitted import aemitted as aemitted
from emitter.authority.guard.emitted import emitted as emitted
from emitter.authority.guard.guarded import Guarded as Guarded
from emitter.authority.guard.how import Guarding as Guarding
from emitter.authority.guard.how import How as How
