"""The four universal kinds, as a host takes them."""

from __future__ import annotations

from typing import Final

from emitter.accept.catalogue.kind import Kind, canonical
from emitter.accept.catalogue.rules import IdsDiffer
from emitter.kinds.universal import CLARIFICATION_REQUEST, UNIVERSAL

_ADVICE = {CLARIFICATION_REQUEST: (IdsDiffer(("questions",)),)}

UNIVERSAL_KINDS: Final = tuple(
    Kind(kind_id, 1, canonical(kind_id, schema), advice=_ADVICE.get(kind_id, ()))
    for kind_id, schema in UNIVERSAL.items()
)
"""All at version 1, the only one there is."""
