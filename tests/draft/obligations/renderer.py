"""Section 8: what every renderer preserves."""

from __future__ import annotations

from tests.draft.obligations.form import contract
from tests.traced.form import Level, Obligation, Passage, of

RENDERER = (
    Passage(
        Obligation(
            "8.1",
            Level.MUST,
            "All four briefing slots are drawn in full.",
            (
                "emitter.testing.surfaces:SurfaceContract",
                "emitter.render.layout:build_layout",
            ),
            (
                *contract(
                    "test_the_briefing_is_drawn_completely", "test_a_huge_decision_is_drawn_completely_or_refused"
                ),
                *of("render/json/test_laws", "test_any_envelope_is_drawn_in_the_format_and_whole"),
                *of(
                    "terminal/test_picker",
                    "test_everything_is_shown_and_nothing_is_chosen",
                    "test_no_size_hides_a_word",
                ),
                *of("web/test_browser", "test_a_screen_reader_hears_all_of_it"),
            ),
        ),
        (
            "21b22e4c",
            "00e83fd8",
            "19b59dff",
        ),
    ),
    Passage(
        Obligation(
            "8.2",
            Level.MUST,
            "The recommended option is recognisable without an action, and not by colour alone.",
            (
                "emitter.testing.surfaces:SurfaceContract",
                "emitter.render.layout:OptionLayout",
            ),
            (
                *contract("test_exactly_the_recommended_option_is_marked", "test_the_mark_is_in_words"),
                *of("terminal/test_picker", "test_no_colour_is_needed"),
                *of("web/test_looks", "test_forced_colours_keep_mark_and_choice"),
            ),
        ),
        ("7f7a2ac3",),
    ),
    Passage(
        Obligation(
            "8.3",
            Level.MUST,
            "Every hatch that is open can be invoked.",
            ("emitter.testing.surfaces:SurfaceContract",),
            (
                *contract("test_every_open_hatch_and_no_other_can_be_invoked"),
                *of("terminal/test_picker", "test_each_veto_has_its_key"),
                *of("web/test_browser", "test_the_keyboard_is_enough"),
            ),
        ),
        (
            "78d047cd",
            "7f07dce5",
            "22d8acfe",
        ),
    ),
    Passage(
        Obligation(
            "8.4",
            Level.MUST,
            "The reasoning of each option is shown, or one step away.",
            ("emitter.testing.surfaces:SurfaceContract",),
            (*contract("test_every_option_is_drawn_with_its_reasoning"),),
        ),
    ),
    Passage(
        Obligation(
            "8.5",
            Level.MAY,
            "Each surface draws with its own means.",
            ("emitter.render:get_renderer",),
            (
                *of("render/text/test_formats", "test_every_format_has_a_renderer_of_its_name"),
                *of("testing/surfaces/test_kit", "test_a_broken_surface_fails_with_the_sentence_that_it_breaks"),
            ),
        ),
        ("81ed381f",),
    ),
    Passage(
        Obligation(
            "8.6",
            Level.MUST,
            "A surface that cannot draw the envelope, or receives a malformed one, shows the tool's own payload.",
            ("emitter.render.delivery:read_structured_content", "emitter.render.delivery:read_tool_result"),
            (*contract("test_a_malformed_decision_falls_back", "test_a_result_without_a_decision_stays_unchanged"),),
        ),
        ("3148159f",),
    ),
    Passage(
        Obligation(
            "8.7",
            Level.SHOULD,
            "Nothing fails only because a surface cannot draw an envelope.",
            ("emitter.render.delivery:present",),
            (
                *of(
                    "render/test_delivery",
                    "test_a_surface_without_room_falls_back",
                    "test_anything_can_be_delivered",
                ),
            ),
        ),
        ("719067eb",),
    ),
)
