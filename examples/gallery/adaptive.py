"""The Adaptive Card as Microsoft's own renderer draws it: the npm package ``adaptivecards``, fetched when needed."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from examples.gallery.decision import MOMENT
from examples.gallery.template import filled

from emitter.render.adaptive_card import RENDERER

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "3.0.6"


def page(folder: Path) -> str:
    """Return a page that draws the card; the renderer is put into ``folder``."""
    package = ["npm", "install", "--silent", "--no-save", "--prefix", str(folder), f"adaptivecards@{VERSION}"]
    subprocess.run(package, check=True)
    script = folder.joinpath("node_modules/adaptivecards/dist/adaptivecards.min.js").read_text("utf-8")
    card = json.dumps(RENDERER.draw(MOMENT)).replace("<", "\\u003c")
    return filled("adaptive", SCRIPT=script.replace("</script", "<\\/script"), CARD=card)
