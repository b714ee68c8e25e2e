"""The words that the comparison of questions knows; all else about it is in ``said`` and ``question``.

The tables are this library's own. They hold what is common in questions for a decision, in English first, with the
little words of some other languages: a word that stands in none is compared as it is.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH: Final = _words(
    "a an the this that these those it its he she they them their we us our ours you your yours i me my mine "
    "is are was were be been being am do does did done doing have has had having will would shall should can could "
    "may might must ought let lets want wants wish like prefer need needs go goes going proceed carry make makes made "
    "take takes get gets give given happen happens handle handled deal dealt "
    "and or but if then than so as at by for from in into of off on onto out over to up upon with within about "
    "against between through via per under during until till "
    "what which who whom whose how when where why whether "
    "please ok okay yes yeah also just only still yet too very really any some all both each every there here "
    "one ones other another same such"
)
"""Articles, pronouns, prepositions, modal and light verbs, and what begins a question."""

FOREIGN: Final = _words(
    "der die das den dem des ein eine einen einem einer eines und oder aber wir ihr sie ich es uns soll sollen sollte "
    "sollten wollen will möchten kann können darf dürfen wird werden ist sind im am zum zur auf an mit von für bei aus "
    "le la les l un une des du de d et ou nous vous il elle on faut doit devons devrions peut pouvons est sont au aux "
    "en dans sur avec pour par que qui quoi "
    "el los las una unos y o nosotros debemos deberíamos debe puede podemos es son al del con por para qué "
    "lo gli i uno e dobbiamo dovremmo deve può è sono di da con per che "
    "os as um uma devemos deve pode é são ao do da dos das com em no na "
    "het een wij we moeten moet kunnen kan is zijn van voor met te op"
)
"""The same few of German, French, Spanish, Italian, Portuguese and Dutch."""

STOP: Final = ENGLISH | FOREIGN
"""What says nothing of what a question is about."""

NEGATORS: Final = _words(
    "not no never without neither nor none cannot nicht kein keine keinen keiner nie ohne ne pas non jamais sans "
    "nunca sin niet geen nooit não nem sem mai senza нет не ни"
)
"""Words that turn a question round."""

INNER: Final = _words("no without neither nor none never ohne sans sin sem senza без kein keine keinen")
"""Negators of a part of a question only."""

RELATIVE: Final = _words("who whom whose which that where because if unless until although though")
"""Words after which a negation is of what they begin, where they do not begin the question."""

LIMITING: Final = _words(
    "only partial partially temporary temporarily provisional provisionally readonly staging canary pilot trial half "
    "affected unaffected once if unless until except excluding instalment installment subset sample selected draft "
    "before after encrypted interim limited restricted anonymised anonymized redacted"
)
"""What narrows a question, however much of it stays as it was."""

CONDITIONS: Final = _words("if unless until once provided only except")
"""What a clause begins with under which all the rest stands."""

JOINING: Final = _words("and but or so then please")
"""What may stand before it."""

ACTS: Final = _words(
    "is are was were be been being am do does did done doing have has had having will would shall should can could may "
    "might must ought let lets want wants wish like prefer need needs go goes going proceed carry make makes made take "
    "takes get gets give given happen happens handle handled deal dealt we i you they it he she just still yet too "
    "very really also please and or then so"
)
"""Those of the little words of English after which a word does not say which of the next is meant."""

FILLING: Final = _words(
    "current present said aforementioned above proposed planned pending scheduled usual regular existing requested "
    "mentioned outstanding important urgent relevant respective entire whole full complete actual given following "
    "necessary required intended discussed upcoming"
)
"""What may stand before any word and says nothing of which is meant."""

WORDLESS_NEGATORS: Final = ("不", "没", "沒", "勿", "別", "别", "ない", "なく", "ません", "ไม่")
"""The same in scripts that put no spaces between words, wherever they stand."""

OBJECTING: Final = _words(
    "wrong question questions ask asks asked asking answer answers option options choice choices choose decide "
    "decided deciding decision decisions frame framing premise premises assume assumes assumed assumption point matter "
    "matters issue issues problem thing things think thought believe see say says said know mean means ready ripe "
    "right sense different first instead rather actually real bad better good object objection reopen discuss "
    "reconsider consider again because since "
    "early late later soon sooner rest rests false true stop stops trust understand explain explained deliberate "
    "premature nonsense stupid silly absurd ridiculous hmm hm um eh huh wtf lol wow no nope call look looks missing "
    "busy tomorrow maybe perhaps never always enough time wait waiting moment tell telling talk sure unsure certain "
    "clear unclear confused confusing vague idea reason reasons why sorry thanks thank ready done quite much more less "
    "little big hard easy simple care bother annoying annoyed hate ignore ignored read listen try tired useless "
    "pointless irrelevant misleading unfair leading loaded biased crap shit damn hell today yesterday"
)
"""What an objection says of the question as such, and not of what it overlooks."""

_COUNTED: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
NUMBERS: Final = {
    **{word: str(value) for value, word in enumerate(_COUNTED.split()) if word != "one"},  # which is mostly a pronoun
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "hundred": "100",
}

OWNS: Final = "\u00a7"
"""What stands for the ending of an owner, and is no part of a word."""

PHRASES: Final = (
    (r"n['\u2019]t\b", " not"),
    (r"['\u2019]s\b", OWNS),
    (r"\bonce\s+(?:more|again)\b", ""),
    (r"\bafter\s+all\b", ""),
    (r"\bread[\s-]only\b", "readonly"),
    (r"\b(?:v|versions?\s+v?)(?=\d)", ""),
    (r"\bor\s+not\b", ""),
    (r"\b(re|un|pre|de|co|non)-(?=\w)", r"\1"),
    (r"\broll(?:ed|ing|s)?\s+back\b", "rollback"),
    (r"\broll(?:ed|ing|s)?\s+out\b", "rollout"),
    (r"\b(?:turn|switch|shut)(?:ed|ing|s)?\s+(?:off|down)\b", "disable"),
    (r"\b(?:turn|switch)(?:ed|ing|s)?\s+on\b", "enable"),
    (r"\b(?:put|hold|held)\s+off\b", "postpone"),
    (r"\bset(?:ting)?\s+up\b", "create"),
    (r"\bget(?:ting)?\s+rid\s+of\b", "delete"),
)
"""Words that mean one thing together, and what takes their place."""

TIMES: Final = {"k": 3, "thousand": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9}
"""The power of ten that a word after a number stands for."""

CURRENCIES: Final = {
    "$": "usd",
    "€": "eur",
    "£": "gbp",
    "¥": "jpy",
    "dollar": "usd",
    "dollars": "usd",
    "euro": "eur",
    "euros": "eur",
    "pound": "gbp",
    "pounds": "gbp",
    "yen": "jpy",
}

CONCEPTS: Final = (
    ("keep retain preserve kept", "delete remove erase purge drop discard wipe deletion removal"),
    (
        "approve accept confirm authorise authorize agree allow permit grant approval",
        "reject decline deny refuse forbid block revoke denial refusal",
    ),
    ("enable activate", "disable deactivate"),
    ("start begin launch commence begun began", "stop halt end terminate abort cancel cease"),
    ("resume continue unpause", "pause suspend interrupt"),
    ("increase raise grow expand", "decrease reduce lower shrink cut"),
    ("buy purchase acquire bought", "sell sold"),
    ("publish post", "unpublish retract"),
    ("deploy ship rollout roll", "rollback revert"),
    ("open reopen", "close shut"),
    ("lock freeze", "unlock unfreeze thaw"),
    ("include add insert", "exclude omit"),
    ("subscribe enrol enroll", "unsubscribe"),
    ("upgrade update", "downgrade"),
    ("hire recruit employ", "fire dismiss"),
    ("share disclose reveal expose", "withhold hide conceal"),
    ("release free unblock", "hold"),
    ("encrypt", "decrypt"),
    ("mount attach connect join link", "unmount detach disconnect leave unlink"),
    ("renew extend prolong renewal extension", "expire lapse"),
    ("send transmit forward dispatch email mail sent", ""),
    ("pay remit settle transfer wire paid payment transferral", ""),
    ("postpone delay defer reschedule", ""),
    ("schedule book reserve arrange booking", ""),
    ("restart reboot", ""),
    ("restore recover", ""),
    ("move migrate relocate migration", ""),
    ("sign", ""),
    ("choose pick select use adopt opt", ""),
    ("fix repair patch correct", ""),
    ("replace swap substitute exchange", ""),
    ("inform notify tell alert notification", ""),
    ("check verify review inspect audit", ""),
    ("refund reimburse", ""),
    ("merge combine", ""),
    ("customer client", ""),
    ("supplier vendor provider", ""),
    ("employee staff worker", ""),
    ("document file", ""),
    ("bug defect fault", ""),
    ("money funds", ""),
    ("bill invoice", ""),
    ("agreement contract", ""),
    ("meeting appointment", ""),
    ("db database", ""),
    ("prod production", ""),
    ("repo repository", ""),
    ("now immediately today", ""),
    ("before", "after"),
    ("permission access right", ""),
    ("picture image photo", ""),
    ("tonight evening", ""),
    ("color colour", ""),
    ("center centre", ""),
    ("license licence", ""),
    ("program programme", ""),
)
"""Words that mean the same in a question for a decision, and those that mean the opposite."""
