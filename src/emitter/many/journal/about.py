"""Digests of what the caller asks for, by which a journal knows a run and a job.

They leave out the library's own prompts, so a journal can be used with the next release.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.conversation.forms import table
from emitter.moment.after import continuations
from emitter.schema.compile import Constant

if TYPE_CHECKING:
    from emitter.door.form import Wanted
    from emitter.door.plan import Plan
    from emitter.door.settings import Settings
    from emitter.many.job import Job
    from emitter.wire import Json

_SIZE = 16
"""Bytes of a digest; it tells apart, and secures nothing."""


@dataclass(frozen=True, slots=True)
class About:
    """What all answers of a run have in common; ``schema``, ``words`` and ``options`` are digests.

    ``schema`` is the caller's; a form of the library's own has none, since each answer is checked when it is read.
    ``words`` are the caller's instructions, prompts, materials and examples, and the terms of a decision.
    """

    kind: str
    name: str
    model: str
    wire: str
    schema: str
    words: str
    options: str

    def to_json(self) -> dict[str, str]:
        """Return it as it stands in the first line."""
        return asdict(self)


def about(wanted: Wanted, settings: Settings, probe: Plan) -> About:
    """Return what the emissions of a run have in common; ``probe`` is the plan of any of them."""
    request = probe.ask.request
    own_form = isinstance(wanted.schema, Constant)
    words = [
        settings.instructions,
        _overrides(settings.prompts),
        list(settings.materials),
        list(wanted.examples),
        list(wanted.terms),
    ]
    return About(
        kind=wanted.kind,
        name=request.output.name,
        model=f"{probe.profile.name}/{request.model}",
        wire=probe.wire.value,
        schema="" if own_form else _digest(probe.ask.contract.compiled.original),
        words=_digest(words),
        options=_digest(dict(request.options)),
    )


def _overrides(folder: str | Path | None) -> dict[str, str]:
    """Return the caller's prompts, by their file's name."""
    files = [] if folder is None else sorted(Path(folder).glob("*.md"))
    return {each.name: each.read_text(encoding="utf-8") for each in files}


def digest(job: Job) -> str:
    """Return a digest of what is asked of one job: its situation, its materials, its past and its actions."""
    return _digest([job.situation, list(job.materials), list(continuations(job.after)), dict(job.actions)])


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_SIZE).hexdigest()


def _plain(value: object) -> object:
    """Return an SDK's message as a mapping, and anything else as it describes itself."""
    members = table(value)
    return repr(value) if members is None else dict(members)
