"""What the caller sets, whichever door is used, and what is refused before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypedDict, cast

from emitter.clock import Clock, Limits
from emitter.errors import InputError
from emitter.policy import Policy
from emitter.prompt import Material, whole
from emitter.schema.compile import Undeclared
from emitter.sinks import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emitter.sinks import Sink
    from emitter.wire import Json


_UNDECLARED = tuple(each.value for each in Undeclared)


class More(TypedDict, total=False):
    """What few callers set.

    ``instructions``: words of your own for the system prompt, beside the library's. ``prompts``: a folder
    whose files replace the library's prompts of the same name. ``wire``: one of the vendor's wires
    (``openai-chat``, …) where it has several. ``base_url``: where the server is, when no client is passed.
    ``options``: merged into the vendor's request body as they are (for Google: into its
    ``GenerateContentConfig``). ``degrade=False`` refuses a schema that is too large for the vendor, rather
    than have a part of it checked here only. ``undeclared`` says what becomes of properties that an object
    schema is silent about: ``"carry"`` them as text, as is usual for a JSON Schema, or ``"close"`` the object,
    as is usual for a type. ``run_id``, ``node_id``: told in every event; the run's is made up where
    absent. ``clock``: time itself, for tests and replays.
    """

    instructions: str | None
    prompts: str | Path | None
    wire: str | None
    base_url: str | None
    options: Mapping[str, Json]
    degrade: bool
    undeclared: Undeclared | Literal["carry", "close"] | None
    run_id: str
    node_id: str
    clock: Clock


@dataclass(frozen=True, slots=True)
class Settings:
    """All that shapes one emission, whatever is asked for; see ``emit`` and ``More``."""

    model: str
    client: object
    materials: Iterable[Material | str]
    policy: Policy
    sink: Sink | None
    instructions: str | None = None
    prompts: str | Path | None = None
    wire: str | None = None
    base_url: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    degrade: bool = True
    undeclared: Undeclared | Literal["carry", "close"] | None = None
    run_id: str = field(default_factory=new_id)
    node_id: str | None = None
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        if self.client is not None and self.base_url is not None:
            raise InputError("Both client= and base_url= were given.", hint="Give the address to the client.")
        check_kind("policy", self.policy, Policy)
        if self.instructions is not None:
            whole("instructions", self.instructions)
        if self.undeclared is not None and self.undeclared not in _UNDECLARED:
            known = ", ".join(_UNDECLARED)
            raise InputError(f"undeclared is {self.undeclared!r}; it must be one of {known}, or None.")

    def limits(self) -> Limits:
        """Return how long calls and the whole may take."""
        return Limits(self.policy.timeout, self.policy.deadline, self.clock)

    def shown(self) -> list[Material]:
        """Return the materials, plain texts among them as trusted ones."""
        texts = listed("materials", self.materials, (str, Material), "the texts, or Materials")
        return [each if isinstance(each, Material) else Material(cast("str", each)) for each in texts]


def listed(name: str, given: object, single: tuple[type, ...], what: str) -> Iterable[object]:
    """Return a setting that is a list; refuse a single one of its members, which may itself be iterable."""
    if isinstance(given, single) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a list.", hint=f"Put {what} into one.")
    return cast("Iterable[object]", given)


def check_kind(name: str, given: object, kind: type) -> None:
    """Refuse a setting of another type."""
    if not isinstance(given, kind):
        raise InputError(f"{name} is of type {type(given).__name__}; it must be a {kind.__name__}.")
