"""Images, documents and audio as inputs of an emission.

Pass ``Image``, ``Document`` and ``Audio`` in ``materials=``, in the content of a message, or with texts in a prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.media.inputs import Audio as Audio
    from emitter.media.inputs import Document as Document
    from emitter.media.inputs import Image as Image
    from emitter.media.inputs import media_from_envelope as media_from_envelope
    from emitter.media.inputs import media_kind as media_kind
    from emitter.media.inputs import media_payload as media_payload
    from emitter.prompts import Media as Media
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "inputs": "Audio Document Image media_from_envelope media_kind media_payload",
            ".prompts": "Media",
        },
    )
