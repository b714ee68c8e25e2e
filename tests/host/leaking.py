"""Secrets, where to plant them, and a judge who looks for them in everything that came out."""

from __future__ import annotations

import copy
import json
from base64 import b64encode, urlsafe_b64encode
from dataclasses import fields, is_dataclass
from enum import Enum
from traceback import format_exception
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hypothesis import strategies as st
from pydantic import BaseModel

from emitter.host import Secrets
from tests.host.anything import OPEN, VALID
from tests.host.envelopes import envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

KEY = "sk-live-4f9a8b7c6d5e"
ODD = 'p"a\\ss\nwörd/+='
PAIR = ("sk-live-4f9a8b7c", "7c6d5e-and-more")
FOREIGN = "пароль-密码-🔑"
SECRETS = Secrets.of({"stripe": KEY, "database": ODD, "pair": PAIR, "foreign": FOREIGN})
PLANTED = (KEY, ODD, *PAIR, FOREIGN, "sk-live-4f9a8b7c6d5e-and-more")
"""What is planted: each secret, and two that overlap."""

WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "in JSON": lambda text: json.dumps(text)[1:-1],
    "in JSON as UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "in a URL": lambda text: quote(text, safe=""),
    "in base64": lambda text: b64encode(text.encode()).decode(),
    "in base64 for URLs": lambda text: urlsafe_b64encode(text.encode()).decode(),
}
"""The ways in which a secret is planted, and looked for."""

_LOOKED_FOR = tuple({way(secret) for way in (*WAYS.values(), lambda each: repr(each)[1:-1]) for secret in PLANTED})


def shown(*reported: Any) -> list[str]:
    """Return what of the secrets can be read in things: in each text in them, in what they print, in their JSON."""
    said = "\n".join(each for thing in reported for each in _said(thing))
    return [each for each in _LOOKED_FOR if each in said]


def _said(thing: Any) -> Iterator[str]:
    yield repr(thing)
    yield str(thing)
    yield from texts(thing)
    if isinstance(thing, BaseException):
        yield "".join(format_exception(thing))
        for each in chain(thing):
            yield from (repr(each), str(each), *texts(vars(each)))


def texts(thing: Any, depth: int = 0) -> Iterator[str]:
    """Yield every text in a thing that is made of plain values, records and models."""
    if isinstance(thing, Enum) or depth > 80:
        return
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, BaseModel):
        yield thing.model_dump_json()
        yield from texts(thing.model_dump(), depth + 1)
    elif is_dataclass(thing):
        for each in fields(thing):
            yield from texts(getattr(thing, each.name), depth + 1)
    else:
        for each in _inside(thing):
            yield from texts(each, depth + 1)


def _inside(thing: Any) -> Iterable[Any]:
    if hasattr(thing, "items") and hasattr(thing, "keys"):
        return [part for pair in thing.items() for part in pair]
    return thing if isinstance(thing, (list, tuple, set, frozenset)) else ()


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, and all that it came of, shown or not."""
    seen: list[BaseException] = []
    pending = [error]
    while pending:
        each = pending.pop()
        if each is not None and each not in seen:
            seen.append(each)
            yield each
            pending += [each.__cause__, each.__context__]


@st.composite
def planted_texts(draw: st.DrawFn) -> str:
    """Return a text with a secret in it, written in one of the ways."""
    way, secret = WAYS[draw(st.sampled_from(sorted(WAYS)))], draw(st.sampled_from(PLANTED))
    around = st.sampled_from(["", " ", "Bearer ", "é", '"', "\\", "\n", "key=", "."])
    before, after = draw(around), draw(around)
    return f"{before}{way(secret)}{after}"


PLACES: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "type": lambda made, text: made.update(type=text),
    "part of type": lambda made, text: made.update(type=f"vendor.acme.{text}"),
    "envelopeId": lambda made, text: made.update(envelopeId=text),
    "correlationId": lambda made, text: made.update(correlationId=text),
    "nodeId": lambda made, text: made.update(nodeId=text),
    "no correlationId": lambda made, text: (made.pop("correlationId", 0), made.update(envelopeId=text)),
    "schemaVersion": lambda made, text: made.update(schemaVersion=text),
    "another member": lambda made, text: made.update({text: 1}),
    "another member's value": lambda made, text: made.update(extra=text),
    "payload": lambda made, text: made.update(payload=text),
    "payload's key": lambda made, text: made["payload"].update({text: 1}),
    "payload's value": lambda made, text: made["payload"].update(text=text),
    "deep in the payload": lambda made, text: made["payload"].update(a=[{text: [text, {"b": text}]}]),
    "details": lambda made, text: made["payload"].update(details={text: text}),
    "reasoning": lambda made, text: made["payload"].update(reasoning=text),
    "message": lambda made, text: made["payload"].update(message=text, code=text),
    "kind that is asked for": lambda made, text: made["payload"].update(envelopeType=text),
    "questions": lambda made, text: made["payload"].update(
        questions=[{"id": text, "question": text, "context": {text: 1}}, {"id": text, "question": text}]
    ),
    "address": lambda made, text: made["payload"].update(url=f"https://example.com/{text}"),
    "catalogVersion": lambda made, text: made["payload"].update(catalogVersion=text),
    "source": lambda made, text: made["meta"].update(source=text),
    "ts": lambda made, text: made["meta"].update(ts=text),
    "contentTrust": lambda made, text: made["meta"].update(contentTrust=text),
    "label": lambda made, text: made["meta"].update(label=text),
    "traceparent": lambda made, text: made["meta"].update(traceparent=text),
    "rendering": lambda made, text: made["meta"].update(rendering={"alt": text, "title": text, "lang": text}),
    "another rendering": lambda made, text: made["meta"].update(rendering={"display": text, text: text}),
    "another member of meta": lambda made, text: made["meta"].update({text: text}),
    "partial": lambda made, text: made.update(partial={"isPartial": text, "index": 0, "total": 1, text: text}),
    "chunk": lambda made, text: made.update(partial={"isPartial": True, "index": 0, "total": -1}, payload=text),
}
"""The places in an envelope where a secret is planted."""

KINDS = (*VALID, OPEN, OPEN, OPEN)


@st.composite
def planted(draw: st.DrawFn) -> dict[str, Any]:
    """Return an envelope in which secrets stand, in up to three places."""
    kind = draw(st.sampled_from(KINDS))
    made = copy.deepcopy(envelope(kind, payload=VALID[kind], correlationId=draw(st.sampled_from(["a", "b"]))))
    for place in draw(st.lists(st.sampled_from(sorted(PLACES)), min_size=1, max_size=3)):
        if isinstance(made["payload"], dict):
            PLACES[place](made, draw(planted_texts()))
    return made
