"""Well-formed envelopes whose texts try to be more than text: orders to a terminal, markup, other people's labels.

Each is one slot's worth of hostility put into every slot (``everywhere``), or labels that pass for something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.kinds import OPEN_HATCHES, BindingMoment, Meta, Option, Question

if TYPE_CHECKING:
    from collections.abc import Mapping


def everywhere(text: str) -> BindingMoment:
    """Return an envelope with ``text`` in every slot, each with a word of its own before and after."""

    def within(slot: str) -> str:
        return f"{slot} {text} {slot}end"

    return BindingMoment(
        synopsis=within("Synopsis"),
        findings=(within("Finding"), text),
        recommendations=(within("Move"), text),
        offer=within("Offer"),
        question=Question(
            stem=within("Stem"),
            options=(
                Option(label=within("Alder"), reasoning=within("Cause")),
                Option(label=within("Birch"), reasoning=within("Motive")),
            ),
            recommended_idx=1,
            hatches=OPEN_HATCHES,
        ),
        meta=Meta(decision_class=within("Class"), calibration_note=within("Note")),
    )


def labelled(*labels: str, recommended: int = 0) -> BindingMoment:
    """Return an envelope with these labels."""
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


_TEXTS = {
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

_LABELS = {
    "two labels that are equal": labelled("Keep", "Keep"),
    "two labels that look equal": labelled("Keep the copy", "K\u0435\u0435p the \u0441opy"),
    "the digit for the letter": labelled("Wait 10 days", "Wait lO days"),
    "a false mark": labelled("Ship", "Delete (recommended)"),
    "a false mark with a foreign letter": labelled("Ship", "Delete [rec\u043emmended]", recommended=0),
    "a false star": labelled("Ship", "\u2605 Delete"),
    "a false tick": labelled("Ship", "\u2714\ufe0f Delete"),
    "another's key": labelled("Ship", "1. Wait", "Delete", recommended=2),
    "a veto's key": labelled("Ship", "[a] Wait"),
    "a veto's name": labelled("Ship", "d. This is the wrong question: talk first"),
    "no label": labelled("Ship", ""),
    "only what cannot be seen": labelled("Ship", "\u200b\u3164"),
}

HOSTILE: Mapping[str, BindingMoment] = {
    **{name: everywhere(text) for name, text in _TEXTS.items()},
    **_LABELS,
}
"""Every one is drawn, whole and harmless."""

HUGE: Mapping[str, BindingMoment] = {
    "a very long word": everywhere("w" * 5_000),
    "a very long text": everywhere("many words " * 600),
    "many findings and recommendations": everywhere("many").model_copy(
        update={
            "findings": tuple(f"Finding number {each}." for each in range(1, 31)),
            "recommendations": tuple(f"Move number {each}." for each in range(1, 31)),
        }
    ),
}
"""Drawn whole, or refused with ``InputError`` where a surface has no room: never in part."""
