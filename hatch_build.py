"""Makes the description that a package index shows: the README without links and images of the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_TARGET = r"\((?!https?:|#)[^)]*\)"
_IMAGE = re.compile(rf"!\[[^\]]*\]{_TARGET}\n*")
_LINK = re.compile(rf"\[([^\]]+)\]{_TARGET}")


class CustomMetadataHook(MetadataHookInterface):
    """Sets the readme. An index has only this text, so that relative addresses lead nowhere there."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the readme to the project's metadata."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": _LINK.sub(r"\1", _IMAGE.sub("", text))}
