"""Characters that pass for the letters of the Latin alphabet.

Source: Unicode Technical Standard 39 (confusables), of which these tables hold what passes for such a letter and little
else.
"""
# ruff: noqa: RUF001  the tables are of characters that pass for others

from __future__ import annotations

from typing import Final


def _pairs(table: str) -> dict[str, str]:
    return {pair[0]: pair[2] for pair in table.split()}


CYRILLIC: Final = _pairs(
    "а=a в=b г=r е=e ё=e ѕ=s і=i ї=i ј=j к=k м=m н=h о=o п=n р=p с=c т=t у=y х=x ԁ=d ԛ=q ԝ=w һ=h ӏ=l ь=b ѵ=v"
)
CYRILLIC_CAPITALS: Final = _pairs("А=A В=B Е=E Ѕ=S І=I Ј=J К=K М=M Н=H О=O Р=P С=C Т=T У=Y Х=X Ԁ=D Ԛ=Q Ԝ=W Һ=H Ӏ=I")
GREEK: Final = _pairs("α=a ε=e η=n ι=i κ=k ν=v ο=o ρ=p σ=o τ=t υ=u χ=x ω=w")
GREEK_CAPITALS: Final = _pairs("Α=A Β=B Ε=E Ζ=Z Η=H Ι=I Κ=K Μ=M Ν=N Ο=O Ρ=P Τ=T Υ=Y Χ=X")
DRAWN: Final = _pairs(
    "ɑ=a ɡ=g ɩ=i ᴀ=a ʙ=b ᴄ=c ᴅ=d ᴇ=e ꜰ=f ɢ=g ʜ=h ɪ=i ᴊ=j ᴋ=k ʟ=l ᴍ=m ɴ=n ᴏ=o ᴘ=p ʀ=r ꜱ=s ᴛ=t ᴜ=u ᴠ=v ᴡ=w ʏ=y ᴢ=z"
) | {chr(first + place): chr(ord("a") + place) for first in (0x1F150, 0x1F170) for place in range(26)}
"""Small capitals, and letters in circles and squares, which no word is written in."""
