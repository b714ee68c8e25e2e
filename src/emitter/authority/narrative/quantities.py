"""How numbers and units are written in English: the parts of the patterns that find a measurement.

Every repetition is bounded, so that each place of a text is tried in a bounded number of steps.
"""

from __future__ import annotations

from typing import Final


def _any(words: str) -> str:
    """Return a pattern for one of some words, the longest first."""
    return "|".join(sorted(words.split(), key=len, reverse=True))


_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fourty fifty sixty seventy eighty ninety"
_GREAT: Final = "hundred thousand million billion trillion dozen"
SPELT: Final = rf"(?i:(?:{_any(f'{_SMALL} {_TENS} {_GREAT}')}))"
_IDIOM: Final = r"(?!(?i:one[\s-]+(?:day|time|night|moment|evening|morning|unit|point|minute|second)(?!\w)))"
_WORDS: Final = (
    rf"(?>{_IDIOM}(?i:(?:an?|half|quarter)\s+(?:an?\s+)?(?=(?:{_any(_GREAT)})))?{SPELT}"
    rf"(?:[\s-]*(?:(?i:and)[\s-]+(?:(?i:a)[\s-]+)?)?(?:{SPELT}|(?i:half|quarter))){{0,9}})"
)
_HALVES: Final = (
    r"(?i:half[\s-]+(?:an?|of\s+an?|the)|half|quarter[\s-]+(?:of[\s-]+)?an?|an?\s+half|an?\s+quarter\s+of\s+an?)"
)
DIGITS: Final = r"(?:\d++(?:[ ,.'_/\u00b7]\d++){0,12}+)"
_LEET: Final = r"(?:(?=[OoIl]{0,6}\d)[\dOoIl]{1,12})"
_MAGNITUDE: Final = rf"(?:[\s-]{{0,2}}(?:(?i:{_any(_GREAT)}|mio|mn|bn)|[kKmM])(?![^\W_]))?"
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
_NAMING: Final = (
    "version release edition section subsection chapter part paragraph article clause figure table appendix page rule "
    "step level item number no release build update protocol annex schedule exercise question equation"
)
DECIMAL: Final = r"[-\u2212]?\d{1,6}+(?:\.\d{1,6}+|,\d{1,2}+)(?![.,:]?\d)(?!\s?(?i:[ap]\.?m)(?![^\W_]))"
"""A number that is a measure by its form: nobody counts in fractions."""
STATED: Final = (
    rf"(?!(?i:{_any(_NAMING)})(?![^\W_]))[^\W\d_][\w'-]{{0,30}}+(?:\s+(?i:level|value|result|reading))?"
    r"(?:\s+(?i:is|was|are|were|reads|read|equals|measures|measured|averages|averaged|came\s+back\s+at|stood\s+at)"
    r"(?:\s+(?i:now|still|about|around|approximately|roughly|only|just|nearly|almost|at)){0,2}\s{1,3}|\s{0,2}[:=]\s{0,2})"
)
"""What a number with a fraction is stated of, and the verb or the sign between; what is numbered has no measure."""
