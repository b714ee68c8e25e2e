"""Find measurements in a narrative, and remove them from it.

Every repetition in a pattern is bounded, so that the work grows linearly with the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.text import VisibleText, join_spaced_words, to_visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable


def _any(words: str) -> str:
    """Return a pattern for one of some words, the longest first."""
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
"""What is named before its number with a word between, as what merely has a number is not: "level 1"."""
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
"""A number that is a measure by its form: nobody counts in fractions."""
STATED: Final = (
    rf"(?!(?i:{_any(_UNIT_NAMING)})(?![^\W_]))[^\W\d_][\w'-]{{0,30}}+(?:\s+(?i:level|value|result|reading))?"
    r"(?:\s+(?i:is|was|are|were|reads|read|equals|measures|measured|averages|averaged|came\s+back\s+at|stood\s+at)"
    r"(?:\s+(?i:now|still|about|around|approximately|roughly|only|just|nearly|almost|at)){0,2}\s{1,3}|\s{0,2}[:=]\s{0,2})"
)
"""What a number with a fraction is stated of, and the verb or the sign between; what is numbered has no measure."""
MEASUREMENT_PLACEHOLDER: Final = "[measurement withheld]"
"""What stands where a measurement was taken out."""
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
    """Return where the measurements of a text as it is seen start and end, in their order."""
    return [each.span() for each in _MEASUREMENT.finditer(text.text)]


def scrub_measurements(text: str) -> str:
    """Return a text with ``WITHHELD`` in the place of each measurement; the rest stays as it was written.

    What is returned has no measurement left: a text that would still have one after some passes, as none does that
    was written to be read, is withheld whole.
    """
    for _ in range(_PASSES):
        seen = join_spaced_words(to_visible_text(text))
        found = [seen.span(*each) for each in find_measurements(seen)]
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
