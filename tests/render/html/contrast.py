"""WCAG's contrast of two colours (2.2, "relative luminance" and "contrast ratio")."""

from __future__ import annotations


def contrast(one: str, other: str) -> float:
    """Return the ratio of two colours such as ``#0e5a5f``, from 1 to 21."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
