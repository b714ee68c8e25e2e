"""Section 7: delivery by the Model Context Protocol."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

DELIVERY = (
    Passage(
        Obligation(
            "7.1",
            Level.MAY,
            "The envelope is added to the tool's own payload, which does not change.",
            ("emitter.mcp.tools:attach_moment", "emitter.mcp.tools:binding_moment"),
            (
                *of("mcp/test_attach", "test_the_payload_is_not_touched", "test_without_an_envelope_nothing_is_added"),
                *of("mcp/test_extension", "test_a_decision_is_added_to_any_tool"),
                *of("render/test_delivery", "test_an_envelope_beside_a_payload"),
            ),
        ),
        ("bb704660",),
    ),
    Passage(
        Obligation(
            "7.2",
            Level.SHOULD,
            "A tool that may emit an envelope says so in the list of tools.",
            ("emitter.mcp.tools:advertises",),
            (
                *of("mcp/test_advert", "test_it_is_read_from_json", "test_it_is_added_to_what_a_tool_says_of_itself"),
                *of("mcp/test_tool", "test_the_tool_is_reported_as_it_was_but_for_the_member_and_the_advert"),
            ),
            note=(
                "The advert is in `_meta`, with and without a prefix, because SDKs drop annotations that they "
                "do not know."
            ),
        ),
        (
            "fc5d5967",
            "8eb21900",
        ),
    ),
    Passage(
        Obligation(
            "7.3",
            Level.MUST,
            "A surface looks for an envelope in every result, whatever the list says.",
            ("emitter.render.delivery:read_tool_result",),
            (
                *of("mcp/test_tool", "test_a_tool_that_emits_sometimes_is_conformant"),
                *of("render/test_delivery", "test_an_envelope_is_found_wherever_a_host_left_it"),
            ),
        ),
        ("303b91e5",),
    ),
    Passage(
        Obligation(
            "7.4",
            Level.MAY,
            "Envelopes may be introduced behind a flag.",
            ("emitter.mcp.tools:binding_moment", "emitter.mcp.extension:BindingMoments"),
            (
                *of("mcp/test_flag", "test_it_stands_behind_a_flag", "test_a_flag_is_asked_at_each_call"),
                *of("mcp/test_extension", "test_it_stands_behind_a_flag"),
            ),
        ),
        ("7a4ed90f",),
    ),
    Passage(
        Obligation(
            "7.5",
            Level.MUST,
            "An envelope addresses one principal; it is not a broadcast.",
            ("emitter.decisions.ledger:Ledger",),
            (
                *of("decisions/ledger/test_races", "test_of_many_processes_one_resolves"),
                *of("mcp/test_transports", "test_an_envelope_goes_to_the_caller_alone"),
            ),
            beyond=(
                "An envelope asks for one resolution, and the ledger takes one. The host decides to whom a "
                "tool's result is shown."
            ),
        ),
        ("fa8fce59",),
    ),
)
