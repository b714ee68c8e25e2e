"""Send emissions to a model: settings, request building, transport and results.

``documents`` and ``binding_moments``, which have the public functions, load quickly: they reach the engine through the
names of this package, which are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.client.execution import aexecute as aexecute
    from emitter.client.execution import execute as execute
    from emitter.client.request import prepare_emission as prepare_emission
    from emitter.client.result import Emission as Emission
    from emitter.client.result import Withheld as Withheld
    from emitter.client.settings import Settings as Settings
    from emitter.client.streams import AsyncStream as AsyncStream
    from emitter.client.streams import Stream as Stream
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "execution": "aexecute execute",
            "request": "prepare_emission",
            "result": "Emission Withheld",
            "settings": "Settings",
            "streams": "AsyncStream Stream",
        },
    )
