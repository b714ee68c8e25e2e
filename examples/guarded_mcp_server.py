"""An MCP server that sends only the email its person approved. Needs mcp 2: ``python examples/guarded_mcp_server.py``.

Each call of ``send_email`` is put to the person, with its real arguments. A client that can ask its user asks at once.
Any other is handed the decision, passes the answer on with ``resolve_binding_moment``, and makes the same call again
with its ``call_id``. Approved: email mom cannot become email the CEO: that is another call, under whatever id.

Give it a file, ``python examples/guarded_mcp_server.py mail.db``, and what was approved outlives the server.
"""

from __future__ import annotations

import sys
from typing import Any

from mcp.server.mcpserver import MCPServer

from emitter.authority import Authority
from emitter.mcp import DecisionAsker, add_resolve_tool, guarded_tool
from emitter.stores import MemoryStore, SqliteStore

OUTBOX: list[tuple[str, str]] = []
"""What was sent: nothing is, that is not in it."""

server = MCPServer("mail")
authority = Authority(SqliteStore(sys.argv[1]) if sys.argv[1:] else MemoryStore(), actor="mail")
add_resolve_tool(server, DecisionAsker(authority.ledger))


@guarded_tool(server, authority, target=lambda parameters: parameters["to"], risk_level="medium", ttl_seconds=300)
async def send_email(to: str, body: str) -> dict[str, Any]:
    """Send an email. It is sent once the person approved exactly this one."""
    OUTBOX.append((to, body))
    return {"sent": len(OUTBOX), "to": to}


if __name__ == "__main__":
    server.run()
