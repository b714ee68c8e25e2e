"""The educational mode: what is so in general, said to nobody and of no case at hand.

Nobody is addressed, and nothing is pointed at: "your result", "this patient", "in the present case", "the attached".
What points at a case is ours; RFC-0010 names only the mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.decide.lint.phrases import Phrases, lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.authority.narrative.reading import Sentence

ADDRESSED: Final = lexicon("you your yours yourself yourselves")
_CASE: Final = (
    "patient|patients|applicant|applicants|customer|customers|client|clients|claimant|claimants|borrower|borrowers|"
    "tenant|tenants|employee|employees|student|students|candidate|candidates|driver|defendant|user|member|policyholder|"
    "case|cases|claim|claims|transaction|transactions|invoice|invoices|result|results|account|accounts|report|reports|"
    "scan|scans|image|images|photo|photos|x-ray|contract|contracts|document|documents|order|orders|request|requests|"
    "lesion|mole|rash|tumour|tumor|sample|samples|specimen|biopsy|policy|loan|loans|application|applications|file|"
    "values|value|readings|reading|test|tests|payment|payments|receipt|email|message|letter|complaint|shipment|"
    "parcel|product|device|property|house|vehicle|car|person|individual|child|man|woman|company|firm|"
    "clause|lease|agreement|deed|estate|decision|ruling|dispute|incident|accident|injury|diagnosis|prescription|charge|"
    "bill|quote|offer|bid|deal|portfolio|purchase|refund|ticket|booking|flight|delivery|package|machine|server|alert|"
    "filing|return|statement|record|records|submission|essay|candidate's|symptoms|signature|passport|batch|situation"
)
_ADJECTIVE: Final = (
    "particular|specific|lab|blood|test|medical|legal|individual|same|very|new|old|young|female|male|latest|last|"
    "first|second|credit|bank|tax|insurance|last|suspicious|pending|current"
)
_HANDED: Final = "uploaded|submitted|attached|enclosed|supplied|provided|described|forwarded|pasted|sent|shared"
_GIVEN: Final = frozenset(_HANDED.split("|"))
_ON: Final = lexicon("by to with in for on at from as of about and or that when through under")
_NO_NOUN: Final = lexicon("is are was were be been being has have had can may will when if as not and or often also to")
_POINTS: Final = Phrases.of(
    f"this|that|these|those [{_ADJECTIVE}] [{_ADJECTIVE}] {_CASE}",
    f"our|my [{_ADJECTIVE}] {_CASE}",
    "in|of|for|on|with this|that|the [particular|specific|present|current|given|very] case",
    "the [very] present|current|instant case|matter|claim|application|patient|dispute|request|applicant",
    f"the .. {_CASE} at hand|issue",
    f"the [{_ADJECTIVE}] {_CASE} in question|issue",
    f"the [{_ADJECTIVE}] {_CASE} above|below|here|attached|enclosed|submitted|provided|uploaded|shown",
    f"the attached|enclosed|uploaded|submitted|aforementioned|above-mentioned|said [{_ADJECTIVE}] {_CASE}",
    "the case at hand",
    "this|that|these|those specific|particular",
    "i [have] looked|reviewed|checked|examined|analysed|analyzed|compared|assessed|inspected",
    f"that|which was|were|is|you {_HANDED}",
    "my",
    "in|on the photo|image|scan|screenshot|attachment|upload|x-ray",
    "in the situation described|given|shown",
)
_NEAR: Final = 3
"""So many words after "the" at most stands what says that it was handed over: "the two figures provided"."""


def particulars(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield where a sentence addresses somebody, or points at a case."""
    for clause in sentence.clauses:
        for at, word in enumerate(clause.words):
            if word in ADDRESSED or _points(clause.words, at):
                yield clause.places[at]


def _points(words: Sequence[str], at: int) -> bool:
    word = words[at]
    if word in _GIVEN:
        return (
            words[0] == "the"
            and 0 < at <= _NEAR
            and words[at - 1] not in _NO_NOUN
            and not _ON & set(words[at + 1 : at + 2])
        )
    if word == "that" and at > 0 and words[at - 1] not in _ON:
        return False
    return words == ("here",) or (word in _POINTS.beginnings and _POINTS.begin(words, at))
