"""The digest that names an envelope: a resolution is bound to it.

Source: the abstract of draft-morrison-binding-moment-envelope-03 ("a content digest over the envelope, canonicalized
under JCS and hashed with SHA-256"); EP-RESOLUTION-v1's ``envelope_hash``, over the value of the field.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

from emitter.decide.canonical import Profile, canonical
from emitter.errors import InputError
from emitter.kinds import BindingMoment

if TYPE_CHECKING:
    from emitter.wire import Json

DIGEST_PATTERN: Final = r"^sha256:[0-9a-f]{64}$"
"""The form of every digest, as a pattern of JSON Schema."""

DIGEST_CHARS: Final = len("sha256:") + 64


def digest(moment: BindingMoment) -> str:
    """Return ``sha256:`` and 64 hexadecimal digits, over RFC 8785 of the envelope's wire form.

    Raises ``InputError`` for what is no envelope.
    """
    return digest_of(envelope(moment).to_json())


def envelope(given: object) -> BindingMoment:
    """Return what was given, if it is an envelope; raises ``InputError``: it may have come from untyped code."""
    if not isinstance(given, BindingMoment):
        raise InputError(
            f"An envelope was given as {type(given).__name__}.",
            hint="Give a BindingMoment; emitter.decide.read makes one of its wire form.",
        )
    return given


def digest_of(value: Json, profile: Profile = Profile.ENVELOPE) -> str:
    """Return ``sha256:`` and 64 hexadecimal digits, over RFC 8785 of a JSON value; raises ``NotCanonical``."""
    return f"sha256:{hashlib.sha256(canonical(value, profile)).hexdigest()}"


AnswerCheck: TypeAlias = Callable[[str, str | None], object]
"""Takes the digest of an answer and its signature, and raises ``Tampered`` where the signature does not hold."""


def statement(decision: str, envelope: str, answer: Mapping[str, Json], at: str, channel: str) -> str:
    """Return the digest that a principal signs: of their answer to a decision, ours.

    ``decision`` is what events call it, ``envelope`` the digest of what was asked, and ``answer`` an option with the
    digest of its action, or a salted hash of the words; ``at`` is in ISO 8601. The signature names the principal's key.
    """
    members = {"type": "emitter.answer", "decision": decision, "envelope": envelope, "at": at, "channel": channel}
    return digest_of({**members, "answer": dict(answer)}, Profile.WIRE)


def chosen(index: int, action: str | None) -> Mapping[str, Json]:
    """Return what is signed of the choice of an option, and of what it does."""
    return {"outcome": "selected", "index": index, "action": action}


def is_digest(value: Json) -> TypeGuard[str]:
    """Tell whether ``value`` has the form of a digest."""
    return isinstance(value, str) and len(value) == DIGEST_CHARS and re.match(DIGEST_PATTERN, value) is not None
