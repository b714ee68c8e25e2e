"""The door to documents of the caller's own form: ``emit`` and ``stream``, with their async twins."""

from emitter.document.checks import Check as Check
from emitter.document.door import aemit as aemit
from emitter.document.door import emit as emit
from emitter.document.streaming import astream as astream
from emitter.document.streaming import stream as stream
