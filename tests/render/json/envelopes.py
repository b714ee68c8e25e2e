"""Any envelope: texts in any script and none, markup of every surface, and texts that are long."""

from __future__ import annotations

from hypothesis import strategies as st

from emitter.models import BindingMoment, Hatches, Meta, Option, Question

MARKUP = (
    *("<!channel>", "<@U012AB3CD>", "<https://e.example|safe>", "&amp;", "&", "*b*", "_i_", "~s~", "`c`", ":x:", "> q"),
    *("**b**", "[t](https://e.example)", "![i](e.png)", "# h", "- l", "1. n", "| a | b |", "\\", "<b>", "<!--", "***"),
    *(
        "${x}",
        "{{DATE(2017-02-14T06:08:00Z,SHORT)}}",
        "$",
        "{",
        "{{",
        "$${{",
        "{path}",
        "(recommended)",
        "option:0",
        "#",
    ),
    *("\x1b[31m", "\u202e", "\n", "\r\n2. ", "\u2028", "\u200b", "\0"),
)

_PIECES = st.sampled_from(MARKUP) | st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
TEXTS = st.lists(_PIECES, max_size=5).map("".join)
LONG = st.tuples(st.sampled_from((*MARKUP, "word ", "w", "\u65e5")), st.integers(100, 1500)).map(
    lambda it: it[0] * it[1]
)


def envelopes(texts: st.SearchStrategy[str] = TEXTS) -> st.SearchStrategy[BindingMoment]:
    """Return a strategy of envelopes with such texts."""
    options = st.lists(st.builds(Option, label=texts, reasoning=texts), min_size=2, max_size=4)
    return options.flatmap(lambda given: _around(texts, given))


def _around(texts: st.SearchStrategy[str], options: list[Option]) -> st.SearchStrategy[BindingMoment]:
    several = st.lists(texts, max_size=6).map(tuple)
    question = st.builds(
        Question,
        stem=texts,
        options=st.just(tuple(options)),
        recommended_idx=st.integers(0, len(options) - 1),
        hatches=st.builds(Hatches, free_text=st.booleans(), dialogue=st.booleans()),
    )
    meta = st.fixed_dictionaries({}, optional={"decision_class": texts, "calibration_note": texts})
    slots = {"synopsis": texts, "findings": several, "recommendations": several, "offer": texts, "question": question}
    made = st.fixed_dictionaries(slots, optional={"meta": meta.map(Meta.model_validate)})
    return made.map(BindingMoment.model_validate)
