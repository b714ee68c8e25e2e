"""Decisions over the Model Context Protocol.

``tool`` and ``binding_moment`` attach a decision to what a tool returns.
``emitter.mcp.extension.BindingMoments`` does the same for tools that you cannot change (mcp 2 only).
``DecisionAsker`` asks the principal and records the answer, ``guarded_tool`` runs only approved calls, and
``create_server`` returns a complete server. Install the extra ``mcp``; mcp 2.x and 1.30 both work.

Source: draft-morrison-binding-moment-envelope-00, section 7; the Model Context Protocol, 2025-11-25 and
2026-07-28.
"""

from emitter.mcp.asker import DecisionAsker as DecisionAsker
from emitter.mcp.asker import Surface as Surface
from emitter.mcp.asker import Suspended as Suspended
from emitter.mcp.guarded_tools import guarded_tool as guarded_tool
from emitter.mcp.results import describe as describe
from emitter.mcp.server import add_detail_tool as add_detail_tool
from emitter.mcp.server import add_resolve_tool as add_resolve_tool
from emitter.mcp.server import create_server as create_server
from emitter.mcp.server import serve_http as serve_http
from emitter.mcp.server import serve_stdio as serve_stdio
from emitter.mcp.tools import ADVERTISEMENT_META as ADVERTISEMENT_META
from emitter.mcp.tools import WithMoment as WithMoment
from emitter.mcp.tools import add_advertisement as add_advertisement
from emitter.mcp.tools import advertises as advertises
from emitter.mcp.tools import binding_moment as binding_moment
from emitter.mcp.tools import tool as tool
