"""Emissions through a host that knows secrets, and one that remembers: nothing leaks, and nothing is asked twice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter import EmissionError, InputError, Material, emit, emit_binding_moment, emit_many, stream
from emitter.client.background import Background
from emitter.errors import CheckFailed
from emitter.host import Acceptor, EnvelopeContract, Trust
from emitter.models.binding_moment import Clarification, ClarificationRequest
from emitter.schema import Violation
from emitter.stores import MemoryStore, SqliteStore
from emitter.telemetry import sinks
from emitter.testing import (
    ErrorEvent,
    ErrorKind,
    Failed,
    Filtered,
    Malformed,
    NotJson,
    PlannedError,
    Refused,
    Simulator,
    Text,
    Twice,
    UnknownStop,
    Violating,
    simulator,
    write_decision,
)
from tests.host.emitting import (
    AT_ONCE,
    FORM,
    FUNCTIONS,
    MAP,
    MODEL,
    MODELS,
    POLICY,
    RULES,
    Emitting,
    marked,
    note,
    saying,
)
from tests.host.leaking import KEY, chain, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.testing import Behaviour, ReceivedRequest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Said:
    """An error of the vendor's that says something."""

    trouble: ErrorKind = ErrorKind.BAD_REQUEST
    message: str = KEY
    code: str | None = None
    param: str | None = None

    def plan(self, asked: ReceivedRequest) -> PlannedError:  # noqa: ARG002  the same for everybody
        """Return the error."""
        return PlannedError(self.trouble, self.message, param=self.param, code=self.code)


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a vendor that the environment leads to, and whose model echoes a key."""
    with simulator(answers=saying(KEY)) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


# secrets


@pytest.mark.parametrize(
    ("function", "model"),
    [
        *((function, MODEL) for function in FUNCTIONS),
        *[(function, model) for function in ("emit", "stream", "emit_binding_moment", "batch") for model in MODELS[1:]],
    ],
)
@pytest.mark.usefixtures("vendor")
def test_no_secret_that_a_model_echoes_comes_out_of_a_function(function: str, model: str) -> None:
    """Not in value, envelope, events, trace, slots, deltas or store; and its place is marked."""
    emitted = Emitting().through(FUNCTIONS[function], model=model)

    assert emitted.error is None
    assert shown(emitted.all) == []
    assert marked(emitted.came[0].value)
    assert marked(emitted.came[0].envelope)


WRONG: dict[str, Behaviour] = {
    "a refusal": Refused(KEY, KEY),
    "a filter": Filtered(partial_text=KEY),
    "no document": Malformed(f"I say {KEY}"),
    "a violation": Violating({"text": KEY, "parts": KEY, KEY: KEY}),
    "another document": Violating({KEY: {KEY: [KEY]}}),
    "two documents": Twice(Text({**note(KEY), "text": 7})),
    "a failure": Failed(500, KEY),
    "a bad request": Said(),
    "a bad parameter": Said(param=KEY),
    "a bad key": Said(ErrorKind.UNAUTHORIZED, f"Incorrect API key provided: {KEY}."),
    "no JSON": NotJson(KEY),
    "a page": NotJson(f"<title>{KEY}</title>"),
    "an error under way": ErrorEvent(PlannedError(ErrorKind.SERVER, KEY), answer=Text(note(KEY))),
    "a stop": UnknownStop(KEY, answer=Text(note(KEY))),
    "a code": Said(code=KEY),
}


@pytest.mark.parametrize("argument", ["run_id", "node_id", "background"])
def test_a_name_that_contains_a_secret_is_refused(argument: str, vendor: Simulator) -> None:
    """It would be stored as it is. Nothing is sent."""
    name: Any = Background(MemoryStore(), KEY) if argument == "background" else KEY
    with pytest.raises(InputError, match="contains a registered secret"):
        emit(FORM, "?", model=MODEL, host=Acceptor(RULES), **{argument: name})
    assert vendor.calls == ()


@pytest.mark.parametrize("function", ["emit", "aemit", "stream", "emit_many"])
@pytest.mark.parametrize("wrong", WRONG)
def test_no_secret_comes_out_of_what_goes_wrong(wrong: str, function: str, vendor: Simulator) -> None:
    """Not in the error, what it came of, its traceback, its trace, the events and the log."""
    vendor.script(*[WRONG[wrong]] * 2)
    emitted = Emitting().through(FUNCTIONS[function])

    assert emitted.error is not None
    assert emitted.error.trace.attempts
    assert shown(emitted.all) == []
    assert [each["type"] for each in emitted.store.events("run-1")][-1] == "node.failed"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("wrong", WRONG)
def test_no_event_tells_a_secret_of_what_goes_wrong(wrong: str, model: str, vendor: Simulator) -> None:
    """Also where the vendor's own words are reported: why it stopped, what it refused, what went wrong."""
    vendor.script(*[WRONG[wrong]] * 2)
    emitted = Emitting().through(FUNCTIONS["aemit"], model=model)

    assert emitted.reported
    assert shown(emitted.reported, emitted.store.events("run-1")) == []


def test_no_secret_comes_out_of_the_place_of_a_slot(vendor: Simulator) -> None:
    """Where a map is open, its names are the model's words."""
    vendor.script(Text({KEY: "a", "b": KEY}))
    with stream(MAP, "?", model="google/gemini-3.8-flash", host=Acceptor(RULES)) as running:
        reported = list(running)

    assert len(reported) == 2
    assert shown(reported, running.result()) == []


@pytest.mark.parametrize("chunk", [1, 4, 50])
def test_no_secret_comes_out_in_pieces(chunk: int, vendor: Simulator) -> None:
    """Whoever puts the pieces of a text together has it without the secret."""
    vendor.script(Text(note(KEY), chunk_size=chunk))
    with stream(FORM, "?", model=MODEL, follow=["/text"], host=Acceptor(RULES)) as running:
        pieces = [each.text for each in running if hasattr(each, "text")]

    assert "".join(pieces) == "It is [REDACTED:stripe]."


def test_a_document_that_does_not_hold_without_its_secret_is_refused(vendor: Simulator) -> None:
    """It is not accepted as it was, and not sent again: what is refused is reported without it."""
    form = {**FORM, "properties": {**FORM["properties"], "text": {"type": "string", "maxLength": 30}}}
    vendor.script(Text({"text": KEY + 10 * "!", "parts": []}))
    emitted = Emitting().through(lambda **asked: [emit(form, "?", **asked)])

    assert emitted.error is None or emitted.error.code == "envelope_invalid"
    assert shown(emitted.all) == []


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize(
    "found",
    [
        "a sentence",
        "an expectation",
        "a pointer",
        "a rule",
    ],
)
def test_no_secret_comes_out_of_what_a_check_finds(found: str) -> None:
    """A check may quote the value that it was given, which is the one before redaction."""
    findings: dict[str, Callable[[Any], Any]] = {
        "a sentence": lambda value: f"not {value}",
        "an expectation": lambda value: Violation("", "mine", f"not {value}"),
        "a pointer": lambda value: Violation(f"/{value['parts'][0]}", "mine", "no"),
        "a rule": lambda value: Violation("", value["parts"][0], "no"),
    }
    checks = [lambda value: [findings[found](value)]]
    emitted = Emitting().through(lambda **asked: [emit(FORM, "?", checks=checks, **asked)])

    assert emitted.error is not None
    assert shown(emitted.all) == []


@pytest.mark.usefixtures("vendor")
def test_what_a_check_raises_is_the_only_thing_that_may_hold_a_secret() -> None:
    """It is the caller's own exception, handed on as the cause; the library's says nothing of it."""

    def check(value: object) -> list[str]:
        raise ValueError(f"not {value}")

    emitted = Emitting().through(lambda **asked: [emit(FORM, "?", checks=[check], **asked)])

    assert isinstance(emitted.error, CheckFailed)
    assert shown(str(emitted.error), repr(emitted.error), emitted.error.trace, emitted.reported) == []
    assert [type(each) for each in chain(emitted.error) if shown(str(each))] == [ValueError]


def test_no_secret_stands_in_files_and_log_lines(vendor: Simulator, tmp_path: Path, caplog: Any) -> None:
    """Neither in a sink's file nor in what goes to logging, of what goes well and of what does not."""
    file = tmp_path / "events.jsonl"
    reported = sinks.to_all(sinks.to_jsonl(file), sinks.to_logging())
    caplog.set_level("DEBUG")
    with SqliteStore(tmp_path / "runs.db") as store:
        for number, behaviour in enumerate((None, *WRONG.values())):
            vendor.script(*[behaviour] * 2 if behaviour else [])
            try:
                emit(
                    FORM,
                    "?",
                    model=MODEL,
                    policy=POLICY,
                    on_event=reported,
                    host=Acceptor(RULES, store=store),
                    turn=number,
                )
            except EmissionError:
                continue
    held = b"".join(each.read_bytes() for each in sorted(tmp_path.iterdir())).decode("utf-8", "replace")

    assert "node.completed" in held
    assert "node.failed" in held
    assert shown(held, [each for each in caplog.messages if "api.openai" not in each]) == []


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("journal", None),
        ("journal", UnknownStop(KEY)),
        ("batch", None),
    ],
    ids=["a value", "a stop", "a batch"],
)
def test_no_secret_stands_in_a_journal(how: str, said: Behaviour | None, vendor: Simulator, tmp_path: Path) -> None:
    """Nor in the file beside it, in which answers of batches wait."""
    vendor.script(*[said] * 2 if said else [])
    host = Acceptor(RULES)
    asked = {
        "model": MODEL,
        "policy": POLICY,
        "host": host,
        "batch": AT_ONCE if how == "batch" else False,
        "progress": False,
    }
    items = [list(emit_many(FORM, ["?"], journal=tmp_path / "j", **asked)) for _ in range(2)]

    held = "".join(each.read_text("utf-8") for each in sorted(tmp_path.iterdir()))
    assert items[1][0].replayed is (said is None)
    assert shown(items, held) == []


@pytest.mark.parametrize("kept", ["journal", "store"])
@pytest.mark.usefixtures("vendor")
def test_what_was_kept_before_a_secret_was_known_comes_out_without_it(kept: str, tmp_path: Path) -> None:
    """A key may be registered after it was echoed."""
    store = MemoryStore()

    def emitted(host: Acceptor) -> Any:
        if kept == "store":
            return emit(FORM, "?", model=MODEL, host=host, run_id="run-1")
        return list(emit_many(FORM, ["?"], model=MODEL, host=host, journal=tmp_path / "j", progress=False))

    emitted(Acceptor(store=store))
    assert shown(emitted(Acceptor(RULES, store=store))) == []


# trust

HARMS: dict[str, Behaviour] = {"refused": Refused(), "malformed": Malformed("?"), "failed": Said()}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("trust", Trust)
def test_the_events_of_a_failed_emission_over_untrusted_material_are_untrusted(
    trust: Trust, harm: str, vendor: Simulator
) -> None:
    """Whatever it failed of: no event of it may be read as if trusted material alone had led to it."""
    vendor.script(*[HARMS[harm]] * 3)
    store = MemoryStore()
    with pytest.raises(EmissionError) as raised:
        emit(
            FORM,
            "?",
            materials=[Material("It is late.", trust=trust)],
            model=MODEL,
            host=Acceptor(store=store),
            run_id="r",
        )
    said = {each.get("contentTrust") for each in store.events("r")}

    assert said == {"untrusted" if trust is Trust.UNTRUSTED else None}
    assert raised.value.trace.events[-1].type == "node.failed"


# the node's contract


def contracted(*kinds: str, **more: Any) -> dict[str, Any]:
    """Return the settings of a node that may emit these kinds."""
    return {"model": MODEL, "contract": EnvelopeContract(frozenset(kinds), **more), "node_id": "n"}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.usefixtures("vendor")
def test_a_kind_outside_the_nodes_contract_fails_the_node(function: str) -> None:
    """As for any envelope: the failure names what was refused, and what the node may emit."""
    kind = f"vendor.emitter.{'binding-moment' if 'moment' in function else 'document'}"
    with pytest.raises(EmissionError) as raised:
        FUNCTIONS[function](**contracted("vendor.acme.note"))
    (failed,) = [each.to_json()["payload"] for each in raised.value.trace.events if each.type == "node.failed"]

    assert raised.value.code == failed["error"]["code"] == "envelope_contract_violation"
    assert failed["error"]["details"]["refusedType"] == kind
    assert "vendor.acme.note" in failed["error"]["details"]["acceptedTypes"]
    assert FUNCTIONS[function](**contracted(kind))[0].value


@pytest.mark.usefixtures("vendor")
def test_a_discarded_kind_warns_and_the_node_goes_on() -> None:
    """The caller is told that there is no envelope; the log holds a warning, and no failure of the node."""
    with pytest.raises(EmissionError) as raised:
        emit(FORM, "?", **contracted(refusal_mode="discard-and-warn"))
    reported = [each.to_json() for each in raised.value.trace.events]

    assert raised.value.code == "envelope_contract_violation"
    assert "node.failed" not in [each["type"] for each in reported]
    assert reported[-1]["payload"]["level"] == "warn"


def test_a_universal_kind_passes_the_contract_of_an_emission(vendor: Simulator) -> None:
    """A question to the principal is taken from a node that may emit nothing else."""
    vendor.script(write_decision(ClarificationRequest(questions=(Clarification(id="q", question="Which?"),))))

    assert emit_binding_moment("?", **contracted()).envelope.type == "clarification.request"


@pytest.mark.usefixtures("vendor")
def test_what_was_kept_is_not_returned_to_a_node_that_may_not_emit_it() -> None:
    """The contract of today decides, as it does for an envelope that comes again."""
    settings: dict[str, Any] = {"host": Acceptor(), "run_id": "r"}
    emit(FORM, "?", **contracted("vendor.emitter.document"), **settings)
    with pytest.raises(EmissionError) as raised:
        emit(FORM, "?", **contracted("vendor.acme.note"), **settings)

    assert raised.value.code == "envelope_contract_violation"


def test_a_contract_is_a_contract() -> None:
    """A list of kinds is none: what it leaves open must be said."""
    with pytest.raises(InputError, match="contract"):
        emit(FORM, "?", model=MODEL, contract=["vendor.acme.note"])  # type: ignore[arg-type]
