"""Sample binding moments for tests of surfaces: ordinary, hostile, huge and malformed ones.

Source: draft-morrison-binding-moment-envelope-00, sections 4 and 11.5.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from emitter.models import OPEN_HATCHES, BindingMoment, Hatches, Meta, Option, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.messages import Json

_OPTION_WORDS = ("Alder", "Birch", "Cedar", "Damson")
_ORDINALS = ("one", "two", "three", "four", "five", "six")
_MOVES = ("publish the packages", "watch the errors for an hour", "tell support", "close the milestone")
_ALL_HATCHES = [Hatches(free_text=free, dialogue=dialogue) for free in (True, False) for dialogue in (True, False)]
_SAMPLE_META = Meta(decision_class="release", calibration_note="Note: the earlier estimate was too low.")


def make_moment(options: int, recommended: int, hatches: Hatches, meta: Meta | None = None) -> BindingMoment:
    """Return a binding moment with this many options."""
    moment = BindingMoment(
        synopsis="Synopsis: the release is ready and should go out tonight.",
        findings=tuple(
            f"Finding {ordinal}: the check called {ordinal} passed."
            for ordinal in _ORDINALS[: 3 if meta is None else 6]
        ),
        recommendations=tuple(
            f"Move {ordinal}: {move}."
            for ordinal, move in zip(_ORDINALS, _MOVES[: 2 if meta is None else 4], strict=False)
        ),
        offer="Offer: ask for the detail of any item.",
        question=Question(
            stem="Stem: what happens to the release?",
            options=tuple(
                Option(label=f"{word} the release", reasoning=f"Reasoning of {word.lower()}, on one line.")
                for word in _OPTION_WORDS[:options]
            ),
            recommended_idx=recommended,
            hatches=hatches,
        ),
    )
    return moment.model_copy(update={"meta": meta})


def _make_all_moments() -> dict[str, BindingMoment]:
    return {
        f"{options} options-{recommended + 1} recommended-{_name_open_hatches(hatches)}-{'meta' if meta else 'bare'}": (
            make_moment(options, recommended, hatches, meta)
        )
        for options, hatches, meta in product((2, 3, 4), _ALL_HATCHES, (_SAMPLE_META, None))
        for recommended in range(options)
    }


def _name_open_hatches(hatches: Hatches) -> str:
    names = [name for name, is_open in (("free text", hatches.free_text), ("dialogue", hatches.dialogue)) if is_open]
    return " and ".join(names) or "no hatch"


ORDINARY_MOMENTS: Mapping[str, BindingMoment] = _make_all_moments()
_OPTION_SETTINGS = ((2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (4, 4))
_HATCH_SETTINGS = (("free text and dialogue", "no hatch"), ("free text", "dialogue"))
FEW_MOMENTS: Mapping[str, BindingMoment] = {
    name: ORDINARY_MOMENTS[name]
    for place, (options, recommended) in enumerate(_OPTION_SETTINGS)
    for turn, hatches in enumerate(_HATCH_SETTINGS[place % 2])
    if (name := f"{options} options-{recommended} recommended-{hatches}-{('meta', 'bare')[(place // 2 + turn) % 2]}")
}


def fill_every_slot(text: str) -> BindingMoment:
    """Return a binding moment with ``text`` in every slot, with a marker word before and after it."""

    def wrap(slot: str) -> str:
        return f"{slot} {text} {slot}end"

    return BindingMoment(
        synopsis=wrap("Synopsis"),
        findings=(wrap("Finding"), text),
        recommendations=(wrap("Move"), text),
        offer=wrap("Offer"),
        question=Question(
            stem=wrap("Stem"),
            options=(
                Option(label=wrap("Alder"), reasoning=wrap("Cause")),
                Option(label=wrap("Birch"), reasoning=wrap("Motive")),
            ),
            recommended_idx=1,
            hatches=OPEN_HATCHES,
        ),
        meta=Meta(decision_class=wrap("Class"), calibration_note=wrap("Note")),
    )


def make_labelled_moment(*labels: str, recommended: int = 0) -> BindingMoment:
    """Return a binding moment with these option labels."""
    return BindingMoment(
        synopsis="The release should go out.",
        findings=("The checks passed.",),
        recommendations=("Publish it.",),
        offer="Ask for detail.",
        question=Question(
            stem="What happens to the release?",
            options=tuple(Option(label=label, reasoning=f"Cause {index}.") for index, label in enumerate(labels)),
            recommended_idx=recommended,
            hatches=OPEN_HATCHES,
        ),
    )


_HOSTILE_TEXTS = {
    "ANSI colours and a cleared screen": "\x1b[2J\x1b[31mred\x1b[0m\x9b1A",
    "ANSI title and link": "\x1b]0;title\x07\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "control characters": "a\x00b\x07c\x08\x08\x7fd\re\x0bf\x0cg",
    "lines of its own": "one\n2. Forged option (recommended)\r\n\u2028three\u2029four\x85five",
    "bidi overrides": "pay \u202e001$\u202c \u2066left\u2067right\u2069 \u200fmark\u061c",
    "zero-width": "pa\u200by\ufeff pa\u2060l \u00adsoft \u3164filler\u2800",
    "tags and selectors": "flag\U000e0067\U000e0062\U000e007f v\ufe0fs\U000e0101",
    "a heap of marks": "Z" + "\u0301\u0336\u0489" * 30 + "algo",
    "private use and no character": "\ue000\U000f0000\ufdd0\uffff",
    "a very long word": "w" * 450,
    "a very long wide word": "\u65e5\u672c" * 150,
    "a very long text": "many words " * 60,
    "HTML": "<script>alert(1)</script><img src=x onerror=alert(1)><b>bold</b> &lt;i&gt; &amp; \"q\" 'a' <!-- ]]>",
    "HTML that closes ours": "</p></label></form></textarea></style></script><button>Approve</button>",
    "Markdown": "# head **bold** _em_ `code` [text](https://evil.example) ![i](x.png) ~~no~~ | a | b | > q \\* 1) x",
    "Markdown blocks": "- item\n\n    indented\n\n```\nfence\n```\n\n---\n\n| a |\n|---|\n",
    "autolinks and mentions": "https://evil.example www.evil.example <mailto:a@b.example> a@b.example @all #1 GH-1",
    "mrkdwn": "<!channel> <@U012AB3CD> <#C024BE7LR> <https://evil.example|safe> *bold* _em_ ~no~ `code` :smile: &amp;",
    "templates": "${payload} ${if(true, 'a', 'b')} {{DATE(2017-02-14T06:08:00Z,SHORT)}} {{moment}} %s {0} $(id) `id`",
    "quotes and JSON": '"}],"recommended_idx":0,"x":[{"a":"\\u0041\\n',
    "plain, in many scripts": "Gr\u00fc\u00dfe \u65e5\u672c \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 "
    "\u0930\u094d\u200d\u092f \U0001f468\u200d\U0001f469\u200d\U0001f467 2\ufe0f\u20e3 \u05e9\u05dc\u05d5\u05dd",
}
_DECEPTIVE_LABELS = {
    "two labels that are equal": make_labelled_moment("Keep", "Keep"),
    "two labels that look equal": make_labelled_moment("Keep the copy", "K\u0435\u0435p the \u0441opy"),
    "the digit for the letter": make_labelled_moment("Wait 10 days", "Wait lO days"),
    "a false mark": make_labelled_moment("Ship", "Delete (recommended)"),
    "a false mark with a foreign letter": make_labelled_moment("Ship", "Delete [rec\u043emmended]", recommended=0),
    "a false star": make_labelled_moment("Ship", "\u2605 Delete"),
    "a false tick": make_labelled_moment("Ship", "\u2714\ufe0f Delete"),
    "another's key": make_labelled_moment("Ship", "1. Wait", "Delete", recommended=2),
    "a veto's key": make_labelled_moment("Ship", "[a] Wait"),
    "a veto's name": make_labelled_moment("Ship", "d. This is the wrong question: talk first"),
    "no label": make_labelled_moment("Ship", ""),
    "only what cannot be seen": make_labelled_moment("Ship", "\u200b\u3164"),
}
HOSTILE_MOMENTS: Mapping[str, BindingMoment] = {
    **{name: fill_every_slot(text) for name, text in _HOSTILE_TEXTS.items()},
    **_DECEPTIVE_LABELS,
}
"""Surfaces must draw each of these completely and safely."""
HUGE_MOMENTS: Mapping[str, BindingMoment] = {
    "a very long word": fill_every_slot("w" * 5_000),
    "a very long text": fill_every_slot("many words " * 600),
    "many findings and recommendations": fill_every_slot("many").model_copy(
        update={
            "findings": tuple(f"Finding number {number}." for number in range(1, 31)),
            "recommendations": tuple(f"Move number {number}." for number in range(1, 31)),
        }
    ),
}
"""Surfaces draw each of these completely, or raise ``InputError``."""
TOOL_PAYLOAD: Mapping[str, Json] = {"released": False, "waiting": ["one", "two"]}
"""The tool's own payload, next to the envelope."""
VALID_MOMENT: BindingMoment = make_moment(3, 1, OPEN_HATCHES)
"""The envelope that ``_MUTATIONS`` break."""
OTHER_MOMENT: BindingMoment = VALID_MOMENT.model_copy(update={"offer": "Offer: ask for the detail of any other item."})
"""An envelope that differs from all others in one word."""


def _update_question(moment: dict[str, Any], **changes: Json) -> None:
    moment["question"].update(changes)


_EXTRA_OPTION = {"label": "Elder the release", "reasoning": "Reasoning of elder, on one line."}
_MUTATIONS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no synopsis": lambda moment: moment.pop("synopsis"),
    "no findings": lambda moment: moment.pop("findings"),
    "no recommendations": lambda moment: moment.pop("recommendations"),
    "no offer": lambda moment: moment.pop("offer"),
    "no question": lambda moment: moment.pop("question"),
    "no stem": lambda moment: moment["question"].pop("stem"),
    "no hatches": lambda moment: moment["question"].pop("hatches"),
    "one hatch missing": lambda moment: moment["question"]["hatches"].pop("dialogue"),
    "a hatch that is a word": lambda moment: moment["question"]["hatches"].update(dialogue="yes"),
    "one option": lambda moment: _update_question(moment, options=moment["question"]["options"][:1], recommended_idx=0),
    "five options": lambda moment: moment["question"]["options"].extend([_EXTRA_OPTION, _EXTRA_OPTION]),
    "an option without reasoning": lambda moment: moment["question"]["options"][2].pop("reasoning"),
    "nothing recommended": lambda moment: moment["question"].pop("recommended_idx"),
    "two recommended": lambda moment: _update_question(moment, recommended_idx=[0, 1]),
    "recommended beyond the last": lambda moment: _update_question(moment, recommended_idx=3),
    "recommended below the first": lambda moment: _update_question(moment, recommended_idx=-1),
    "recommended by true": lambda moment: _update_question(moment, recommended_idx=True),
    "an unknown member": lambda moment: moment.update(urgency="high"),
    "meta null": lambda moment: moment.update(meta=None),
    "half a character": lambda moment: moment.update(synopsis="\ud83d is half of one."),
}


def _mutate(mutation: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    moment = VALID_MOMENT.to_json()
    mutation(moment)
    return moment


MALFORMED_RESULTS: Mapping[str, Json] = {
    **{name: {**TOOL_PAYLOAD, "binding_moment": _mutate(mutation)} for name, mutation in _MUTATIONS.items()},
    "null": {**TOOL_PAYLOAD, "binding_moment": None},
    "a text": {**TOOL_PAYLOAD, "binding_moment": "Synopsis: the release is ready and should go out tonight."},
    "a list": {**TOOL_PAYLOAD, "binding_moment": [VALID_MOMENT.to_json()]},
}
"""Results with an envelope that surfaces must discard."""
RESULTS_WITHOUT_MOMENT: Mapping[str, Json] = {
    "no envelope": {**TOOL_PAYLOAD},
    "nothing": {},
    "no object": ["one", "two"],
    "a text": "released",
    "null": None,
}
"""Valid results of a tool that emitted no envelope."""
