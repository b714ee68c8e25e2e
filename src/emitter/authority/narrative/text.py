"""Normalize a narrative's text and split it into sentences and clauses.

Look-alike letters are folded, invisible characters removed, and every position maps back to the original text.

Source: Unicode NFKC and the general categories; UTS 39.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Final

from emitter.checks.text import word_set
from emitter.render.safe_text import to_skeleton
from emitter.visible_text import INVISIBLE_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PLAIN: Final = re.compile(r"[\t\n !-%'()+-;=?-\[\]^{|}a-z]*+")
"""ASCII that is displayed as it is written: without the marks of Markdown, HTML or TeX and control characters."""
_PIECE: Final = re.compile(
    r"(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});)"
    r"|(?P<line></?(?:br|p|div|li|ul|ol|tr)\s?/?>)"
    r"|(?P<item>(?<![^\n])\*(?=[ \t]))"
    r"|(?P<space>\\[,;:! ])"
    r"|(?P<nothing></?(?:b|i|u|em|strong|sub|sup|span|mark|small|code|wbr)\s?/?>"
    r"|\\(?:text|mathrm|rm|mathbf|textbf)\{|[*`~]|(?<![^\W_])_|_(?![^\W_]))"
    r"|(?P<character>.)",
    re.DOTALL,
)
_SPACED: Final = re.compile(r"(?<![^\W_])[^\W_](?![^\W_])(?:[ .\-_\u00b7]{1,3}[^\W_](?![^\W_])){3,}+")
"""A word with a separator between its letters."""
_LINES: Final = frozenset("\n\x0b\x0c\x85\u2028\u2029")
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me"})
_REPLACEMENTS: Final = {
    **dict.fromkeys("\u201c\u201e\u201f\u00ab\u300c\u300e\u2039", "\u201c"),
    **dict.fromkeys("\u201d\u00bb\u300d\u300f\u203a", "\u201d"),
    **dict.fromkeys("\u2018\u2019\u02bc\uff07\u00b4", "'"),
    **dict.fromkeys("\u2010\u2011\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2012\u2013", "\u2013"),
    **dict.fromkeys("\u2014\u2015\u2e3a", "\u2014"),
    **dict.fromkeys("\u3002\uff61", ". "),
    "\uff01": "! ",
    "\uff1f": "? ",
    "\u066a": "%",
    "\u00b7": "\u00b7",
    "\u2022": "\u2022",
}
_LOOKALIKES_OF_I: Final = frozenset("\u0456\u0457\u0406\u0407\u03b9\u0399\u0131\u0269\u026a")
"""Characters that look like an i, which ``to_skeleton`` would turn into an l."""
_FRACTION_SLASH: Final = "\u2044"


@dataclass(frozen=True, slots=True)
class VisibleText:
    """The text as it is displayed, with the start and end of each character in the original text."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original text of a part, which must have at least one character."""
        return self.starts[start], self.ends[end - 1]


def to_visible_text(text: str) -> VisibleText:
    """Return a text as it is displayed, in linear time."""
    whole = range(len(text) + 1)
    return VisibleText(text, whole[:-1], whole[1:]) if _PLAIN.fullmatch(text) else _map_visible(text)


def _map_visible(text: str) -> VisibleText:
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece in _PIECE.finditer(text):
        visible = _visible_piece(piece)
        if not visible and ends and piece.lastgroup == "character":
            ends[-1] = piece.end()  # an invisible character belongs to the one before it
        for character in visible:
            characters.append(character)
            starts.append(piece.start())
            ends.append(piece.end())
    return VisibleText("".join(characters), starts, ends)


def _visible_piece(piece: re.Match[str]) -> str:
    match piece.lastgroup:
        case "character":
            return normalize_character(piece[0])
        case "entity":
            return "".join(map(normalize_character, unescape(piece[0])))
        case "line":
            return "\n"
        case "item":
            return "-"
        case "space":
            return " "
        case _:
            return ""


@lru_cache(maxsize=8192)
def normalize_character(character: str) -> str:
    """Return the ASCII that a character looks like, the character if there is none, or "" if it is invisible."""
    if character in _REPLACEMENTS:
        return _REPLACEMENTS[character]
    if character.isspace():
        return "\n" if character in _LINES else " "
    if character in INVISIBLE_CHARACTERS or unicodedata.category(character) in _INVISIBLE_CATEGORIES:
        return ""
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    return _compatible(character, unicodedata.normalize("NFKC", character))


def _compatible(character: str, plain: str) -> str:
    if _FRACTION_SLASH in plain:
        return f" {plain.replace(_FRACTION_SLASH, '/')}"
    letters = "".join(each for each in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(each))
    if letters.isascii():
        return letters
    alike = "i" if character in _LOOKALIKES_OF_I else to_skeleton(plain)
    return alike.upper() if character.isupper() else alike


def join_spaced_words(text: VisibleText) -> VisibleText:
    """Return a text with the spaces and marks removed between the letters of words such as ``w o r d``."""
    runs = [each.span() for each in _SPACED.finditer(text.text)]
    if not runs:
        return text
    kept = list(_iter_positions(runs, text.text))
    return VisibleText(
        "".join(text.text[place] for place in kept),
        [text.starts[place] for place in kept],
        [text.ends[place] for place in kept],
    )


def _iter_positions(runs: list[tuple[int, int]], text: str) -> Iterator[int]:
    place = 0
    for start, end in runs:
        yield from range(place, start)
        yield from (each for each in range(start, end) if text[each].isalnum())
        place = end
    yield from range(place, len(text))


_LEET_FORMS: Final = {
    "a": "a4@",
    "e": "e3",
    "i": "i1!|",
    "l": "l1|",
    "o": "o0",
    "s": "s5$",
    "t": "t7",
    "0": "0o",
    "1": "1il",
}
_BETWEEN: Final = r"[\W_]{0,3}"
_FUNCTION_WORDS: Final = word_set("""
    a an and are as at be by can do for go he if in is it may me my no not of on or our she so that the they this to up
    us was we what who will you
""")


@lru_cache(maxsize=256)
def spelling_pattern(phrases: tuple[str, ...], *, acronyms: bool = False) -> re.Pattern[str] | None:
    """Return a pattern of words and phrases; with ``acronyms``, function words ("WHO") match in capitals only."""
    parts = [
        part for each in phrases if (part := _spelling_regex(to_visible_text(each).text.strip(), acronyms=acronyms))
    ]
    return re.compile("|".join(parts)) if parts else None


def find_spellings(phrases: tuple[str, ...], text: str, *, acronyms: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the places of words and phrases in a visible text."""
    compiled = spelling_pattern(phrases, acronyms=acronyms)
    if compiled is not None:
        yield from (each.span() for each in compiled.finditer(text))


def _spelling_regex(phrase: str, *, acronyms: bool) -> str:
    letters = [each for each in phrase if each.isalnum()]
    if not letters:
        return re.escape(phrase)
    if acronyms and phrase.casefold() in _FUNCTION_WORDS:
        return _with_boundaries(letters, _BETWEEN.join(map(re.escape, "".join(letters).upper())))
    folded = "".join(letters).casefold()
    body = _BETWEEN.join(f"[{re.escape(_LEET_FORMS.get(each, each))}]" for each in folded)
    return _with_boundaries(letters, f"(?i:{body})")


def _with_boundaries(letters: list[str], body: str) -> str:
    """Return a pattern with word boundaries, in the scripts that separate words."""
    before = r"(?<![^\W_])" if _is_spaced(letters[0]) else ""
    after = r"(?![^\W_])" if _is_spaced(letters[-1]) else ""
    return f"{before}{body}{after}"


def _is_spaced(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()


_SENTENCE_END: Final = re.compile(
    r"(?:[!?]|\.(?!\s*[a-z]))+[\"\u201d')\]]*(?:\s+|(?=[A-Z])|\Z)|;\s*|\n(?=[ \t]*(?:[\nA-Z\d\u201c\"\u2022]|-[ \t]))"
)
_ABBREVIATED: Final = re.compile(
    r"(?:(?<![^\W_])(?:dr|mr|mrs|ms|mx|prof|st|vs|figs?|secs?|nos?|art|approx|ca|vol|ed|al|cf|g|e|messrs|rev|hon|inc)"
    r"|(?<![^\W_])[^\W\d_]|(?:\A|\n)[ \t]*\d{1,3})\.[ \t]*\Z",
    re.IGNORECASE,
)
_STARTER: Final = re.compile(r"(?:The|It|This|That|These|Those|He|She|They|We|You|I|There|In|On|If|When|And|But)\b")
_LOOK_BACK: Final = 12
_LONGEST: Final = 5_000
"""Maximum length of a sentence, in characters. A longer one is split."""


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence of a visible text, in linear time."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if _STARTER.match(text, end.end()) or not _ABBREVIATED.search(
            text[max(start, end.end() - _LOOK_BACK) : end.end()]
        ):
            yield from _trim(text, start, end.end())
            start = end.end()
    yield from _trim(text, start, len(text))


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the trimmed span of a part that has a letter or digit; a very long part in pieces."""
    for place in range(start, end, _LONGEST):
        part = text[place : min(place + _LONGEST, end)]
        if any(map(str.isalnum, part)):
            yield place + len(part) - len(part.lstrip()), place + len(part.rstrip())


def _any(words: str) -> str:
    """Return a pattern that matches any of the words, the longest first."""
    return "|".join(sorted(words.split(), key=len, reverse=True))


_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS_WORDS: Final = "twenty thirty forty fourty fifty sixty seventy eighty ninety"
_GREAT_NUMBERS: Final = "hundred thousand million billion trillion dozen"
SPELT: Final = rf"(?i:(?:{_any(f'{_SMALL} {_TENS_WORDS} {_GREAT_NUMBERS}')}))"
_IDIOM: Final = r"(?!(?i:one[\s-]+(?:day|time|night|moment|evening|morning|unit|point|minute|second)(?!\w)))"
_WORDS: Final = (
    rf"(?>{_IDIOM}(?i:(?:an?|half|quarter)\s+(?:an?\s+)?(?=(?:{_any(_GREAT_NUMBERS)})))?{SPELT}"
    rf"(?:[\s-]*(?:(?i:and)[\s-]+(?:(?i:a)[\s-]+)?)?(?:{SPELT}|(?i:half|quarter))){{0,9}})"
)
_HALVES: Final = (
    r"(?i:half[\s-]+(?:an?|of\s+an?|the)|half|quarter[\s-]+(?:of[\s-]+)?an?|an?\s+half|an?\s+quarter\s+of\s+an?)"
)
DIGITS: Final = r"(?:\d++(?:[ ,.'_/\u00b7]\d++){0,12}+)"
_LEET: Final = r"(?:(?=[OoIl]{0,6}\d)[\dOoIl]{1,12})"
_MAGNITUDE: Final = rf"(?:[\s-]{{0,2}}(?:(?i:{_any(_GREAT_NUMBERS)}|mio|mn|bn)|[kKmM])(?![^\W_]))?"
_HALF_MORE: Final = r"(?:\s+(?i:and\s+a\s+(?:half|quarter)))?"
_POWER: Final = r"(?:[eE][+-]?\d{1,3}(?![^\W_]|[.,]\d))?"
NUMBER: Final = rf"(?:(?:{DIGITS}{_POWER}|{_LEET}){_MAGNITUDE}|{_WORDS}){_HALF_MORE}"
_TO: Final = r"(?:\s{0,3}(?:-|\u2013|\u2014|/|x|(?i:to|and|or|through|until))\s{0,3})"
RANGE: Final = rf"(?:{NUMBER}(?:{_TO}{NUMBER})?|{_HALVES})"
_SIZES: Final = "kilo milli micro nano centi deci mega giga tera hecto"
_MEASURES: Final = (
    "gram gramme metre meter litre liter watt volt amp ampere ohm hertz joule newton pascal byte bit mole calorie "
    "second sievert gray lux lumen becquerel"
)
_PREFIXED: Final = rf"(?:{_any(_SIZES)})?(?:{_any(_MEASURES)})s?"
_LONG: Final = (
    "kilo kilos ton tons tonne tonnes ounce ounces pound pounds carat carats micron microns mile miles yard yards "
    "inch inches foot feet acre acres hectare hectares gallon gallons pint pints quart quarts barrel barrels "
    "minute minutes hour hours day days night nights week weeks fortnight fortnights month months year years decade "
    "decades century centuries degree degrees decibel decibels knot knots "
    "teaspoon teaspoons tablespoon tablespoons spoonful spoonfuls cup cups drop drops dose doses serving servings "
    "tablet tablets pill pills capsule capsules puff puffs spray sprays sachet sachets vial vials ampoule ampoules "
    "patch patches lozenge lozenges scoop scoops unit-doses injection injections "
    "dollar dollars euro euros cent cents pence penny yen yuan rupee rupees franc francs krona kronor kroner peso "
    "pesos rouble roubles ruble rubles shilling shillings buck bucks quid won lira dirham dirhams rand bitcoin "
    "bitcoins percent ppm ppb"
)
_SHORT: Final = (
    "mg mcg ug \u03bcg ng kg lb lbs oz ml mL dl dL cl cL ul \u03bcl \u03bcL cc mm cm dm km nm \u03bcm ft yd mi "
    "mmol \u03bcmol umol nmol mol mEq IU iu mmHg bpm kcal cal kJ MJ GJ "
    "ms ns \u03bcs min mins hr hrs sec secs wk wks yr yrs kHz MHz GHz Hz kW MW GW TW kWh MWh mW kV mV mA "
    "kB KB MB GB TB PB Mb Gb Mbps Gbps kbps dB dBA psi kPa hPa MPa rpm mph kph kmh kn kt fps dpi px mSv Gy Sv "
    "tsp tbsp bps pct ha sqm sqft sq USD EUR GBP CHF JPY CNY INR AUD CAD SEK NOK DKK"
)
_LETTERS: Final = "g m l L h W V A C F t d"
_DEGREES: Final = r"\u00b0\s?(?:[cCfFkK](?![^\W_]))?|[cCfF]elsius"
_SQUARED: Final = r"(?:\^?[23](?!\d))?"
_MONEY_SIGN: Final = "[$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20bf\u20ab\u20aa\u20b4\u20a6\u0e3f\u00a2]"
_ADJECTIVE: Final = (
    "square cubic metric fluid us australian canadian british american working business calendar full whole level "
    "heaped heaping light nautical consecutive more extra additional large small round long short imperial further "
    "statute troy degrees"
)
_GAP: Final = r"[\s\-(]{0,3}"
_END: Final = r"(?![^\W_])"
_POINTS: Final = r"per\s?cent|(?:percentage|basis)\s+points?|parts\s+per\s+\w{1,9}"
_NOUN: Final = rf"(?i:{_PREFIXED}|{_any(_LONG)}|{_POINTS}){_END}(?!-hand)"
_LARGE: Final = rf"(?:(?i:{_any(_ADJECTIVE)})\s+){{0,2}}"
UNIT: Final = rf"(?:[%\u2030]|{_DEGREES}|{_MONEY_SIGN}|{_LARGE}{_NOUN}|(?i:{_any(_SHORT)}){_SQUARED}{_END})"
_PER: Final = rf"(?:\s{{0,2}}(?:/|(?i:per|an?|each|every)\s)\s{{0,2}}(?:{UNIT}|(?:{_any(_LETTERS)}){_END})){{0,3}}"
UNIT_AFTER: Final = rf"{_GAP}{UNIT}{_PER}"
MONEY_SIGN: Final = _MONEY_SIGN
SHORT: Final = _any(_SHORT)
WITH_UNIT: Final = (
    rf"{RANGE}{UNIT_AFTER}(?:[\s-]+(?i:old){_END})?"
    rf"|(?:{DIGITS}|{_LEET})\s?(?:(?:{_any(_LETTERS)}){_SQUARED}|(?i:units?|stone|bar|grand|stars?)){_END}{_PER}"
    rf"|{DIGITS}-(?i:stars?){_END}"
)
TIME: Final = r"(?i:day|night|week|fortnight|month|quarter|year|hour|minute|second|morning|evening|meal)s?"
NAMED: Final = (
    r"(?i:ph|bmi|a1c|hba1c|ldl|hdl|iq|gpa|apr|ltv|blood\s+pressure|heart\s+rate|pulse|score|dose|dosage|strength|"
    r"temperature|hazard\s+ratio|odds\s+ratio|risk\s+ratio|relative\s+risk|ratio|odds|p-value|rating|weight|height|"
    r"aged?|price|rate|probability|likelihood|chance|concentration|speed|distance|yield|margin|ejection\s+fraction)"
)
HAS: Final = (
    r"(?i:contents?|levels?|counts?|readings?|index|values?|totals?|balance|percentage|share|volume|length|width|depth|"
    r"area|mass|intake|sensitivity|specificity|accuracy|precision|turnover|revenue|profit|salary|income|fees?|costs?)"
)
"""Quantities that are stated with a word before the number ("level of 3"), unlike numbered things ("level 1")."""
_SAYS: Final = (
    r"\s+(?i:of|is|was|were|are|at|reads|read|equals|equal\s+to|stood\s+at|around|about|approximately|roughly|just|"
    r"under|over|only|nearly|almost)"
)
_SIGN: Final = r"[:=<>\u2264\u2265]"
EQUALS: Final = rf"(?:{_SAYS}){{0,3}}\s{{0,2}}{_SIGN}?\s{{0,2}}"
SURELY_EQUALS: Final = rf"(?:(?:{_SAYS}){{1,3}}|\s{{0,2}}{_SIGN})\s{{0,2}}"
_UNIT_NAMING: Final = (
    "version release edition section subsection chapter part paragraph article clause figure table appendix page rule "
    "step level item number no release build update protocol annex schedule exercise question equation"
)
DECIMAL: Final = r"[-\u2212]?\d{1,6}+(?:\.\d{1,6}+|,\d{1,2}+)(?![.,:]?\d)(?!\s?(?i:[ap]\.?m)(?![^\W_]))"
"""A decimal fraction, which is a measurement by its form, since counts are whole."""
STATED: Final = (
    rf"(?!(?i:{_any(_UNIT_NAMING)})(?![^\W_]))[^\W\d_][\w'-]{{0,30}}+(?:\s+(?i:level|value|result|reading))?"
    r"(?:\s+(?i:is|was|are|were|reads|read|equals|measures|measured|averages|averaged|came\s+back\s+at|stood\s+at)"
    r"(?:\s+(?i:now|still|about|around|approximately|roughly|only|just|nearly|almost|at)){0,2}\s{1,3}|\s{0,2}[:=]\s{0,2})"
)
"""A noun and the verb or sign before a decimal fraction, except for numbered things such as sections."""
MEASUREMENT_PLACEHOLDER: Final = "[measurement withheld]"
"""The text that replaces a measurement."""
_WORD_END: Final = r"(?![^\W_])"
_WORD_START: Final = r"(?<![^\W_])"
_MORE: Final = r"(?i:as|more|less|fewer|higher|lower|greater|larger|smaller|faster|slower|better|worse|the|that|what)"
_FRACTION: Final = r"(?i:hal(?:f|ves)|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?)"
_YEAR: Final = r"(?:1[5-9]|20)\d\d(?![\d.,]\d)"
_OFTEN: Final = (
    rf"(?:(?i:a|an|per|each|every|in\s+an?)\s+{TIME}|(?i:daily|nightly|weekly|monthly|yearly|annually|hourly))"
)
_ONE: Final = (
    r"(?i:(?:kilo)?met(?:re|er)|mile|foot|inch|pound|ounce|lit(?:re|er)|gallon|tonne?|yard|kilo(?:gram)?|acre|hectare)"
)
_KINDS: Final = (
    rf"{_WORD_START}(?:{WITH_UNIT})",
    rf"(?:{_WORD_START}(?:US|A|C))?{MONEY_SIGN}\s?{NUMBER}",
    rf"{_WORD_START}(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|Rs\.?)\s?{NUMBER}",
    rf"{_WORD_START}(?:{SHORT})\)?[\s:=|]{{1,3}}(?:(?i:is|was|of)\s{{1,2}})?(?:{DIGITS}|{SPELT}{_WORD_END})",
    rf"{_WORD_START}(?:(?i:once|twice|thrice)|{RANGE}\s+(?i:times))\s+{_OFTEN}{_WORD_END}",
    rf"{_WORD_START}{NUMBER}\s+(?i:out\s+of|of\s+every|in(?:\s+every)?)\s+(?i:an?\s+)?(?!{_YEAR}){NUMBER}{_WORD_END}",
    rf"{_WORD_START}{NUMBER}\s+(?i:to)\s+{NUMBER}\s+(?i:odds|against|on){_WORD_END}",
    rf"{_WORD_START}{SPELT}[\s-]+{_FRACTION}{_WORD_END}(?!\s+(?i:party|parties|time|place|person|man|day|floor|class))",
    rf"{_WORD_START}(?i:an?\s+|the\s+)?{_FRACTION}\s+(?i:of\s+(?:all|the|an?|those|these|our|its|their|\w{{3,20}}s)){_WORD_END}",
    rf"{_WORD_START}(?i:half)\s+(?i:the|as|an?|all|of){_WORD_END}",
    rf"{_WORD_START}(?:{NUMBER}[\s-]?|{SPELT})(?i:fold){_WORD_END}",
    rf"{_WORD_START}\d++(?:\.\d++)?[xX\u00d7]{_WORD_END}",
    rf"{_WORD_START}(?:(?i:twice|thrice)|{NUMBER}\s+(?i:times))\s+{_MORE}{_WORD_END}",
    rf"{_WORD_START}(?i:an?)\s+{TIME}\s+(?i:and\s+a\s+(?:half|quarter)){_WORD_END}",
    rf"{_WORD_START}{STATED}{DECIMAL}",
    rf"(?<!at\s){_WORD_START}{SPELT}(?:[\s-]+{SPELT})?\s+(?i:point)\s+{SPELT}(?:\s+{SPELT}){{0,3}}{_WORD_END}",
    rf"{_WORD_START}{NAMED}{SURELY_EQUALS}{SPELT}(?:[\s-]+{SPELT}){{0,3}}(?:{UNIT_AFTER})?{_WORD_END}",
    rf"{_WORD_START}{SPELT}\s+\w{{3,20}}\s+(?i:in)\s+(?i:every\s+)?{SPELT}{_WORD_END}",
    rf"{_WORD_START}(?i:an?)\s+{_ONE}\s+(?i:of|thick|long|wide|deep|high|tall|away|apart|per|across){_WORD_END}",
    rf"{_WORD_START}(?i:double|triple|treble)\s+(?i:the|that|what){_WORD_END}",
    rf"{_WORD_START}{NAMED}{EQUALS}(?!{_YEAR}\b){DIGITS}(?::{DIGITS})?(?:{UNIT_AFTER})?{_WORD_END}",
    rf"{_WORD_START}{HAS}{SURELY_EQUALS}(?!{_YEAR}\b){DIGITS}(?:{UNIT_AFTER})?{_WORD_END}",
    rf"{_WORD_START}(?i:by|to)\s+(?i:an?)\s+{_FRACTION}{_WORD_END}",
    rf"{_WORD_START}(?i:by|up|down|gained|lost|fell|rose)\s+{NUMBER}\s+(?i:points?){_WORD_END}",
    rf"{_WORD_START}{RANGE}\s+per\s+(?:{NUMBER}|(?i:capita|person|head|{TIME})){_WORD_END}",
    rf"{_WORD_START}(?i:an?)\s+(?i:(?:milli|micro|kilo)?grams?|millilit(?:re|er)s?|teaspoon|tablespoon|percent){_WORD_END}",
)
_MEASUREMENT: Final = re.compile(rf"(?=[^\W_]|{MONEY_SIGN})(?:{'|'.join(_KINDS)})")
_PASSES: Final = 8


def find_measurements(text: VisibleText) -> list[tuple[int, int]]:
    """Return the start and end of each measurement of a visible text, in order."""
    return [each.span() for each in _MEASUREMENT.finditer(text.text)]


def scrub_measurements(text: str) -> str:
    """Return a text with ``MEASUREMENT_PLACEHOLDER`` for each measurement; the rest is unchanged.

    The result contains no measurement. If a removal creates another measurement again and again, as happens only in
    texts that were built for it, the whole text is replaced.
    """
    for _ in range(_PASSES):
        visible = join_spaced_words(to_visible_text(text))
        found = [visible.span(*span) for span in find_measurements(visible)]
        if not found:
            return text
        text = _remove_spans(text, found)
    return MEASUREMENT_PLACEHOLDER


def _remove_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept: list[str] = []
    place = 0
    for start, end in spans:
        kept += (text[place:start], MEASUREMENT_PLACEHOLDER)
        place = max(place, end)
    return "".join((*kept, text[place:]))
