"""What a host is told to allow: by the library's values or their words, and by nothing that could fail open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError
from emitter.host import (
    Acceptor,
    EnvelopeContext,
    EnvelopeContract,
    HostConfig,
    HostLimits,
    RefusalMode,
    Secrets,
    Strictness,
    Trust,
)
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, acceptor, envelope

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "sk-live-0123456789"


def context(**given: Any) -> EnvelopeContext:
    """Return a context with something else in it."""
    return EnvelopeContext(**{"run_id": "run-1", "node_id": "node-1", **given})


def rules(**given: Any) -> HostConfig:
    """Return rules with something else in them."""
    return HostConfig(**{"registry": CATALOGUE, **given})


WORDS: dict[str, tuple[object, object]] = {
    "inputs": (context(inputs="untrusted"), context(inputs=Trust.UNTRUSTED)),
    "boundary": (context(boundary="untrusted"), context(boundary=Trust.UNTRUSTED)),
    "strictness": (rules(strictness="strict"), rules(strictness=Strictness.STRICT)),
    "refusal mode": (
        EnvelopeContract(None, "discard-and-warn"),  # type: ignore[arg-type]
        EnvelopeContract(None, RefusalMode.DISCARD_AND_WARN),
    ),
    "kinds in a list": (EnvelopeContract([NOTE, NOTE]), EnvelopeContract(frozenset({NOTE}))),  # type: ignore[arg-type]
    "kinds in a set": (EnvelopeContract({NOTE}), EnvelopeContract(frozenset({NOTE}))),  # type: ignore[arg-type]
    "no kinds": (EnvelopeContract(()), EnvelopeContract(frozenset())),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("words", "meant"), WORDS.values(), ids=WORDS.keys())
def test_words_mean_what_they_say(words: object, meant: object) -> None:
    """As they stand in a file of settings; what comes of them is the library's value."""
    assert repr(words) == repr(meant)
    assert words == meant


def test_a_word_binds_as_the_value_does() -> None:
    """A node that read untrusted content taints, a contract of a list refuses, and a strict host is strict."""
    tainted = acceptor().accept(envelope(), context(inputs="untrusted"))
    refused = acceptor().accept(envelope(), context(contract=EnvelopeContract(["a.b"], "discard-and-warn")))  # type: ignore[arg-type]
    strict = acceptor(rules(strictness="strict")).accept(envelope(schemaVersion=1), CONTEXT)
    assert tainted.envelope is not None

    assert tainted.envelope.meta.content_trust is Trust.UNTRUSTED
    assert (refused.status, refused.failed, strict.status) == ("gated", False, "invalid")


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "inputs, another word": (lambda: context(inputs=SECRET), "inputs must be one of 'trusted', 'untrusted'"),
    "inputs, none": (lambda: context(inputs=None), "inputs must be one of"),
    "inputs, false": (lambda: context(inputs=False), "inputs must be one of"),
    "inputs, a list": (lambda: context(inputs=["untrusted"]), "inputs must be one of"),
    "boundary": (lambda: context(boundary={}), "boundary must be one of"),
    "approving": (lambda: context(approving="yes"), "approving must be True or False"),
    "contract": (lambda: context(contract={NOTE}), "contract must be an EnvelopeContract"),
    "run, no text": (lambda: context(run_id=5), "run_id must be a string of 1 to 128 characters"),
    "run, empty": (lambda: context(run_id=""), "run_id must be a string of 1 to 128 characters"),
    "node, too long": (lambda: context(node_id="n" * 129), "node_id must be a string of 1 to 128 characters"),
    "kinds, one text": (lambda: EnvelopeContract(NOTE), "accepts must be a set of kinds, or None"),  # type: ignore[arg-type]
    "kinds, bytes": (lambda: EnvelopeContract(b"note"), "accepts must be a set of kinds"),  # type: ignore[arg-type]
    "kinds, numbers": (lambda: EnvelopeContract([7]), "accepts must be a set of kinds"),  # type: ignore[list-item,arg-type]
    "kinds, a number": (lambda: EnvelopeContract(7), "accepts must be a set of kinds"),  # type: ignore[arg-type]
    "mode, another word": (
        lambda: EnvelopeContract(None, SECRET),  # type: ignore[arg-type]
        "refusal_mode must be one of 'fail-node', 'discard-and-warn'",
    ),
    "mode, none": (lambda: EnvelopeContract(None, None), "refusal_mode must be one of"),  # type: ignore[arg-type]
    "strictness": (lambda: rules(strictness="lax"), "strictness must be one of 'warn', 'strict'"),
    "limits": (lambda: rules(limits=3), "limits must be of type HostLimits"),
    "a limit below 0": (lambda: HostLimits(schema_rounds=-1), "schema_rounds is -1; it must be a whole number"),
    "catalogue": (lambda: rules(registry={}), "registry must be of type KindRegistry"),
    "secrets, a mapping": (lambda: rules(secrets={"stripe": SECRET}), "Secrets"),
    "secrets, none": (lambda: rules(secrets=None), "secrets must be of type Secrets"),
    "a handler of no kind": (
        lambda: rules(handlers={"vendor.acme.gone": list}),
        "'vendor.acme.gone', but the registry",
    ),
    "a catalogue for rules": (lambda: Acceptor(CATALOGUE), "config must be a HostConfig"),  # type: ignore[arg-type]
    "a file's name for a store": (lambda: Acceptor(store="runs.db"), "store must be a store, or None"),  # type: ignore[arg-type]
    "a store, switched on": (lambda: Acceptor(store=True), "store must be a store, or None"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("make", "reported"), WRONG.values(), ids=WRONG.keys())
def test_everything_else_is_refused(make: Callable[[], object], reported: str) -> None:
    """When it is set, and not when an envelope comes; without a word of what was set where that may be a secret."""
    with pytest.raises(InputError) as error:
        make()

    assert reported in str(error.value)
    assert SECRET not in str(error.value)


HINTS: dict[str, tuple[Callable[[], object], str]] = {
    "secrets": (lambda: rules(secrets={"stripe": SECRET}), "Secrets.of({...})"),
    "rules": (lambda: Acceptor(CATALOGUE), "Acceptor(HostConfig(registry, ...))"),  # type: ignore[arg-type]
    "store": (lambda: Acceptor(store="runs.db"), "store=SqliteStore('runs.db')"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("make", "hint"), HINTS.values(), ids=HINTS.keys())
def test_what_is_easily_got_wrong_has_a_hint(make: Callable[[], object], hint: str) -> None:
    """What to write instead."""
    with pytest.raises(InputError) as error:
        make()

    assert hint in (error.value.hint or "")


def test_what_is_right_is_taken() -> None:
    """The defaults, no store, and a registry of secrets."""
    assert Acceptor().config == HostConfig()
    assert Acceptor(rules(secrets=Secrets.of({"stripe": SECRET})), store=None).store is None
    assert context().contract == EnvelopeContract()
