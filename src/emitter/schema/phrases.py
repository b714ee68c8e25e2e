"""Describe in words what a JSON Schema asks for.

``describe_value`` returns a noun phrase for a schema, such as "a whole number from 1 to 100". ``describe_correction``
returns one for a keyword that a value broke, with an example. Both are written from the schema alone, and their
length is limited.
"""

from __future__ import annotations

import json
import operator
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from emitter.messages import as_list, as_mapping
from emitter.outside_values import parse_int
from emitter.schema.dialects import pattern_matches
from emitter.schema.formats import FORMAT_DESCRIPTIONS
from emitter.schema.json_data import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    resolve_reference,
    truncate_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emitter.messages import Json

_NOUNS: Final = {
    STRING: "a text",
    INTEGER: "a whole number",
    NUMBER: "a number",
    BOOLEAN: "true or false",
    NULL: "null",
    ARRAY: "a list",
    OBJECT: "an object",
}
_TYPES_BY_KEYWORD: Final = (("properties", OBJECT), ("items", ARRAY), ("prefixItems", ARRAY))
_MAX_LISTED: Final = 12
"""More values, names or alternatives are not listed."""
_MAX_LIST_LENGTH: Final = 300
_MAX_REFERENCES: Final = 20
"""References to references are followed this far."""
_MAX_NESTING: Final = 3
"""Unions in unions are described this far."""


def resolve(schema: Json, root: Json) -> Mapping[str, Any]:
    """Return a schema with the keywords of those that it refers to. Its own keywords win."""
    merged = as_mapping(schema)
    for _ in range(_MAX_REFERENCES):
        if "$ref" not in merged:
            break
        target = as_mapping(resolve_reference(root, merged["$ref"]))
        merged = {**target, **{keyword: value for keyword, value in merged.items() if keyword != "$ref"}}
    return merged


def describe_value(schema: Json, root: Json, *, nesting: int = 0) -> str:
    """Return a noun phrase for the values of a schema, such as "a text of at most 20 characters"."""
    node = resolve(schema, root)
    listed = _listed_values(node)
    if listed is not None:
        return _describe_listed(listed)
    branches = as_list(node.get("anyOf") or node.get("oneOf"))
    if branches and nesting < _MAX_NESTING:
        return join_alternatives(describe_value(each, root, nesting=nesting + 1) for each in branches)
    names = types_of(node)
    return " or ".join(describe_type(name, node) for name in names) if names else "a value"


def types_of(node: Mapping[str, Any]) -> list[str]:
    """Return the types of a schema, also one that is stated only by its other keywords."""
    stated = node.get("type")
    if stated is not None:
        return [str(name) for name in (as_list(stated) if isinstance(stated, list) else [stated])]
    return [name for keyword, name in _TYPES_BY_KEYWORD if keyword in node][:1]


def describe_rules(node: Mapping[str, Any], name: str) -> str:
    """Return the rules of a schema for values of a type, such as "from 1 to 100"."""
    phrases = (describe(node) for keywords, describe in _RULES[name] if node.keys() & keywords)
    return ", ".join(filter(None, phrases))


def describe_type(name: str, node: Mapping[str, Any]) -> str:
    """Return a noun phrase for the values of a schema that have one of its types."""
    rules = describe_rules(node, name) if name in _RULES else ""
    noun = _describe_text(node) if name == STRING else _NOUNS.get(name, f"a value of type {name}")
    if name == OBJECT:
        names = list(as_mapping(node.get("properties")))
        noun = f"{noun} with {_join_names(names)}" if names else noun
    return f"{noun} {rules}" if rules else noun


def _describe_text(node: Mapping[str, Any]) -> str:
    words = FORMAT_DESCRIPTIONS.get(str(node.get("format")), "") if "format" in node else ""
    if words:
        return _as_phrase(words)
    return f"a text in the format {node['format']}" if "format" in node else _NOUNS[STRING]


def _as_phrase(sentence: str) -> str:
    """Return a sentence as a part of another one."""
    first, rest = sentence[0], sentence[1:]
    return f"{first.lower() if not rest[:1].isupper() else first}{rest}".removesuffix(".")


def _listed_values(node: Mapping[str, Any]) -> list[Json] | None:
    return [node["const"]] if "const" in node else as_list(node["enum"]) if "enum" in node else None


def _describe_listed(values: list[Json]) -> str:
    texts = [truncate_json(value) for value in values]
    return f"exactly {texts[0]}" if len(texts) == 1 else f"one of {join_limited(texts)}"


def join_limited(texts: list[str]) -> str:
    """Return the texts with commas between them, without those for which there is no room."""
    kept: list[str] = []
    for text in texts[:_MAX_LISTED]:
        if kept and sum(map(len, kept)) + len(text) > _MAX_LIST_LENGTH:
            break
        kept.append(text)
    return ", ".join([*kept, "…"] if len(kept) < len(texts) else kept)


def _join_names(names: Iterable[str]) -> str:
    return join_limited([truncate_json(name) for name in names])


def join_alternatives(texts: Iterable[str], limit: int | None = _MAX_LISTED) -> str:
    """Return different phrases as alternatives, such as "a text, or null". More than ``limit`` are not listed."""
    different = list(dict.fromkeys(texts))
    is_long = limit is not None and len(different) > limit
    *first, last = [*different[:limit], "…"] if is_long else different
    return f"{', '.join(first)}, or {last}" if first else last


def _range(node: Mapping[str, Any]) -> str:
    if "minimum" in node and "maximum" in node:
        bounds = [f"from {node['minimum']} to {node['maximum']}"]
    else:
        bounds = [
            f"of at {word} {node[key]}" for key, word in (("minimum", "least"), ("maximum", "most")) if key in node
        ]
    words = (("exclusiveMinimum", "greater than"), ("exclusiveMaximum", "less than"))
    bounds += [f"{word} {node[key]}" for key, word in words if _is_bound(node.get(key))]
    return " and ".join(bounds)


def _is_bound(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)  # draft 4 has booleans


def _count(lowest: str, highest: str, noun: str, plural: str) -> Callable[[Mapping[str, Any]], str]:
    """Return the function that describes how many of something there are."""

    def describe(node: Mapping[str, Any]) -> str:
        least, most = node.get(lowest), node.get(highest)
        if least == most:
            return f"of exactly {least} {noun if least == 1 else plural}"
        if least is None or most is None:
            count = most if least is None else least
            return f"of at {'most' if least is None else 'least'} {count} {noun if count == 1 else plural}"
        return f"of {least} to {most} {plural}"

    return describe


def _pattern(node: Mapping[str, Any]) -> str:
    return f"that matches the pattern {truncate_text(str(node['pattern']))}"


def is_short_pattern(node: Mapping[str, Any]) -> bool:
    """Return whether the pattern of a schema, if it has one, is shown whole."""
    return len(str(node.get("pattern", ""))) <= _MAX_LIST_LENGTH


def truncate_text(text: str) -> str:
    """Return a text of limited length."""
    return truncate_json(text)[1:-1] if len(text) > _MAX_LIST_LENGTH else text


def _multiple(node: Mapping[str, Any]) -> str:
    return f"that is a multiple of {node['multipleOf']}"


def _unique(node: Mapping[str, Any]) -> str:
    return "in which no item stands twice" if node["uniqueItems"] is True else ""


_NUMBER_RULES: Final = (
    (frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}), _range),
    (frozenset({"multipleOf"}), _multiple),
)
_RULES: Final[dict[str, tuple[tuple[frozenset[str], Callable[[Mapping[str, Any]], str]], ...]]] = {
    INTEGER: _NUMBER_RULES,
    NUMBER: _NUMBER_RULES,
    STRING: (
        (frozenset({"minLength", "maxLength"}), _count("minLength", "maxLength", "character", "characters")),
        (frozenset({"pattern"}), _pattern),
    ),
    ARRAY: (
        (frozenset({"minItems", "maxItems"}), _count("minItems", "maxItems", "item", "items")),
        (frozenset({"uniqueItems"}), _unique),
    ),
    OBJECT: (
        (
            frozenset({"minProperties", "maxProperties"}),
            _count("minProperties", "maxProperties", "property", "properties"),
        ),
    ),
}
"""The rules for values of each type, by the keywords that state them."""
RULE_KEYWORDS: Final = {name: frozenset[str]().union(*(each for each, _ in rules)) for name, rules in _RULES.items()}
"""The keywords that ``describe_value`` reads for values of each type, besides those of the types themselves."""


RULES_WITH_ARGUMENT: Final = frozenset[str]().union(*RULE_KEYWORDS.values())
"""The keywords whose value alone is enough for a correction."""


class BrokenRule(NamedTuple):
    """A keyword that a value broke.

    Attributes:
        keyword: The keyword.
        node: The schema that contains it.
        root: The whole schema.
        argument: What the keyword says, such as the name of a missing property.
    """

    keyword: str
    node: Mapping[str, Any]
    root: Json
    argument: Any


def describe_correction(broken: BrokenRule) -> str:
    """Return what is expected in place of a value, with an example if the words are not one."""
    describe = CORRECTIONS.get(broken.keyword)
    return describe(broken) if describe else describe_value(dict(broken.node), broken.root)


def _correct_value(broken: BrokenRule) -> str:
    """Describe the value by its type and the rules that belong to the broken one."""
    node = resolve(dict(broken.node), broken.root)
    for name, rules in _RULES.items():
        for keywords, describe in rules:
            if broken.keyword in keywords:
                stated = [each for each in types_of(node) if each == name] or [_GENERAL_TYPES.get(name, name)]
                return _with_example(f"{_NOUNS[stated[0]]} {describe(node)}", node, stated[0])
    raise LookupError(broken.keyword)  # the tables of this module do not fit together


_GENERAL_TYPES: Final = {INTEGER: NUMBER}


def _correct_type(broken: BrokenRule) -> str:
    names = [str(name) for name in (as_list(broken.argument) or [broken.argument])]
    node = resolve(dict(broken.node), broken.root)
    return join_alternatives(_with_example(describe_type(name, node), node, name) for name in names)


def _correct_format(broken: BrokenRule) -> str:
    return _with_example(_describe_text({"format": broken.argument}), broken.node, STRING, generate=False)


def _correct_listed(broken: BrokenRule) -> str:
    return _describe_listed([broken.argument] if broken.keyword == "const" else as_list(broken.argument))


def _correct_required(broken: BrokenRule) -> str:
    properties = as_mapping(resolve(dict(broken.node), broken.root).get("properties"))
    name = truncate_json(broken.argument)
    if broken.argument not in properties:
        return f"the property {name}"
    member = properties[broken.argument]
    node = resolve(member, broken.root)
    names = types_of(node)
    words = describe_value(member, broken.root)
    return f"the property {name}, which is {_with_example(words, node, names[0] if names else '')}"


def _correct_names(broken: BrokenRule) -> str:
    names = list(as_mapping(broken.node.get("properties")))
    return f"only the properties {_join_names(names)}, and no others" if names else _NO_OTHER_PROPERTY


_NO_OTHER_PROPERTY: Final = "no property that the schema does not name"
_ONE_FORM: Final = "exactly one of the forms that the schema lists"


def _correct_union(broken: BrokenRule) -> str:
    branches = as_list(broken.node.get(broken.keyword))
    if not branches:
        return _ONE_FORM
    words = describe_value({"anyOf": branches}, broken.root)
    return f"exactly one of these: {words}" if broken.keyword == "oneOf" else words


def _correct_contained(broken: BrokenRule) -> str:
    words = describe_value(broken.node.get("contains", True), broken.root)
    least, most = broken.node.get("minContains", 1), broken.node.get("maxContains")
    limit = f", and at most {most} of them" if most is not None else ""
    return f"a list with at least {least} {'item' if least == 1 else 'items'} that {_be(least)} {words}{limit}"


def _be(count: object) -> str:
    return "is" if count == 1 else "are"


def _correct_property_names(broken: BrokenRule) -> str:
    return f"an object in which each name is {describe_value(_as_text(broken.node.get('propertyNames')), broken.root)}"


def _as_text(schema: Any) -> Json:
    return {"type": STRING, **as_mapping(schema)}


def _say(text: str) -> Callable[[BrokenRule], str]:
    return lambda _: text


CORRECTIONS: Final[dict[str, Callable[[BrokenRule], str]]] = {
    **dict.fromkeys((keyword for each in RULE_KEYWORDS.values() for keyword in sorted(each)), _correct_value),
    "type": _correct_type,
    "format": _correct_format,
    "enum": _correct_listed,
    "const": _correct_listed,
    "required": _correct_required,
    "additionalProperties": _correct_names,
    "unevaluatedProperties": _correct_names,
    "anyOf": _correct_union,
    "oneOf": _correct_union,
    "contains": _correct_contained,
    "propertyNames": _correct_property_names,
    "falseSchema": _say("nothing at this place: leave it out"),
    "additionalItems": _say("no further items in the list"),
    "unevaluatedItems": _say("no further items in the list"),
    "not": lambda broken: f"another value; not {describe_value(broken.node.get('not', True), broken.root)}",
    "contentEncoding": lambda broken: f"a text that is encoded as {truncate_json(broken.argument)}",
    "contentMediaType": lambda broken: f"a text whose content is {truncate_json(broken.argument)}",
}
"""The words for each keyword that the validator reports."""


def _with_example(words: str, node: Mapping[str, Any], name: str, *, generate: bool = True) -> str:
    """Return the words with an example: one of the schema, or one that fits its rules."""
    stated = [each for each in (*as_list(node.get("examples")), node.get("default")) if each is not None]
    example = stated[0] if stated else _generate(node, name) if generate else None
    text = None if example is None else json.dumps(example, ensure_ascii=False)
    if text is None or text in words.replace(",", "").split() or len(text) > _MAX_LIST_LENGTH:
        return words
    return f"{words}, for example {text}" if _SHOWS_EXAMPLE.search(words) else f"{words}, such as {text}"


_SHOWS_EXAMPLE: Final = re.compile(r" (?:such as|as in|like) ")


def _generate(node: Mapping[str, Any], name: str) -> Json:
    if name in (INTEGER, NUMBER):
        return generate_number(node, is_whole=name == INTEGER)
    if name == STRING and "pattern" in node and "format" not in node:
        text = generate_text(str(node["pattern"]))
        is_right = text is not None and pattern_matches(str(node["pattern"]), text) and _has_length(text, node)
        return text if is_right else None
    return None


def _has_length(text: str, node: Mapping[str, Any]) -> bool:
    return bool(node.get("minLength", 0) <= len(text) <= node.get("maxLength", len(text)))


_SMALL_NUMBERS: Final = (7, 1, 0)


def generate_number(node: Mapping[str, Any], *, is_whole: bool) -> float | None:
    """Return a number that fits the bounds of a schema, or None if none was found."""
    bounds = [
        node[key] for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if _is_bound(node.get(key))
    ]
    step = node.get("multipleOf", 1)
    candidates = [*((1.5,) if not is_whole else ()), *_SMALL_NUMBERS, step, *bounds]
    candidates += [bound + sign * step for bound in bounds for sign in (1, -1)]
    return next((each for each in candidates if _fits(each, node, is_whole=is_whole)), None)


def _fits(number: float, node: Mapping[str, Any], *, is_whole: bool) -> bool:
    """Return whether a number fits the bounds of a schema."""
    fits_step = "multipleOf" not in node or number % node["multipleOf"] == 0
    is_broken = any(
        breaks(number, node[keyword]) for keyword, breaks in _BROKEN_BOUNDS.items() if _is_bound(node.get(keyword))
    )
    return bool(fits_step) and not is_broken and (not is_whole or number % 1 == 0)


_BROKEN_BOUNDS: Final[dict[str, Callable[[float, float], bool]]] = {
    "minimum": operator.lt,
    "maximum": operator.gt,
    "exclusiveMinimum": operator.le,
    "exclusiveMaximum": operator.ge,
}


_PATTERN_PIECE: Final = re.compile(
    r"(?P<set>\[(?P<first>\\[dw]|[A-Za-z0-9])[^\[\]\\^]*\]|\\[dw])|\\(?P<escaped>[^\w\s])|(?P<literal>[\w \-:/@#_,])"
)
_QUANTIFIER: Final = re.compile(r"\{(\d+)(?:,\d*)?\}|[+*?]|")
_SET_EXAMPLES: Final = {"\\d": "1", "\\w": "a"}
_MAX_REPEATED: Final = 32


def generate_text(pattern: str) -> str | None:
    """Return a text that matches a simple pattern, or None for a pattern with groups or alternatives."""
    body, place, parts = pattern.removeprefix("^").removesuffix("$"), 0, list[str]()
    while place < len(body):
        piece = _PATTERN_PIECE.match(body, place)
        if piece is None:
            return None
        quantifier = _QUANTIFIER.match(body, piece.end())
        repeated = quantifier[1] if quantifier else None
        first = piece["first"] or piece["set"]
        sign = piece["escaped"] or piece["literal"] or _SET_EXAMPLES.get(first, first)
        count = 1 if repeated is None else parse_int(repeated, maximum=_MAX_REPEATED)
        if count is None:
            return None
        parts.append(sign * count)
        place = quantifier.end() if quantifier else piece.end()
    return "".join(parts) or None
