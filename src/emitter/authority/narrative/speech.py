"""The verbs by which a source is quoted, in English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.phrases import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator


def _forms(verbs: str) -> frozenset[str]:
    """Return the forms of some regular verbs: what one says, what many say, what was said."""
    return frozenset(form for verb in verbs.split() for form in _inflected(verb))


def _inflected(verb: str) -> Iterator[str]:
    stem, third, past = verb, "s", "ed"
    if verb.endswith("e"):
        past = "d"
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        stem, third, past = verb[:-1], "ies", "ied"
    elif verb.endswith(("s", "sh", "ch", "x")):
        third = "es"
    yield from (verb, f"{stem}{third}", f"{stem}{past}")


SAYS = _forms("""
    say state indicate describe suggest recommend advise argue explain mention specify define assert conclude warn
    report note claim announce allege acknowledge emphasise emphasize stress believe predict propose insist deny
    quote cite caution estimate remark contend testify recount posit hypothesise hypothesize speculate opine comment
    reply declare promise recall complain outline discuss characterise characterize portray depict summarise
    summarize reiterate counter object reason concede confess contest underline highlight imply list name stipulate
    suspect
""") | lexicon("said wrote write writes tell tells told submits submitted refers referred refer reads")
"""Verbs whose subject speaks, whatever it is."""

SPEAKS = _forms("""
    show add maintain observe identify require provide confirm reveal classify rate call agree prescribe demonstrate
    consider regard ask mark attribute mandate permit prohibit exclude include date trace rank treat distinguish
    compare ascribe credit blame praise criticise criticize dismiss reject assume expect project forecast calculate
    value assign dub term deem judge rule order instruct direct oblige entitle grant spell point cover contrast
    question doubt advocate favour favor paint present contain count suspect guess hope fear admit forbid teach hold
    set put give class measure locate place link connect demand urge invite allow omit bar ban attest aver avow
    assure remember recollect forecast speak talk swear vouch
""") | lexicon("spoke swore gave taught held forbade admitted permitted omitted think thinks thought overruled")
"""Verbs whose subject speaks where it is a source, or what it says follows with "that"."""

SPEAKS_OF = frozenset(
    (verb, after)
    for verbs, words in (
        ("speak speaks spoke talk talks talked", "of about"),
        ("ask asks asked call calls called", "for"),
        ("vouch vouches vouched", "for"),
        ("swear swears swore", "to by"),
    )
    for verb in verbs.split()
    for after in words.split()
)
"""What such a verb goes on with, and says something all the same."""

INFERS = _forms("suggest indicate imply predict underline highlight reason argue counter conclude") | lexicon(
    "tell tells told"
)
"""Those of ``SAYS`` that are said of symptoms and trends as well: here somebody has to be known to speak."""

RECORDS = _forms("record document detail") | lexicon("find finds found")
"""Verbs that say something only with "that": else they are what is done, or what is kept."""

NOUNS_TOO = _forms("state report note claim list name estimate comment object reason promise quote counter state")
"""Those of ``SAYS`` that are nouns as well."""
