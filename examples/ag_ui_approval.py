"""An agent behind an AG-UI endpoint, whose tools wait for a person. It may be killed at any time: run it again.

python examples/ag_ui_approval.py [FOLDER]    # scripted: no key, no network. Needs ag-ui-protocol, starlette, uvicorn
"""

from typing import Any
from uuid import uuid4

import office
import scripted_front_end
from ag_ui.core import RunAgentInput, RunFinishedEvent, RunStartedEvent, TextMessageChunkEvent
from ag_ui.encoder import EventEncoder
from starlette.responses import StreamingResponse

from emitter.integrations.ag_ui import finish_interrupted, identify_call, resolve_entries, to_interrupt
from emitter.integrations.approvals import Returned, Waiting, make_call


def run(given: RunAgentInput) -> Any:
    """Run the agent until every call was made or waits, and yield its events: whatever was approved is done now."""
    yield RunStartedEvent(thread_id=given.thread_id, run_id=given.run_id)
    ledger, results, interrupts = office.authority.ledger, dict[str, str](), dict[str, Any]()
    for reply in resolve_entries(ledger, given.resume, decision_ids=[each.decision_id for each in ledger.pending()]):
        if not reply.counts:
            yield TextMessageChunkEvent(message_id=str(uuid4()), role="assistant", delta=reply.text)
    while calls := [call for call in office.next_calls(results) if call[0] not in interrupts]:
        for name, tool, arguments in calls:
            call_id = identify_call(given.thread_id, "message-1", name)  # the script has one message
            outcome = make_call(getattr(office, tool), call_id, arguments)
            if isinstance(outcome, Waiting):
                interrupts[name] = to_interrupt(outcome.pending, tool_call_id=name)
            else:
                results[name] = str(outcome.value) if isinstance(outcome, Returned) else outcome.message
    done = RunFinishedEvent(thread_id=given.thread_id, run_id=given.run_id, result="Done.")
    yield finish_interrupted(given.thread_id, given.run_id, [*interrupts.values()]) if interrupts else done


async def endpoint(request: Any) -> StreamingResponse:
    """Stream the events of a run. Authenticate the request here."""
    given = RunAgentInput.model_validate_json(await request.body())
    return StreamingResponse(map(EventEncoder().encode, run(given)), media_type="text/event-stream")


print(scripted_front_end.use(endpoint, office.answer))
