"""A Claude agent whose tools wait for a person, and which may be killed at any time: run it again.

python examples/claude_agent_approval.py [FOLDER]    # scripted: no key, no network. Needs claude-agent-sdk
"""

import asyncio

import office
import scripted_claude
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from emitter.integrations.claude_agent import GuardedTools, resume
from emitter.testing import Simulator, simulator

tools = GuardedTools("office", office.send_email, office.drop_table)
saved = office.FOLDER / "session"  # empty once it is done, because such a session waits for a prompt


async def run(vendor: Simulator) -> ResultMessage:
    """Run the agent until a call is deferred, or continue: whatever was approved is done now, once."""
    options = ClaudeAgentOptions(
        mcp_servers=tools.mcp_servers,
        hooks=tools.hooks,
        tools=[],
        cwd=office.FOLDER,
        model="claude-sonnet-5-5",
        env=scripted_claude.environment(vendor, office.FOLDER),
    )
    messages = resume(options, saved.read_text()) if saved.exists() else query(prompt="Tidy up.", options=options)
    result = [message async for message in messages if isinstance(message, ResultMessage)][-1]
    saved.write_text(result.session_id if result.deferred_tool_use else "")
    return result


if not saved.exists() or saved.read_text():
    with simulator(answers=scripted_claude.ToolCalls(office.next_calls, "office"), check_schemas=False) as server:
        while (result := asyncio.run(run(server))).deferred_tool_use and office.somebody_answers():
            pass
        print(result.result)
