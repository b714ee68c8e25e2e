"""N33 to N37: media, surfaces, several envelopes, questions and hints."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, of

HOSTING = (
    Obligation(
        "N33",
        Level.MUST,
        "Media have unguessable addresses of their tenant, or are inline within the limit; they are kept as "
        "long as the log, and bundles refer to them.",
        ("emitter.host.kinds:media_kinds", "emitter.host.observability:build_debug_bundle"),
        (
            *of("host/kinds/test_media", "test_an_asset_that_is_not", "test_any_bytes_are_taken_up_to_the_cap"),
            *of("host/test_bundle", "test_a_bundle_refers_to_assets"),
            *of(
                "openwop/test_payloads",
                "test_media_url_inline_cap__goes_by_url_or_small_and_inline",
                "test_media_url_inline_cap__the_cap_is_advertised_as_it_is_held",
                "test_media_url_inline_cap__an_event_refers_to_an_asset_and_holds_none",
            ),
        ),
        beyond=(
            "The library serves and keeps no assets: their addresses and how long they are kept are up to the "
            "host. The limit and the form of an address are checked, and the debug bundle lists the addresses."
        ),
    ),
    Obligation(
        "N34",
        Level.MUST,
        "A surface uses the closed catalogue or is refused, runs no code, leads only to `resume` or "
        "`exchange`, acts only when it is complete, and fails no run of a host that cannot render it.",
        ("emitter.host.kinds:A2UI_KIND", "emitter.host:EnvelopeReassembler", "emitter.host.pipeline:STORE_ONLY_STEPS"),
        (
            *of("openwop/test_payloads", "test_a2ui_surface_shape__the_catalogue_is_closed"),
            *of("host/kinds/test_a2ui", "test_a_surface_that_is_not", "test_an_unknown_version_is_told_apart"),
            *of(
                "openwop/test_obligations",
                "test_a_surface_does_nothing_before_it_is_whole",
                "test_content_that_a_host_cannot_show_fails_no_node",
            ),
            *of(
                "host/test_dedup",
                "test_content_that_the_host_cannot_show_is_stored",
                "test_stored_content_holds_no_secret_and_states_its_trust",
                "test_what_the_node_may_not_emit_is_not_stored",
            ),
        ),
        note=(
            "The library renders no surfaces. A host that does not list the kind gates it with a warning and "
            "stores it, redacted and with its trust, for whoever can render it (`Acceptor.recall`). No round "
            "is used up and the node continues. Its payload was not validated: validate it before you render "
            "it. A host with `store=None` keeps nothing."
        ),
    ),
    Obligation(
        "N35",
        Level.MUST,
        "The envelopes of a turn are accepted in order, up to the limit; the next one is a breach and fails the node.",
        ("emitter.host:Turn", "emitter.host.validation:check_limits"),
        (
            *of(
                "host/test_turn",
                "test_all_are_taken_in_order",
                "test_one_too_many_is_breached",
                "test_a_text_is_taken_apart",
                "test_a_turn_never_accepts_more_than_it_may",
                "test_a_repetition_that_is_refused_is_counted",
            ),
            *of(
                "host/test_emissions_kept",
                "test_a_hosts_envelopes_per_turn_bind_the_emissions_of_a_turn",
                "test_a_hosts_clarification_rounds_bind_the_emissions_of_a_node",
                "test_an_emission_under_way_counts",
            ),
            *of(
                "openwop/test_permission",
                "test_ai_envelope_cap_breached__at_the_cap_it_is_breached",
                "test_ai_envelope_cap_breached__is_reported_once_and_fails_the_node",
            ),
        ),
    ),
    Obligation(
        "N36",
        Level.MUST,
        "A request for clarification becomes an interrupt, or is refused as `not-applicable`.",
        ("emitter.host.pipeline:call_handler", "emitter.events:InterruptRequested"),
        of(
            "openwop/test_events",
            "test_interrupt_clarification__the_node_waits_with_the_questions",
            "test_interrupt_clarification__is_openwops_interrupt_payload",
            "test_interrupt_clarification__a_host_that_can_ask_nobody_refuses",
        ),
        note="The engine reads these events, asks someone, pauses the node and resumes it.",
    ),
    Obligation(
        "N37",
        Level.MUST,
        "A rendering hint does not affect validation, and a consumer ignores an unknown one.",
        ("emitter.models.envelope:RenderingHint",),
        of("openwop/test_payloads", "test_envelope_rendering_hint__is_optional_and_changes_no_judgement"),
        beyond=(
            "The library does not use hints, so ignoring an unknown one is up to whoever renders the payload. "
            "An envelope with a hint outside the closed form is refused, as the protocol's suite wants."
        ),
    ),
)
