"""The door to documents of the caller's own form: ``emit`` and its async twin."""

from emitter.document.checks import Check as Check
from emitter.document.door import aemit as aemit
from emitter.document.door import emit as emit
