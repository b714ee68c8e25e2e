"""What a model can provide, in OpenWOP's words, and the facts of it that follow from no other table.

Source: RFC 0031, section C, and RFC 0055.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated

from pydantic import AfterValidator

from emitter.profile.facts import Facts


class Capability(str, Enum):
    """The capabilities whose names are reserved."""

    STRUCTURED_OUTPUT = "structured-output"
    """A schema holds the model while it writes."""
    DISCRIMINATOR_ENUM = "discriminator-enum"
    """That schema may be a union whose branches name themselves."""
    LONG_CONTEXT = "long-context"
    """The window holds 200,000 tokens or more."""
    REASONING = "reasoning"
    """The model thinks by itself, apart from its answer."""
    FUNCTION_CALLING = "function-calling"
    """The model can be made to call a function."""
    VISION_INPUT = "vision-input"
    AUDIO_INPUT = "audio-input"
    AUDIO_OUTPUT = "audio-output"
    IMAGE_OUTPUT = "image-output"


_ID = re.compile(r"[a-z][a-z0-9-]*|x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*")
_OWN = re.compile(r"x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*")
_RESERVED = frozenset(each.value for each in Capability)


def is_id(text: str) -> bool:
    """Tell whether a node may require ``text``; nobody needs to know it."""
    return _ID.fullmatch(text) is not None


def _known(text: str) -> str:
    """Return an id that a profile may state; pydantic makes a sentence of the ``ValueError``."""
    if text not in _RESERVED and _OWN.fullmatch(text) is None:
        raise ValueError(f"must be one of {', '.join(sorted(_RESERVED))}, or x-host-<host>-<key>")
    return text


class Abilities(Facts):
    """What the models whose name matches ``match`` provide, beyond what other tables say of them.

    ``provides`` may be empty, for models that a later row would wrongly take in.
    """

    match: str
    provides: frozenset[Annotated[str, AfterValidator(_known)]]
