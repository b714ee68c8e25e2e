"""Rendering hints, media, and the A2UI surface: what may stand in an envelope beside words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.host import STANDARD, AIEnvelope
from emitter.host.capabilities import CapabilitySettings, build_capabilities
from emitter.host.config import HostConfig
from emitter.models.standard_kinds import A2UI_SCHEMA
from tests.models.openwop import FOLDER, errors
from tests.openwop.accepting import EVERYTHING
from tests.openwop.asking import META, UNIVERSAL, envelope, to_run

if TYPE_CHECKING:
    from tests.openwop.asking import Seam
ENVELOPES = FOLDER / "envelopes"

HINTS: dict[str, tuple[Any, bool]] = {
    "image": ({"display": "image", "mimeType": "image/png", "alt": "A bar for each month", "title": "Months"}, True),
    "code": ({"display": "code", "lang": "python"}, True),
    "empty": ({}, True),
    "hologram": ({"display": "hologram"}, False),
    "one-member-more": ({"display": "markdown", "wat": True}, False),
}


@pytest.mark.parametrize(("hint", "holds"), HINTS.values(), ids=HINTS)
def test_envelope_rendering_hint__is_closed(seam: Seam, hint: Any, holds: bool) -> None:
    """The library takes what OpenWOP's schema takes."""
    given = envelope("error", meta={**META, "rendering": hint})

    assert (seam.accept(given)["status"] == "accepted") is holds
    if FOLDER.is_dir():
        assert (errors(given, "ai-envelope.schema.json") == []) is holds


def test_envelope_rendering_hint__is_optional_and_changes_no_judgement(seam: Seam) -> None:
    """An envelope without it holds; a payload that does not hold is not helped by it."""
    hinted = {**META, "rendering": {"display": "markdown"}}

    assert seam.accept(envelope("error"))["status"] == "accepted"
    assert seam.accept(envelope("error", payload={}, meta=hinted))["status"] == "invalid"
    assert AIEnvelope.model_validate(envelope("error", meta=hinted), by_name=False).meta.rendering is not None


URL = "https://host.example/assets/3f9a"
INLINE_CAP = 262_144
MEDIA: dict[str, tuple[str, dict[str, Any], bool]] = {
    "by-url": ("media.image", {"url": URL, "bytes": 184320, "mimeType": "image/png"}, True),
    "inline": ("media.audio", {"base64": "AAAA", "bytes": 3, "mimeType": "audio/ogg", "durationSeconds": 1.2}, True),
    "no-bytes": ("media.file", {"url": URL}, False),
    "one-member-more": ("media.image", {"url": URL, "bytes": 1, "wat": True}, False),
    "at-the-cap": ("media.file", {"base64": "AAAA" * (INLINE_CAP // 3) + "AA==", "bytes": INLINE_CAP}, True),
    "above-the-cap": ("media.file", {"base64": "AAAA" * (INLINE_CAP // 3 + 1), "bytes": INLINE_CAP + 2}, False),
    "large-by-url": ("media.file", {"url": URL, "bytes": INLINE_CAP * 9}, True),
}


@pytest.mark.parametrize(("kind", "payload", "holds"), MEDIA.values(), ids=MEDIA)
def test_media_url_inline_cap__goes_by_url_or_small_and_inline(
    seam: Seam, kind: str, payload: dict[str, Any], holds: bool
) -> None:
    """``bytes`` is required, the payload closed, and what is above the cap goes by url."""
    assert (seam.accept(envelope(kind, payload=payload))["status"] == "accepted") is holds


def test_media_url_inline_cap__the_cap_is_advertised_as_it_is_held() -> None:
    """And not at all by a host without media."""
    reported = build_capabilities(CapabilitySettings(config=HostConfig(registry=EVERYTHING)))["aiProviders"]

    assert reported["maxInlineMediaBytes"] == INLINE_CAP
    assert "maxInlineMediaBytes" not in build_capabilities(CapabilitySettings()).get("aiProviders", {})


def test_media_url_inline_cap__an_event_refers_to_an_asset_and_holds_none(seam: Seam) -> None:
    """The debug bundle lists the address of an asset, and no bytes of one."""
    for payload in ({"url": URL, "bytes": 184320}, {"base64": "AAAA", "bytes": 3}):
        reported = seam.accept(envelope("media.image", payload=payload), projectTo={"runId": "assets"})
        assert reported["status"] == "accepted"

    bundle = seam.bundle("assets")
    assert bundle["assets"] == [URL]
    assert "AAAA" not in json.dumps(bundle)


COMPONENTS: list[dict[str, Any]] = [
    {"component": "heading", "text": "A trip", "level": 2},
    {"component": "text", "text": "Say when you go."},
    {"component": "field.text", "id": "name", "label": "Who goes", "required": True},
    {"component": "field.date", "id": "when", "label": "Date"},
    {"component": "field.select", "id": "seat", "label": "Seat", "options": [{"value": "a", "label": "Window"}]},
    {"component": "field.checkbox", "id": "wake", "label": "Wake me", "default": True},
    {"component": "action.button", "id": "go", "label": "Go", "action": {"target": "resume"}},
]


def _button(**action: str) -> dict[str, Any]:
    return {"component": "action.button", "id": "x", "label": "X", "action": action}


def _surface(*components: dict[str, Any], version: str = "0.9.1") -> dict[str, Any]:
    return {"catalogVersion": version, "surface": {"title": "Trip", "components": list(components)}}


WHOLE = {**_surface(*COMPONENTS), "reasoning": "It takes a form."}
SURFACES: dict[str, tuple[dict[str, Any], bool]] = {
    "every-component": (WHOLE, True),
    "exchange": (_surface(_button(target="exchange")), True),
    "no-version": ({"surface": WHOLE["surface"]}, False),
    "no-surface": ({"catalogVersion": "0.9.1"}, False),
    "iframe": (_surface({"component": "iframe", "src": "https://elsewhere.example/"}), False),
    "script": (_surface({"component": "heading", "text": "Hi", "onClick": "alert(1)"}), False),
    "target-url": (_surface(_button(target="http://elsewhere.example")), False),
    "action-url": (_surface(_button(target="resume", url="https://elsewhere.example/take")), False),
    "other-version": (_surface(version="9.9.9"), False),
}


@pytest.mark.parametrize(("payload", "holds"), SURFACES.values(), ids=SURFACES)
def test_a2ui_surface_shape__the_catalogue_is_closed(seam: Seam, payload: dict[str, Any], holds: bool) -> None:
    """Nothing that could run, load or lead elsewhere is taken."""
    assert (seam.accept(envelope("ui.a2ui-surface", payload=payload))["status"] == "accepted") is holds
    if ENVELOPES.is_dir():
        assert (errors(payload, "envelopes/ui.a2ui-surface.schema.json") == []) is holds


def test_a2ui_surface_version_refusal__another_version_is_unknown(seam: Seam) -> None:
    """With the code that says so, before anything in it is judged."""
    reported = seam.accept(
        envelope("ui.a2ui-surface", payload=_surface({"component": "hologram"}, version="9.9.9")),
        hostSupportedEnvelopes=["ui.a2ui-surface"],
    )

    assert reported["status"] == "invalid"
    assert "unknown_schema_version" in reported["reason"]
    assert [each["instancePath"] for each in reported["details"]] == ["/payload/catalogVersion"]


def test_a2ui_surface_version_refusal__the_schema_refers_to_nothing_outside() -> None:
    """A recorded surface can be shown from itself alone."""
    assert all(each.startswith("#/") for each in _references(dict(A2UI_SCHEMA)))


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [found for each in schema for found in _references(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return own + [found for each in schema.values() for found in _references(each)]


@pytest.mark.parametrize("used", [0, 3, 30], ids=["first", "last-round", "long-after"])
def test_a2ui_surface_degrades__no_round_is_used_up(seam: Seam, used: int) -> None:
    """However many were, there is one warning, which names the kind and what would have been taken."""
    to = to_run("degraded")
    counted = {"schemaRounds": {"current": used, "cap": 3}}
    listed = {"hostSupportedEnvelopes": ["clarification.request"], "counters": counted, "projectTo": to}

    reported = seam.accept(envelope("ui.a2ui-surface", payload=WHOLE), **listed)

    (line,) = seam.events(to["runId"])
    assert (reported["status"], line["type"], line["payload"]["level"]) == ("gated", "log.appended", "warn")
    assert line["payload"]["fields"] == {"refusedType": "ui.a2ui-surface", "acceptedTypes": reported["allowedKinds"]}


def test_a2ui_surface_degrades__it_is_no_universal_kind(seam: Seam) -> None:
    """A host that does not list it gates it, and its node goes on."""
    reported = seam.accept(
        envelope("ui.a2ui-surface", payload=WHOLE),
        hostSupportedEnvelopes=["clarification.request"],
        projectTo={"runId": "degraded", "nodeId": "n"},
    )

    assert "ui.a2ui-surface" not in UNIVERSAL
    assert "ui.a2ui-surface" not in STANDARD
    assert reported["status"] == "gated"
    assert seam.events("degraded", type="node.failed") == []
