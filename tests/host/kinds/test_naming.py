"""What a host may call a kind of its own."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.errors import InputError
from emitter.host.kinds import KindRegistry
from emitter.host.registry import register_kind

OBJECT = {"type": "object"}

GOOD = [
    "vendor.acme.prd.create",
    "vendor.acme.x",
    "vendor.openwop.misbehaving-sandbox",
    "private.acme.canvas_tools",
    "community.john.image-tools",
    "community.notes",
    "local.dev-test",
    "x-host-acme-low-confidence",
    "vendor.acme.PrdCreate",
    f"vendor.acme.{'k' * 244}",
]
RESERVED = [
    "openwop.error",
    "core.ai.callPrompt",
    "host.fs",
    "media.video",
    "media.image",
    "ui.a2ui-surface",
    "ui.form",
    "vendor.emitter.binding-moment",
    "vendor.emitter.mine",
    "vendor.emitter",
    "error",
    "error.mine",
    "clarification.request",
    "schema.request",
    "schema.response",
]
UNNAMESPACED = [
    "acme.prd.create",
    "prd.update",
    "vendor.acme",
    "private.acme",
    "local",
    "vendor",
    "x-host-acme",
    "note",
]
LEGACY = ["prd.create", "theme.create", "tasks.create"]
ODD: dict[str, Any] = {
    "empty": "",
    "a slash": "vendor.acme/prd",
    "a step up": "vendor.acme...prd",
    "a step up in a path": "vendor.acme/../../etc",
    "a leading dot": ".vendor.acme.prd",
    "a last dot": "vendor.acme.prd.",
    "a blank": "vendor.acme.my kind",
    "a line break": "vendor.acme.prd\n",
    "a percent sign": "vendor.acme.%2e%2e",
    "braces": "vendor.acme.{prd}",
    "a backslash": "vendor.acme.a\\b",
    "NUL": "vendor.acme.a\0b",
    "a letter of no ASCII": "vendor.acme.größe",
    "a digit of no ASCII": "vendor.acme.٣",
    "257 characters": f"vendor.acme.{'k' * 245}",
    "no text": 7,
    "nothing": None,
}


@pytest.mark.parametrize("kind_id", GOOD, ids=lambda each: each[:40])
def test_a_namespaced_name_is_taken(kind_id: str) -> None:
    """It is in the catalogue, and in the URL of its schema, as it is."""
    catalogue = register_kind(kind_id, OBJECT, registry=KindRegistry())

    assert catalogue.ids[-1] == kind_id
    assert catalogue[kind_id].schema["$id"] == f"/schemas/envelopes/{kind_id}.schema.json"


@pytest.mark.parametrize("kind_id", RESERVED)
def test_a_reserved_name_is_refused(kind_id: str) -> None:
    """It is the protocol's, or this library's, to name."""
    with pytest.raises(InputError, match=r"is reserved: .* Use vendor\.<org>\.<name>"):
        register_kind(kind_id, OBJECT, legacy=True)


@pytest.mark.parametrize("kind_id", UNNAMESPACED)
def test_a_name_without_namespace_is_refused(kind_id: str) -> None:
    """Two hosts might give it; ``legacy`` admits three names, and no others."""
    with pytest.raises(InputError, match=r"has no namespace\. Use vendor\.<org>\.<name>"):
        register_kind(kind_id, OBJECT, legacy=True)


@pytest.mark.parametrize("kind_id", LEGACY)
def test_a_name_from_before_namespaces_needs_a_word(kind_id: str) -> None:
    """It is taken where the host says that it means it."""
    with pytest.raises(InputError, match=r"has no namespace\. Pass legacy=True to keep it, or use vendor"):
        register_kind(kind_id, OBJECT)

    assert kind_id in register_kind(kind_id, OBJECT, legacy=True)


@pytest.mark.parametrize("kind_id", ODD.values(), ids=ODD.keys())
def test_an_odd_name_is_refused(kind_id: Any) -> None:
    """It would not be safe in a path or a file's name."""
    with pytest.raises(InputError, match="is not a valid kind id"):
        register_kind(kind_id, OBJECT, legacy=True)
