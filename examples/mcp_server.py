"""An MCP server whose tool asks before it acts. Run it under any host: ``python examples/mcp_server.py`` (mcp 2).

``delete_branch`` poses a decision where a branch has commits that nobody merged. A client that can ask its user asks at
once, and the tool goes on with the answer. Any other client is handed the decision, shows it, passes the answer on with
``resolve_binding_moment``, and calls ``delete_branch`` again with the decision's id. Nothing is deleted before that.
"""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from emitter.decide import Selected, digest
from emitter.errors import AlreadyResolved
from emitter.kinds import BindingMoment, Option, Question
from emitter.ledger import Ledger, Pending, Resolved
from emitter.mcp import Asking, Suspended, WithMoment, add_resolve_tool, tool

UNMERGED = {"done": 0, "draft": 1, "spike": 3}
"""The branches, and how many commits of each are on no other."""

server = MCPServer("branches")
asking = Asking(Ledger(), agent="branches")
add_resolve_tool(server, asking)


@tool(server)
async def delete_branch(
    name: str, context: Context, decision_id: str | None = None
) -> dict[str, Any] | WithMoment[dict[str, Any]]:
    """Delete a branch. One with unmerged commits is deleted only when the person decided so: pass the decision's id."""
    if not UNMERGED.get(name):
        return delete(name) if name in UNMERGED else {"status": "unknown", "branch": name}
    moment = question(name)
    try:
        found = await (asking.ask(context, lambda: moment) if decision_id is None else asking.find(decision_id))
    except AlreadyResolved:  # the person refused this very question before: it is not put to them again
        return {"status": "refused", "branch": name}
    match found:
        case Suspended(result=result):
            return result  # the client asks its user, and calls again
        case Pending(decision_id=waiting):
            return WithMoment({"status": "undecided", "branch": name, "decision_id": waiting}, moment)
        case Resolved(resolution=Selected(index=0)) if found.pending.digest == digest(moment):  # of this very question
            return delete(name)
        case _:  # another option, words of their own, a veto, or nobody decided
            return {"status": "kept", "branch": name}


def delete(name: str) -> dict[str, Any]:
    """Delete a branch."""
    del UNMERGED[name]
    return {"status": "deleted", "branch": name}


def question(name: str) -> BindingMoment:
    """Return the decision about a branch; it could come from ``aemit_binding_moment`` as well."""
    commits = UNMERGED[name]
    return BindingMoment(
        synopsis=f"Keep {name}: {commits} of its commits are on no other branch.",
        findings=(
            f"{commits} commits are reachable from {name} only.",
            "Deleted commits are gone for good once the host has cleaned up.",
            "No open change refers to the branch.",
        ),
        recommendations=(f"Push a tag to the tip of {name}.", f"Delete {name} after that."),
        offer="Ask for the list of commits.",
        question=Question.ask(
            f"What is to become of {name}?",
            [
                Option(label=f"Delete {name}", reasoning="The work is not wanted."),
                Option(label=f"Keep {name}", reasoning="The work may be wanted."),
            ],
            recommended_idx=1,
        ),
    )


if __name__ == "__main__":
    server.run()
