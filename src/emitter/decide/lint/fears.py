"""The words of loss and fear, in English."""

from __future__ import annotations

from emitter.decide.lint.phrases import lexicon

FEARS = lexicon("""
    lose loses losing lost loss losses risk risks risking risky riskier danger dangers dangerous endanger endangers
    endangering catastrophe catastrophic disaster disastrous regret regrets suffer suffers suffering ruin ruins
    ruinous harm harms harmful harming damage damages damaging irreversible irreparable jeopardise jeopardize
    jeopardy threat threatens threaten expose exposes exposing liable liability panic reckless fatal gamble gambles
    gambling crippling devastating severe severely hurt hurts fear afraid worst collapse destroy destroys peril
    perilous
""")
