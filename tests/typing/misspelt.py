"""A name that the package does not have is an error of both type checkers, although its names load on first use.

Never run: mypy and pyright complain where one of these comments has nothing to ignore.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from emitter import emti  # type: ignore[attr-defined]

_ = emti  # pyright: ignore[reportUnknownVariableType]
