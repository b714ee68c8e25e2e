"""Decisions over the Model Context Protocol: envelopes in tool results, and the ways to answer them.

``tool`` and ``binding_moment`` attach a decision to what a tool returns; ``emitter.mcp.extension.BindingMoments`` does
it for tools that know nothing of it (mcp 2 only). ``Asking`` puts decisions to their principal and takes the answers;
``server`` is a ready server. Needs the extra ``mcp``, of either line: 2.x or 1.30.

Source: draft-morrison-binding-moment-envelope-00, section 7; the Model Context Protocol, 2025-11-25 and 2026-07-28.
"""

from emitter.mcp.advert import ADVERT as ADVERT
from emitter.mcp.advert import advert as advert
from emitter.mcp.advert import advertises as advertises
from emitter.mcp.answers import describe as describe
from emitter.mcp.asking import Asking as Asking
from emitter.mcp.asking import Surface as Surface
from emitter.mcp.elicit import Suspended as Suspended
from emitter.mcp.guarded import guarded as guarded
from emitter.mcp.serve import serve_http as serve_http
from emitter.mcp.serve import serve_stdio as serve_stdio
from emitter.mcp.server import add_detail_tool as add_detail_tool
from emitter.mcp.server import add_resolve_tool as add_resolve_tool
from emitter.mcp.server import server as server
from emitter.mcp.tool import WithMoment as WithMoment
from emitter.mcp.tool import binding_moment as binding_moment
from emitter.mcp.tool import tool as tool
