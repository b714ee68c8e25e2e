"""How far recovery goes: every limit of this package, in one place."""

from __future__ import annotations

from typing import Final

from emitter.wire import strict

MAX_DEPTH: Final = strict.MAX_DEPTH
"""Containers within containers. A deeper document is not read, by any step."""

MAX_LAYERS: Final = 3
"""How often a document may be wrapped in a JSON string before it is taken for text."""

MENDABLE_CHARS: Final = 2048
"""The longest broken document that json-repair is shown: its worst case grows faster than the text."""

MENDABLE_DEPTH: Final = 16
"""The deepest broken document that json-repair is shown: it recurses."""
