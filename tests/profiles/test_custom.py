"""Profiles that a caller makes: what they inherit, what they state, and what is wrong with them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import JsonValue, ValidationError

from emitter import InputError, Profile
from emitter.client.pool import ClientPool
from emitter.client.routing import resolve_model
from emitter.errors import BadProfile
from emitter.messages import FaultKind, OutputMode, StopReason
from emitter.profiles import WireFormat, find_profile, load_profile, profile_names
from emitter.profiles.model import ProfileFacts
from emitter.profiles.tables import ProfileTable
from emitter.schema import compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.profiles.tables import UsageFields

CHAT = WireFormat.OPENAI_CHAT
SERVER = """
name = "acme"
extends = "vllm"
source = "the model card"
verified = 2026-11-01

[client]
base_url = "http://gpu:8000/v1"
key_env = ["ACME_KEY"]

[[models]]
match = "qwen*"
max_output = 60000

[wires.openai-chat.stops.reasons]
end = "complete"

[[faults.rules]]
message = "(?i)balance"
means = "quota"
"""


def test_a_file_states_only_what_differs(tmp_path: Path) -> None:
    """Everything else is that of the profile in ``extends``, and every table says where its facts come from."""
    file = tmp_path / "server.toml"
    file.write_text(SERVER)
    server, parent = Profile.from_toml(file), load_profile("vllm")

    assert server == Profile.from_toml(str(file)) == Profile.from_toml(SERVER)
    assert (server.name, server.title, server.provider, server.source) == ("acme", "acme", "acme", "the model card")
    assert (server.client.base_url, server.client.key_env) == ("http://gpu:8000/v1", ("ACME_KEY",))
    assert server.client.base_url_env is None
    stops = server.wires[CHAT].stops
    assert (stops.lookup("end"), stops.lookup("length")) == (StopReason.COMPLETE, StopReason.TRUNCATED)
    assert stops.source == f"the model card; the rest: {parent.wires[CHAT].stops.source}"
    assert server.faults.lookup(400, "", "", "Your balance is 0") is FaultKind.QUOTA
    assert server.faults.lookup(429, "", "", "") is parent.faults.lookup(429, "", "", "")
    assert server.subset == parent.subset


def test_a_file_without_a_name_has_that_of_the_file(tmp_path: Path) -> None:
    """Without ``extends`` it describes a compatible server, and without ``source`` it is the source."""
    (tmp_path / "Our Server.toml").write_text("[[models]]\nmatch = '*'\ncontext = 4096\nmax_output = 1000\n")
    server = Profile.from_toml(tmp_path / "Our Server.toml")

    assert (server.name, server.aliases) == ("our-server", ("openai-compatible",))
    assert str(tmp_path / "Our Server.toml") in server.source
    assert server.model_limits("any").source == server.source


@pytest.mark.parametrize(
    ("rows", "limits"),
    [
        pytest.param(
            [{"match": "*", "max_output": 7}],
            {"gpt-4o": (128_000, 7), "gpt-6-sol": (1_050_000, 7)},
            id="every model keeps its window",
        ),
        pytest.param(
            [{"match": "gpt-4o*", "max_output": 7}],
            {"gpt-4o": (128_000, 7), "gpt-4": (8_192, 8_192)},
            id="a family, and no other",
        ),
        pytest.param(
            [{"match": "gpt-6-sol", "context": 9, "max_output": 7}, {"match": "*", "max_output": 8}],
            {"gpt-6-sol": (9, 7), "gpt-4o": (128_000, 8)},
            id="the first row counts",
        ),
    ],
)
def test_a_row_states_only_what_differs(rows: list[dict[str, Any]], limits: dict[str, tuple[int, int]]) -> None:
    """A row changes the models that it names, each with its own other facts."""
    server = load_profile("openai").override(tables={"models": rows})

    for model, expected in limits.items():
        found = server.model_limits(model)
        assert (found.context, found.max_output) == expected


def test_what_a_caller_states_is_assumed_no_longer() -> None:
    """A limit that is stated binds, and an unknown model brings no warning."""
    assumed = load_profile("vllm").model_limits("qwen")
    stated = load_profile("vllm").override(max_output=60_000).model_limits("qwen")
    both = load_profile("openai").override(max_output=60_000, context=70_000).model_limits("nobody-knows")

    assert (assumed.is_ceiling_assumed, stated.is_ceiling_assumed, stated.is_window_open) == (True, False, True)
    assert (both.is_ceiling_assumed, both.is_window_open, both.known) == (False, False, True)


def usage_of(server: Profile) -> UsageFields:
    """Return where a server counts its tokens."""
    usage = server.wires[CHAT].usage
    assert usage is not None
    return usage


FACTS: dict[str, tuple[dict[str, Any], Callable[[Profile], object], object]] = {
    "max_output": ({"max_output": 9}, lambda server: server.model_limits("m").max_output, 9),
    "context": ({"context": 9_999_999}, lambda server: server.model_limits("m").context, 9_999_999),
    "modes": ({"modes": ("text",)}, lambda server: server.preferred_output_mode(CHAT, "m"), OutputMode.TEXT),
    "enforced": ({"enforced": True}, lambda server: server.wires[CHAT].output.enforced, True),
    "strict": ({"strict": True}, lambda server: server.sends_strict(CHAT, "m"), True),
    "stops": ({"stops": {"eos": "complete"}}, lambda server: server.wires[CHAT].stops.lookup("eos").value, "complete"),
    "usage": (
        {"usage": {"thinking": ("spent.thinking",), "thinking_beside": True}},
        lambda server: (usage_of(server).thinking, usage_of(server).thinking_beside),
        (("spent.thinking",), True),
    ),
    "rules": (
        {"rules": [{"code": "1113", "means": "quota"}]},
        lambda server: server.faults.lookup(429, "1113", "", ""),
        FaultKind.QUOTA,
    ),
    "keywords": (
        {"keywords": {"type", "maxItems"}},
        lambda server: sorted(server.subset.keywords),
        ["maxItems", "type"],
    ),
    "base_url": ({"base_url": "http://h/v1"}, lambda server: server.client.base_url, "http://h/v1"),
    "key_env": ({"key_env": ["MINE"]}, lambda server: server.client.key_env, ("MINE",)),
    "key_required": ({"key_required": True, "key_env": ["MINE"]}, lambda server: server.client.key_required, True),
    "name": ({"name": "mine"}, lambda server: (server.name, server.title, server.provider), ("mine",) * 3),
    "source": ({"source": "a page", "max_output": 9}, lambda server: server.model_limits("m").source, "a page"),
    "tables": (
        {"tables": {"thinkers": [{"match": "m", "effort": "high"}]}},
        lambda server: server.thinks_by_default("m"),
        True,
    ),
}


@pytest.mark.parametrize("parent", ["openai-compatible", "vllm", "ollama", "llama-cpp"])
@pytest.mark.parametrize("fact", FACTS)
def test_a_single_fact_can_be_replaced(fact: str, parent: str) -> None:
    """The rest of the profile stays."""
    facts, read, expected = FACTS[fact]
    before = load_profile(parent)
    server = before.override(**facts)

    assert read(server) == expected
    assert before is load_profile(parent)
    assert server.subset.recursion is before.subset.recursion


@pytest.mark.parametrize("name", [name for name in profile_names() if name != "tier1"])
def test_every_profile_can_be_extended(name: str) -> None:
    """What a profile says can be read again, and is the same."""
    parent = load_profile(name)
    same = Profile.from_toml(f'extends = "{name}"')
    tables = {"client", "wires", "subset", "faults", "models", "thinkers", "parameters", "prices", "media", "caching"}

    assert {key: getattr(same, key) for key in tables} == {key: getattr(parent, key) for key in tables}
    assert parent.override() == parent.override()


WRONG = {
    "no TOML": ("a = = 3", "invalid TOML", "line 1"),
    "neither": ("vllm", "neither TOML nor the path", "extends ="),
    "no file": ("missing.toml", "cannot be read", "missing.toml"),
    "parent": ('extends = "vlm"', "no profile 'vlm'", 'Did you mean "vllm"?'),
    "top key": ("max_output = 3", "line 1: max_output: there is no such key", "The keys are"),
    "near key": (
        '[[models]]\nmatch = "*"\nmax_outputs = 3',
        "line 3: models.max_outputs",
        "Did you mean 'max_output'?",
    ),
    "deep key": ("[wires.openai-chat.outputs]\nstrict = true", "line 1: wires.openai-chat.outputs", "'output'"),
    "text for a number": (
        '[[models]]\nmatch = "*"\ncontext = "4096"',
        "line 3: models.\"*\".context: it is '4096'",
        "integer",
    ),
    "text for a switch": (
        '[wires.openai-chat.output]\nenforced = "no"',
        "line 2: wires.openai-chat.output.enforced: it is 'no'",
        "true or false",
    ),
    "negative": ('[[models]]\nmatch = "*"\nmax_output = -3', 'models."*".max_output: it is -3', "greater than"),
    "no pattern": ("[[models]]\nmax_output = 3", "models.0.match", "Field required"),
    "no list": ("models = 3", "models: must be a list of tables", "[[models]]"),
    "no table": ("client = []", "client: it should be a table", ""),
    "stop": ('[wires.openai-chat.stops.reasons]\nend = "done"', "reasons.end: it is 'done'", "'complete'"),
    "mode": (
        '[wires.openai-chat.output]\nmodes = ["json"]',
        "line 2: wires.openai-chat.output.modes.0",
        "'json_object'",
    ),
    "wire": ('[wires.openai-chats.output]\nmodes = ["text"]', "wires.openai-chats", "'openai-chat'"),
    "meaning": ('[[faults.rules]]\ncode = "1"\nmeans = "kuota"', "it is 'kuota'", "'quota'"),
    "pattern": (
        '[[faults.rules]]\nmessage = "("\nmeans = "quota"',
        "line 2: faults.rules.0.message",
        "invalid regular",
    ),
    "without": ("without = 3", "without: must be a list of names", ""),
    "not inherited": ('without = ["mediums"]', "'mediums' is not inherited", ""),
    "name": ('name = "My Server"', "name: ", "pattern"),
    "key of another": ('extends = "groq"\n[client]\nbase_url = "http://x/v1"', "client: name the variable", "key_env"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_cannot_be_used_says_why(case: str) -> None:
    """The error names the key, the line if there is one, and what to write instead."""
    text, problem, cure = WRONG[case]
    with pytest.raises(BadProfile) as raised:
        Profile.from_toml(text)

    assert problem in str(raised.value)
    assert cure in f"{raised.value} {raised.value.hint}"
    assert isinstance(raised.value, InputError)


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"max_outptu": 3}, "max_outptu: there is no such key here"),
        ({"max_output": "many"}, "models.\"*\".max_output: it is 'many'"),
        ({"stops": 3}, "stops.reasons: it should be a table"),
        ({"stops": {"end": "done"}}, "reasons.end: it is 'done'"),
        ({"tables": 3}, "tables: must be a mapping"),
        ({"tables": {"modles": []}}, "modles: there is no such key here"),
        ({"modes": []}, "modes: "),
        ({"rules": [{"message": "x"}]}, "means"),
        ({"base_url": 3}, "client.base_url"),
    ],
    ids=str,
)
def test_a_fact_that_cannot_be_used_says_why(facts: dict[str, Any], problem: str) -> None:
    """The error names the fact."""
    with pytest.raises(BadProfile) as raised:
        load_profile("vllm").override(**facts)
    assert problem in str(raised.value)


def tables_in(annotation: Any) -> set[type[ProfileTable]]:
    """Return the tables in an annotation, and those in their fields."""
    found: set[type[ProfileTable]] = set()
    if isinstance(annotation, type) and issubclass(annotation, ProfileTable):
        annotation.model_rebuild()
        found = {annotation}.union(*(tables_in(field.annotation) for field in annotation.model_fields.values()))
    return found.union(*map(tables_in, get_args(annotation)))


TABLES = sorted(tables_in(Profile), key=lambda kind: kind.__name__)
FIELDS = {f"{kind.__name__}.{name}": (kind, name) for kind in TABLES for name in kind.model_fields}
SCALARS: list[Any] = ["4096", "no", "2027-01-31", 4096, 0, 1, 4096.0, 0.5, True, False, b"text", None, object()]
VALUES = [*SCALARS, *([each] for each in SCALARS), *({"text": each} for each in SCALARS), {3: "text"}, [["text"]]]


def fits(annotation: Any, value: Any) -> bool:
    """Return whether a value has the kind of a field."""
    outer, inner = get_origin(annotation), get_args(annotation)
    if outer in {Annotated, Union, UnionType}:
        return any(fits(each, value) for each in inner)
    if outer is Literal or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return value in [*inner, *(getattr(annotation, "__members__", {}).values())]
    if outer in {tuple, frozenset}:
        return isinstance(value, list) and all(fits(inner[0], each) for each in value)
    if outer in {dict, Mapping}:
        return isinstance(value, dict) and all(fits(inner[0], key) and fits(inner[1], value[key]) for key in value)
    if annotation is JsonValue:
        return not isinstance(value, bytes) and type(value) is not object and value != {3: "text"}
    kinds = {float: (float, int), Decimal: (float, int)}
    return type(value) in kinds.get(annotation, (annotation or type(None),))


@pytest.mark.parametrize("field", FIELDS)
def test_a_value_of_another_kind_is_refused_in_every_field(field: str) -> None:
    """Nothing is converted: what looks like a number or a truth value may have been meant otherwise."""
    kind, name = FIELDS[field]
    accepted = [value for value in VALUES if name not in find_wrong(kind, {name: value})]
    assert [value for value in accepted if not fits(kind.model_fields[name].annotation, value)] == []


def find_wrong(kind: type[ProfileTable], table: dict[str, Any]) -> set[str]:
    """Return the names of the fields whose values are refused."""
    try:
        kind.model_validate(table)
    except ValidationError as error:
        return {str(each["loc"][0]) for each in error.errors() if each["loc"]}
    return set()


KINDS: dict[str, Any] = {
    "context": "4096",
    "max_output": 4096.0,
    "modes": "text",
    "enforced": "no",
    "strict": 1,
    "shown": "tool",
    "stops": {"end": 1},
    "usage": {"thinking_beside": "yes"},
    "rules": [{"message": 3, "means": "quota"}],
    "keywords": "type",
    "base_url": b"http://h/v1",
    "key_env": "MINE",
    "key_required": "false",
    "name": 3,
    "source": 3,
    "verified": "2027-01-31",
    "tables": {"listed": "no"},
}


@pytest.mark.parametrize("fact", ProfileFacts.__annotations__)
def test_a_fact_of_another_kind_is_refused(fact: str) -> None:
    """``override`` uses the same tables as a file."""
    with pytest.raises(BadProfile):
        load_profile("vllm").override(**{fact: KINDS[fact]})


def test_a_profile_that_is_made_of_its_fields_is_read_alike() -> None:
    """The error is the library's own, and names the field."""
    facts: dict[str, Any] = {name: getattr(load_profile("vllm"), name) for name in Profile.model_fields}
    assert Profile(**facts) == load_profile("vllm")
    with pytest.raises(BadProfile, match=r"Profile: listed: it is 'no'; it should be true or false\."):
        Profile(**{**facts, "listed": "no"})


@pytest.mark.parametrize("source", [3, None, b"x = 1", Profile], ids=repr)
def test_what_is_neither_text_nor_a_path_is_refused(source: Any) -> None:
    """It is an error in the caller's program, with what to pass instead."""
    with pytest.raises(BadProfile, match="not a path or text"):
        Profile.from_toml(source)


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"\xff\xfe", "not UTF-8"), (b"#" * 1_000_001, "more than 1,000,000 bytes"), (None, "cannot be read")],
    ids=["not UTF-8", "too large", "a folder"],
)
def test_a_file_that_cannot_be_read_says_why(content: bytes | None, problem: str, tmp_path: Path) -> None:
    """Nothing of the operating system is raised."""
    file = tmp_path / "server.toml"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(BadProfile, match=problem):
        Profile.from_toml(file)


def test_no_error_repeats_a_value_that_may_be_a_key() -> None:
    """Somebody may write the key itself where its variable belongs."""
    for text in ('[client]\nkey_env = "sk-secret"', '[client]\napi_key = "sk-secret"', '[client]\nsdk = "sk-secret"'):
        with pytest.raises(BadProfile) as raised:
            Profile.from_toml(text)
        assert "sk-secret" not in f"{raised.value} {raised.value.hint}"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("qwen3:8b", "qwen3:8b"),
        ("acme/qwen3:8b", "qwen3:8b"),
        ("vllm/qwen3", "qwen3"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        (" ACME/m ", "m"),
    ],
)
def test_a_model_is_named_as_the_server_names_it(model: str, name: str) -> None:
    """The names of the profile and of what it extends may stand before it. No other vendor is looked for."""
    server = Profile.from_toml(SERVER)
    assert find_profile(model, server) == (server, name)


def test_a_profile_that_was_read_twice_is_one_key() -> None:
    """Caches of schemas, models and clients take equal profiles for one, and different ones for two."""
    first, again = Profile.from_toml(SERVER), Profile.from_toml(SERVER)
    other = first.override(keywords=["type", "properties", "required", "items"], base_url="http://b/v1")
    schema = {"type": "object", "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "string"}}}}
    compile_for, key_of = partial(compile_schema, schema), ClientPool(api_key="k")._key

    assert (hash(first), first) == (hash(again), again) == (hash(pickle.loads(pickle.dumps(first))), first)
    assert compile_for(first) is compile_for(again)
    assert compile_for(other).schema != compile_for(first).schema
    assert resolve_model("m", None, None, first) is resolve_model("m", None, None, again)
    assert resolve_model("m", None, None, other).profile is other
    assert key_of(first, None) == key_of(again, None) != key_of(other, None)
    azure = first.override(tables={"client": {"flavour": "AzureOpenAI", "api_version": "v1"}})
    assert key_of(azure, None) != key_of(first, None)
