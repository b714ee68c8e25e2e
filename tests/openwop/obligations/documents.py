"""N1 to N11: the envelope, its kinds and their schemas."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, of

DOCUMENTS = (
    Obligation(
        "N1",
        Level.MUST,
        "The envelope has a closed set of members; what a vendor adds stands in its payload.",
        ("emitter.kinds.envelope:AIEnvelope", "emitter.accept.gates.shape:shape"),
        (
            *of("openwop/test_shape", "test_ai_envelope_shape__both_schemas_refuse_what_is_closed_or_required"),
            *of("accept/test_never_raises", "test_the_shape_is_taken_exactly_where_openwop_s_schema_takes_it"),
            *of(
                "openwop/test_obligations",
                "test_what_a_vendor_adds_stands_in_the_payload",
                "test_an_envelope_speaks_for_no_other_node",
            ),
        ),
        note="Its `nodeId` is the node that emitted it, or absent: an envelope that names another node is refused.",
    ),
    Obligation(
        "N2",
        Level.MUST,
        "`meta` says who made the envelope and when.",
        ("emitter.kinds.envelope:EnvelopeMeta", "emitter.accept.gates.shape:shape"),
        (
            *of("openwop/test_obligations", "test_an_envelope_says_when_it_was_made"),
            *of("openwop/test_shape", "test_ai_envelope_shape__a_time_that_is_none_is_invalid"),
            *of("accept/test_route", "test_what_is_amiss_and_taken_is_warned_of"),
        ),
        note="As v1 allows, a missing `meta.source` is taken as `ai-generation`, with a warning.",
    ),
    Obligation(
        "N3",
        Level.MUST,
        "Ids have at most 128 characters.",
        ("emitter.kinds.envelope:LONGEST_ID",),
        of("openwop/test_obligations", "test_an_id_has_1_to_128_characters"),
    ),
    Obligation(
        "N4",
        Level.MUST,
        "Every host knows the four universal kinds, lets them pass every contract, and lists them with any other.",
        (
            "emitter.kinds.universal:UNIVERSAL",
            "emitter.accept.gates.permission:contract",
            "emitter.accept.capabilities:capabilities",
        ),
        (
            *of(
                "openwop/test_kinds",
                "test_ai_envelope_universal_kinds__each_is_accepted",
                "test_ai_envelope_universal_kinds__each_is_advertised",
            ),
            *of("openwop/test_permission", "test_ai_envelope_contract_refusal__a_universal_kind_passes_every_contract"),
            *of("accept/test_capabilities", "test_the_universal_four_are_listed_with_any_other"),
        ),
    ),
    Obligation(
        "N5",
        Level.MUST,
        "Kinds of a domain have a vendor's namespace before their name.",
        ("emitter.accept.catalogue.naming:check_name",),
        (
            *of(
                "accept/catalogue/test_naming",
                "test_a_name_without_namespace_is_refused",
                "test_a_reserved_name_is_refused",
            ),
            *of("openwop/test_schemas", "test_spec_corpus_validity__our_own_kinds_are_namespaced"),
        ),
    ),
    Obligation(
        "N6",
        Level.MUST,
        "Each kind has a JSON Schema (2020-12) at its canonical address.",
        ("emitter.accept.catalogue.kind:Kind.document", "emitter.accept.asgi:discovery_app"),
        (
            *of("accept/catalogue/test_published", "test_it_is_a_canonical_document"),
            *of("accept/test_asgi", "test_each_schema_is_served_at_its_canonical_path"),
            *of("openwop/test_serving", "test_each_kinds_schema_is_served_at_its_canonical_address"),
        ),
        note="Served by the application of the extra `asgi`, or from `Kind.document` by yours.",
    ),
    Obligation(
        "N7",
        Level.MUST,
        "The host advertises a version for each kind, and refuses a higher one.",
        ("emitter.accept.catalogue.table:Catalogue.versions", "emitter.accept.gates.kind:kind"),
        (
            *of("accept/catalogue/test_standard", "test_versions_are_those_advertised"),
            *of("openwop/test_kinds", "test_ai_envelope_schema_drift__a_higher_version_is_refused"),
        ),
        note="A kind that is registered with `version=None` has none to advertise; N7 and N8 then ask nothing of it.",
    ),
    Obligation(
        "N8",
        Level.MUST,
        "A lower version is marked as drift, or refused by a strict host.",
        ("emitter.accept.gates.kind:kind", "emitter.accept.context:Strictness"),
        of(
            "openwop/test_kinds",
            "test_ai_envelope_schema_drift__a_lower_version_is_accepted_and_marked",
            "test_ai_envelope_schema_drift__a_strict_host_refuses_a_lower_version",
        ),
    ),
    Obligation(
        "N9",
        Level.MUST,
        "Variants are an `anyOf` whose branches differ in one required field of one fixed text; never a `oneOf`.",
        ("emitter.accept.catalogue.variants:untold", "emitter.schema.lint.tier1:lint_variants"),
        (
            *of("accept/catalogue/test_variants", "test_variants_that_no_field_tells_apart_are_refused"),
            *of("openwop/test_schemas", "test_envelope_variant_discriminator_static__every_served_schema_has_tags"),
        ),
    ),
    Obligation(
        "N10",
        Level.MUST,
        "No envelope is refused for want of `reasoning`, nothing is routed by it, and secrets are struck out of it.",
        (
            "emitter.accept.catalogue.kind:Kind.violations",
            "emitter.kinds.turn:with_reasoning",
            "emitter.accept.route:route",
        ),
        (
            *of("openwop/test_schemas", "test_envelope_reasoning_shape__it_is_an_optional_text"),
            *of(
                "accept/catalogue/test_register",
                "test_no_payload_is_refused_for_want_of_reasoning",
                "test_what_else_is_wrong_is_told_without_the_reasoning",
                "test_null_is_no_reasoning_in_the_kinds_that_come_with_the_library",
            ),
            *of("kinds/test_turn", "test_reasoning_may_be_missing"),
            *of(
                "openwop/test_redaction",
                "test_envelope_reasoning_secret_redaction__nothing_is_routed_by_it",
                "test_envelope_reasoning_secret_redaction__reasoning_is_struck_like_any_text",
            ),
        ),
    ),
    Obligation(
        "N11",
        Level.MUST,
        "Who reads a payload takes null for absence.",
        ("emitter.schema.compiled:Compiled.decode",),
        (
            *of("core/test_judge", "test_a_null_optional_is_absent"),
            *of("schema/test_turn", "test_nulls_for_optionals_are_read_as_absent"),
            *of("openwop/test_obligations", "test_null_is_taken_as_absence_is"),
        ),
        beyond=(
            "What a model writes is read so, and `reasoning` in every envelope. Of the other members of an envelope's "
            "payload a kind decides by its schema whether null is admitted, and a handler what it means: the universal "
            "kinds admit none, as in the protocol's own schemas. An envelope is recorded and handed on as it came."
        ),
    ),
)
