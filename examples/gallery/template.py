"""The pages that pictures are taken of: HTML files beside this one, with places to fill."""

from __future__ import annotations

from pathlib import Path


def filled(name: str, **values: str) -> str:
    """Return a page with each ``{{NAME}}`` replaced."""
    page = Path(__file__).with_name(f"{name}.html").read_text("utf-8")
    for place, value in values.items():
        page = page.replace(f"{{{{{place}}}}}", value)
    return page
