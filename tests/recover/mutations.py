"""Mutations of answers: what recovery reads out of them stood there, whole, as the answer, and was not taken back.

``python -m tests.recover.mutations [COUNT] [SEED]`` prints the figures, of 200,000 mutations where no count is given.
In the tests a small share runs, and with ``EMITTER_TESTS=full`` all of it.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.recover import recover
from tests.recover.test_retraction import HARMLESS, RETRACTED
from tests.recover.test_thinking import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable

FULL = 200_000

_WORDS = (
    "Acme",
    "Nordlicht",
    "ok",
    "Zürich",
    "a b",
    "it's",
    "C:\\dir",
    'say "x"',
    "x: y",
    "[1]",
    "{a}",
    "",
    "1e5",
    "so, so",
)
_KEYS = ("vendor", "total", "lines", "note", "a-b", "when", "é")
_NOISE = "{}[]\":,'`\\/ \n0123456789.-+eEtruefalsnulx#“”<>é"


class Mutation(NamedTuple):
    """A text, the kind of its mutation, and what may be read out of it: anything that stands there, or these."""

    kind: str
    text: str
    may: tuple[Any, ...] | None = None


def value(random: Random, depth: int = 0) -> Any:
    """Return a JSON value."""
    choice = random.random()
    if depth < 3 and choice < 0.25:
        return {random.choice(_KEYS): value(random, depth + 1) for _ in range(random.randint(0, 4))}
    if depth < 3 and choice < 0.4:
        return [value(random, depth + 1) for _ in range(random.randint(0, 4))]
    if choice < 0.7:
        return random.choice(_WORDS)
    return random.choice((random.randint(-999, 99_999), random.random(), True, False, None))


def document(random: Random, vendor: str) -> dict[str, Any]:
    """Return a document that no other one equals."""
    return {
        "vendor": f"{vendor}{random.randint(0, 999_999)}",
        **{key: value(random) for key in random.sample(_KEYS[1:], 3)},
    }


def written(random: Random, document: Any) -> str:
    """Return a document as a model may write it, sometimes with its syntax broken in one way."""
    text = json.dumps(document, indent=random.choice((None, None, 2)), ensure_ascii=random.random() < 0.3)
    match random.randint(0, 5):
        case 0:
            return re.sub(r"(?<=[^\[{\s])(?=\s*[}\]]\Z)", ",", text)
        case 1:
            return text.replace("{", "{ /* x */ ", 1)
        case _:
            return text


def noisy(random: Random, text: str) -> str:
    """Return a text with a few characters lost, changed, doubled or put in."""
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(text) + 1)
        to = min(len(text), at + random.choice((0, 1, 1, 1, 2, 8)))
        text = text[:at] + "".join(random.choices(_NOISE, k=random.choice((0, 1, 1, 2)))) + text[to:]
    return text


def reworded(random: Random, prose: str) -> str:
    """Return prose with the same meaning: other capitals, white space, marks, and harmless sentences around it."""
    before, place, after = prose.partition("%s")
    changes: tuple[Callable[[str], str], ...] = (
        lambda text: text,
        str.upper,
        str.lower,
        lambda text: text.replace("'", "\u2019"),
        lambda text: re.sub(r"(?<=\w) (?=\w)", "  " if random.random() < 0.5 else "\n", text, count=1),
        lambda text: f"**{text.strip()}**\n" if text.strip() else text,
        lambda text: f"\n\n{text}\n\nThe invoice has three lines.\n",
        lambda text: f"{text}\n\u2014 the assistant",
        lambda text: f"\n> {text.strip()}\n" if text.strip() else text,
    )
    change = random.choice(changes)
    return f"{change(before)}{place}{change(after)}" if "%s" not in after else prose


def damaged(random: Random) -> Mutation:
    """Return a document with noise in it."""
    text = noisy(random, written(random, document(random, "Acme")))
    frame = random.choice(("%s", "%s", "Here you are: %s\nBye.", "```json\n%s\n```"))
    return Mutation("noise", frame.replace("%s", text))


def cut(random: Random) -> Mutation:
    """Return a document that is cut, perhaps behind a whole draft."""
    text = written(random, document(random, "Acme")).rstrip()
    kept = text[: random.randrange(1, len(text))]
    thought = random.choice(list(BLOCKS.values())).replace("%s", json.dumps(document(random, "DRAFT")))
    return Mutation("cut", random.choice(("", "", "Here: ", "```json\n", f"{thought}\n")) + kept, ())


def drafted(random: Random) -> Mutation:
    """Return a draft in a thinking block, and behind it an answer, words, a refusal or nothing."""
    draft, answer = document(random, "DRAFT"), document(random, "Acme")
    text = written(random, draft)
    name, block = random.choice(list(BLOCKS.items()))
    # Where the block's beginning was never written, noise in the draft may swallow its end.
    thought = block.replace("%s", noisy(random, text) if random.random() < 0.3 and "begun" not in name else text)
    ending = random.choice(("answer", "answer", "fenced", "words", "refusal", "nothing"))
    behind = {
        "answer": written(random, answer),
        "fenced": f"\n```json\n{written(random, answer)}\n```",
        "words": "\nThat is all.",
        "refusal": random.choice(list(RETRACTED.values())).replace("%s", ""),
        "nothing": "",
    }[ending]
    return Mutation(f"draft, {ending}", thought + behind, (answer,) if ending in ("answer", "fenced") else ())


def retracted(random: Random) -> Mutation:
    """Return a document with words around it that take it back."""
    prose = reworded(random, random.choice([each for each in RETRACTED.values() if "%s" in each]))
    return Mutation("retracted", prose.replace("%s", written(random, document(random, "Acme"))), ())


def harmless(random: Random) -> Mutation:
    """Return a document with harmless words around it."""
    answer = document(random, "Acme")
    return Mutation(
        "harmless", random.choice(list(HARMLESS.values())).replace("%s", written(random, answer)), (answer,)
    )


def doubled(random: Random) -> Mutation:
    """Return a document that names a member twice, with different values."""
    text = json.dumps(document(random, "Acme"))
    return Mutation(
        "member twice", random.choice(("%s", "So:\n%s\n")).replace("%s", text[:-1] + ', "vendor": "Other"}'), ()
    )


def lost(random: Random) -> Mutation:
    """Return a document with a number that no double holds."""
    number = random.choice(("1e-400", "-2.5e-999", "1e400", "-1e999", "0." + "0" * 400 + "7", "NaN", "Infinity"))
    text = json.dumps({**document(random, "Acme"), "odd": 123454321}).replace("123454321", number)
    return Mutation("number lost", random.choice(("%s", "So:\n%s\n")).replace("%s", text), ())


KINDS = (damaged, damaged, damaged, cut, cut, drafted, drafted, drafted, retracted, retracted, harmless, doubled, lost)


def mutation(index: int, seed: int = 0) -> Mutation:
    """Return one mutation, always the same for its index."""
    random = Random(seed * 1_000_003 + index)  # noqa: S311  it keeps no secret
    return random.choice(KINDS)(random)


def invented(found: Any, text: str) -> list[str]:
    """Return the keys, words and numbers of a value that do not stand in the text."""
    letters = re.sub(r"[\W_]+", "", re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)).lower()
    spelt = re.sub(r"[\W_]+", "", re.sub(r"\\[nrtbf]", "", text)).lower()
    wrong: list[str] = []
    todo = [found]
    while todo:
        match todo.pop():
            case dict() as members:
                todo.extend((*members, *members.values()))
            case list() as elements:
                todo.extend(elements)
            case bool() | None as constant:
                wrong += (
                    []
                    if {"true": 1, "false": 1, "null": 1} and str(constant).lower() in _constants(text)
                    else [str(constant)]
                )
            case str() as word:
                said = re.sub(r"[\W_]+", "", word).lower()
                wrong += [] if said in letters or said in spelt else [word]
            case number:
                numbers = re.findall(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", text)
                wrong += (
                    []
                    if any(
                        number in (float(each), int(each) if each.lstrip("-").isdecimal() else None)
                        for each in numbers
                        if len(each) < 300
                    )
                    else [str(number)]
                )
    return wrong


def _constants(text: str) -> set[str]:
    lower = text.lower()
    names = {"true": "true", "false": "false", "null": "none", "none": "none"}
    return {value for name, value in names.items() if name in lower}


def same(one: Any, other: Any) -> bool:
    """Compare as JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def wrong(each: Mutation) -> str:
    """Return what is wrong with what is read out of a mutation, or nothing."""
    found = recover(each.text)
    if found is None:
        return ""
    if each.may is not None:
        return "" if any(same(found.value, one) for one in each.may) else "accepted"
    return "invented" if invented(found.value, each.text) else ""


def main() -> int:
    """Print what was read of each kind of mutation; exit with 1 where something was read that may not be."""
    count, seed = (int(each) for each in [*sys.argv[1:], *(FULL, 0)[len(sys.argv) - 1 :]])
    tried, read, failed = Counter[str](), Counter[str](), Counter[str]()
    for index in range(count):
        each = mutation(index, seed)
        tried[each.kind] += 1
        read[each.kind] += recover(each.text) is not None
        if reason := wrong(each):
            failed[each.kind] += 1
            sys.stderr.write(f"{reason}: {index} {each.kind}: {each.text!r}\n")
    sys.stdout.write(f"{'mutation':<20}{'tried':>10}{'read':>10}{'wrong':>10}\n")
    for kind in sorted(tried):
        sys.stdout.write(f"{kind:<20}{tried[kind]:>10}{read[kind]:>10}{failed[kind]:>10}\n")
    sys.stdout.write(f"{'all':<20}{tried.total():>10}{read.total():>10}{failed.total():>10}\n")
    return int(failed.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
