"""An MCP server whose tool asks before it acts. Run it under any host: ``python examples/mcp_server.py`` (mcp 2).

``delete_branch`` poses a decision where a branch has commits that nobody merged. A client that can ask its user asks at
once, and the tool goes on with the answer. Any other client is handed the decision, shows it, passes the answer on with
``resolve_binding_moment``, and calls ``delete_branch`` again with the decision's id. Nothing is deleted before that.
"""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from emitter.decisions import Selected, Unresolved, digest
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import AlreadyResolved
from emitter.mcp import DecisionAsker, Suspended, WithMoment, add_resolve_tool, describe, tool
from emitter.models import BindingMoment, Option, Question

UNMERGED = {"done": 0, "draft": 1, "spike": 3}
"""The branches, and how many commits of each are on no other."""

server = MCPServer("branches")
asking = DecisionAsker(Ledger(), agent="branches")
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
    except AlreadyResolved as error:  # the person refused this very question before: it is not put to them again
        return {"status": "refused", "branch": name, **describe(await asking.find(error.decision_id))}
    match found:
        case Suspended(result=result):
            return result  # the client asks its user, and calls again
        case PendingDecision(decision_id=waiting):
            return WithMoment({"status": "undecided", "branch": name, "decision_id": waiting}, moment)
        case _:
            return decided(name, moment, found)


def decided(name: str, moment: BindingMoment, found: ResolvedDecision | Unresolved) -> dict[str, Any]:
    """Do what the person decided; where they did not choose to delete, the agent reads what they want instead."""
    match found:
        case ResolvedDecision() if found.pending.digest != digest(moment):
            return {"status": "kept", "branch": name, "reason": "The decision is about something else."}
        case ResolvedDecision(resolution=Selected(index=0)):
            return delete(name)
        case ResolvedDecision():  # another option, an answer in words of their own, or an objection to the question
            return {"status": "kept", "branch": name, **describe(found)}
        case _:  # declined, cancelled, or nobody was asked: the decision is still open
            return {"status": "undecided", "branch": name, **describe(found)}


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
