"""A response of OpenAI Responses as a stream of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.testing.draft import Ending
from emitter.testing.wires import openai_errors
from emitter.testing.wires.openai_response import (
    BEGUN,
    call,
    item_status,
    message,
    output,
    part,
    reasoning,
    response,
    status,
)
from emitter.testing.wires.writing import MARK, Event, dumped, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing.wires.writing import Said
    from emitter.wire import Json

_TERMINAL = {"incomplete": "response.incomplete"}


@dataclass(slots=True)
class _Counted:
    """Numbers the events."""

    number: int = -1

    def event(self, kind: str, **fields: Json) -> Event:
        self.number += 1
        return Event(named(kind, {"type": kind, **fields, "sequence_number": self.number}))

    def deltas(self, kind: str, pieces: Iterator[str], fields: str) -> Iterator[Event]:
        """Yield the same event for each piece; written by hand, because there may be very many."""
        for each in pieces:
            self.number += 1
            number = f'"sequence_number":{self.number}'
            delta = dumped(each)
            yield Event(f'event: {kind}\ndata: {{"type":"{kind}",{fields},"delta":{delta},{number}}}\n\n', len(each))


def stream(said: Said) -> Iterator[Event]:
    """Yield the events of the streamed form."""
    counted = _Counted()
    begun = response(said, BEGUN, [])
    for kind in ("response.created", "response.in_progress"):
        yield counted.event(kind, response=begun)
    yield from _written(counted, said)
    ending = said.draft.ending
    if said.draft.failing:
        error = openai_errors.denial(said.draft.failing, said.asked).body["error"]
        told = {"code": error["code"] or error["type"], "message": error["message"], "param": error["param"]}
        yield counted.event("error", **told)
    elif ending is not Ending.NONE:
        now = status(said)
        kind = _TERMINAL.get(str(now), "response.completed")
        yield counted.event(kind, response=response(said, now, list(output(said))))


def _written(counted: _Counted, said: Said) -> Iterator[Event]:
    index = 0
    if said.draft.thinking:
        for step in ("added", "done"):
            yield counted.event(f"response.output_item.{step}", output_index=0, item=reasoning())
        index = 1
    if said.called:
        yield from _called(counted, said, index)
    elif said.draft.text or said.draft.ending is Ending.WHOLE:
        yield from _message(counted, said, index)


def _called(counted: _Counted, said: Said, first: int) -> Iterator[Event]:
    for number, arguments in enumerate(said.calls()):
        index, item = first + number, call(said, number, "", BEGUN)
        place = {"item_id": item["id"], "output_index": index}
        yield counted.event("response.output_item.added", output_index=index, item=item)
        kind = "response.function_call_arguments"
        fields = f'"item_id":"{item["id"]}","output_index":{index}'
        yield from counted.deltas(f"{kind}.delta", said.pieces(arguments), fields)
        if said.broken_off:
            return
        yield counted.event(f"{kind}.done", **place, arguments=arguments)
        done = call(said, number, arguments, item_status(said))
        yield counted.event("response.output_item.done", output_index=index, item=done)


def _message(counted: _Counted, said: Said, index: int) -> Iterator[Event]:
    kind = "response.refusal" if said.draft.ending is Ending.REFUSED else "response.output_text"
    key = "refusal" if said.draft.ending is Ending.REFUSED else "text"
    text, place = said.draft.text, {"item_id": f"msg_{MARK}", "output_index": index, "content_index": 0}
    yield counted.event("response.output_item.added", output_index=index, item=message([], BEGUN))
    yield counted.event("response.content_part.added", **place, part=part(said, ""))
    fields = f'"item_id":"msg_{MARK}","output_index":{index},"content_index":0'
    yield from counted.deltas(f"{kind}.delta", said.pieces(text), fields)
    if said.broken_off:
        return
    yield counted.event(f"{kind}.done", **place, **{key: text})
    yield counted.event("response.content_part.done", **place, part=part(said, text))
    done = message([part(said, text)], item_status(said))
    yield counted.event("response.output_item.done", output_index=index, item=done)
