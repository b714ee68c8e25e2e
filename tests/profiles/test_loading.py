"""How profiles are found, merged and refused."""

from __future__ import annotations

import datetime as dt
import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from emitter import profiles as profile
from emitter.adapters.clients import create_client
from emitter.errors import BadProfile, MissingKey
from emitter.messages import OutputMode
from emitter.profiles.tables import SourcedTable

if TYPE_CHECKING:
    from emitter.profiles.model import Profile

ALL = profile.profile_names()
FOLDER = Path(__file__).parents[2] / "providers"
FILES = sorted(FOLDER.glob("*.toml"))

WHOLE = """
title = "Vendor"
provider = "vendor"

[client]
source = "page"
verified = 2026-01-01
sdk = "openai"
flavour = "OpenAI"
key_env = ["VENDOR_API_KEY"]
base_url = "https://vendor.example/v1"
base_url_env = "VENDOR_BASE_URL"

[wires.openai-chat.tokens]
source = "page"
verified = 2026-01-01
parameter = "max_tokens"

[wires.openai-chat.output]
source = "page"
verified = 2026-01-01
modes = ["json_schema"]

[wires.openai-chat.stops]
source = "page"
verified = 2026-01-01
reasons = { stop = "complete" }

[subset]
source = "page"
verified = 2026-01-01
keywords = ["type"]
optionals = "omit"

[subset.limits]
source = "page"
verified = 2026-01-01

[faults]
source = "page"
verified = 2026-01-01
rules = [{ code = "full", means = "quota" }]
statuses = { "429" = "rate_limit" }

[[models]]
match = "*"
source = "page"
verified = 2026-01-01
context = 1000
max_output = 100
"""

CHILD = """
title = "Child"
provider = "child"

[client]
source = "page"
verified = 2026-01-01
key_env = ["CHILD_API_KEY"]
base_url = "https://child.example/"
"""


def facts(value: object, path: str) -> list[tuple[str, SourcedTable]]:
    """Return every table of facts inside ``value`` with its path."""
    found = [(path, value)] if isinstance(value, SourcedTable) else []
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, tuple):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, each in value.items():
            found += facts(each, f"{path}.{key}")
    return found


def test_every_file_is_a_profile_but_the_common_ground() -> None:
    """A vendor's file is all that a new vendor takes; what every profile inherits is none itself."""
    assert [each.stem for each in FILES if each.stem not in ALL] == ["base", "hosted"]
    assert len(ALL) == len(FILES) - 2


@pytest.mark.parametrize("name", ALL)
def test_every_profile_loads(name: str) -> None:
    """A profile that ships is one that loads, under its own name."""
    loaded = profile.load_profile(name)
    assert loaded.name == name
    assert loaded.default_wire in loaded.wires


@pytest.mark.parametrize("name", ALL)
def test_what_a_file_states_is_what_is_looked_up(name: str) -> None:
    """No stop reason, error or setting of a file is hidden by what it inherits."""
    stated, loaded = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")), profile.load_profile(name)
    for wire, tables in stated.get("wires", {}).items():
        reasons = tables.get("stops", {}).get("reasons", {})
        stops = loaded.wires[profile.WireFormat(wire)].stops
        assert {raw: stops.lookup(raw).value for raw in reasons} == reasons
        parameters = loaded.wires[profile.WireFormat(wire)].parameters
        taken = parameters.accepted if parameters else {}
        assert not set(tables.get("parameters", {}).get("without", [])) & set(taken)
    for rule in stated.get("faults", {}).get("rules", []):
        if not rule.keys() & {"message", "detail"}:
            means = loaded.faults.lookup(rule.get("status"), rule.get("code", ""), rule.get("type", ""), "")
            assert means.value == rule["means"], f"providers/{name}.toml: an earlier rule takes {rule}"


@pytest.mark.parametrize("name", ALL)
def test_every_fact_has_a_source_and_a_date(name: str) -> None:
    """Each table of facts says where it was read and when, and no date lies in the future."""
    found = facts(profile.load_profile(name), name)
    assert len(found) >= len(("client", "tokens", "output", "stops", "subset", "limits", "faults", "models"))
    today = dt.datetime.now(tz=dt.UTC).date()
    unsound = [path for path, each in found if not each.source.strip() or each.verified > today]
    assert unsound == []


@pytest.mark.parametrize("name", ALL)
def test_a_limit_that_is_guessed_is_marked(name: str) -> None:
    """A row whose source is a guess says of which limits it is one, so that the caller's policy may exceed them."""
    stated = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")).get("models", [])
    guessed = [row for row in stated if re.search("assum|unverified", row["source"]) and row.get("known", True)]

    assert [row["match"] for row in guessed if "assumed" not in row] == []


@pytest.mark.parametrize("name", ALL)
def test_no_source_points_into_a_private_folder(name: str) -> None:
    """A source is something that a reader of the project can look up."""
    private = [path for path, each in facts(profile.load_profile(name), name) if "/work" in each.source]
    assert private == []


def test_a_key_for_one_server_never_reaches_another() -> None:
    """No two profiles read the same variable, neither for the key nor for the address."""
    readers: dict[str, list[str]] = {}
    for name in ALL:
        client = profile.load_profile(name).client
        for variable in (*client.key_env, *filter(None, [client.base_url_env])):
            readers.setdefault(variable, []).append(f"providers/{name}.toml")
    shared = {variable: files for variable, files in readers.items() if len(files) > 1}
    assert shared == {}, f"Name variables of its own in [client] of one of these: {shared}"


@pytest.mark.parametrize("parent", ["openai", "anthropic", "google", "openai-compatible", "groq"])
def test_a_child_reads_neither_the_address_nor_the_key_of_its_parent(
    parent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all variables of the parent set, its own key goes to its own server."""
    for file in FILES:
        shutil.copy(file, tmp_path)
    (tmp_path / "child.toml").write_text(f'extends = "{parent}"\n{CHILD}')
    for variable in profile.load_profile(parent).client.key_env:
        monkeypatch.setenv(variable, "the parent's")
    monkeypatch.setenv(profile.load_profile(parent).client.base_url_env or "", "https://parent.example")
    monkeypatch.setenv("CHILD_API_KEY", "the child's")

    child = profile.load_profile_from(tmp_path, "child")
    assert (child.client.key_env, child.client.base_url_env) == (("CHILD_API_KEY",), None)
    client = create_client(child, asynchronous=False)
    if parent != "google":
        assert (client.api_key, str(client.base_url)) == ("the child's", "https://child.example/")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ('key_env = ["CHILD_API_KEY"]', "client: Value error, name the variable of the key in key_env"),
        ('source = "page"', "client.source: Field required"),
        ('title = "Child"', "title: Field required"),
        ('provider = "child"', "provider: Field required"),
    ],
)
def test_a_child_states_its_own(tmp_path: Path, line: str, reported: str) -> None:
    """Names, key and source are not inherited in silence."""
    (tmp_path / "parent.toml").write_text(WHOLE)
    (tmp_path / "child.toml").write_text(f'extends = "parent"\n{CHILD.replace(line, "key_required = true", 1)}')
    with pytest.raises(BadProfile, match=re.escape(f"providers/child.toml: {reported}")):
        profile.load_profile_from(tmp_path, "child")


def test_an_address_is_asked_for_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Azure's key does not go to OpenAI."""
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure's")
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(MissingKey, match="AZURE_OPENAI_ENDPOINT"):
        create_client(profile.load_profile("azure-openai"), asynchronous=False)


def test_a_profile_of_your_own_loads(tmp_path: Path) -> None:
    """A folder that is not ours is read in the same way."""
    (tmp_path / "own.toml").write_text(WHOLE)
    assert profile.load_profile_from(tmp_path, "own").title == "Vendor"


def test_a_missing_source_is_reported_for_the_table_that_lacks_it(tmp_path: Path) -> None:
    """A fact without a source does not load, and the message names the table."""
    (tmp_path / "own.toml").write_text(WHOLE.replace('[subset]\nsource = "page"', "[subset]"))
    with pytest.raises(BadProfile, match=r"own\.toml: subset\.source: "):
        profile.load_profile_from(tmp_path, "own")


@pytest.mark.parametrize(
    ("before", "after", "key", "reported"),
    [
        ('title = "Vendor"', 'title = "Vendor"\ncolour = "red"', "colour", "Extra inputs are not permitted"),
        ('provider = "vendor"', "", "provider", "Field required"),
        ('sdk = "openai"', 'sdk = "smoke"', "client.sdk", "'openai', 'anthropic', 'google' or 'bedrock'"),
        ('stop = "complete"', 'stop = "done"', "wires.openai-chat.stops.reasons.stop", "'truncated', "),
        ('["json_schema"]', '["yaml"]', "wires.openai-chat.output.modes.0", "'json_object'"),
        ('["json_schema"]', "[]", "wires.openai-chat.output.modes", "at least 1 item"),
        ('optionals = "omit"', 'optionals = "none"', "subset.optionals", "'nullable' or 'omit'"),
        (
            'optionals = "omit"',
            'optionals = "omit"\npattern_refuses = "("',
            "subset.pattern_refuses",
            "regular",
        ),
        ('means = "quota"', 'means = "poverty"', "faults.rules.0.means", "'quota'"),
        ('code = "full"', 'message = "("', "faults.rules.0.message", "invalid regular expression"),
        ('"429" = "rate', '"4x9" = "rate', "faults.statuses.4x9", "should match pattern"),
        ("context = 1000", "context = 0", "models.0.context", "greater than or equal to 1"),
        ("max_output = 100", "max_output = 100\nmodes = []", "models.0.modes", "at least 1 item"),
        ('match = "*"', 'match = "a*"', "models", "the last row must be the default"),
        (
            "wires.openai-chat.",
            "wires.telex.",
            "wires.telex",
            "'openai-responses', 'openai-chat', 'anthropic'",
        ),
    ],
)
def test_a_mistake_is_reported_with_file_key_and_what_is_allowed(
    tmp_path: Path, before: str, after: str, key: str, reported: str
) -> None:
    """Whoever edits a profile learns from the message alone what to change."""
    assert before in WHOLE
    (tmp_path / "own.toml").write_text(WHOLE.replace(before, after))
    with pytest.raises(BadProfile) as caught:
        profile.load_profile_from(tmp_path, "own")
    assert f"providers/own.toml: {key}" in str(caught.value)
    assert reported in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("title = ", "providers/own.toml: invalid TOML: "),
        ('extends = "own"', "providers/own.toml: extends: "),
        ('extends = "parent"', "providers/parent.toml does not exist."),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str, reported: str) -> None:
    """Broken TOML, a circle and a missing parent are reported with the file to look at."""
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(BadProfile) as caught:
        profile.load_profile_from(tmp_path, "own")
    assert reported in str(caught.value)


def test_a_profile_that_does_not_exist_is_named() -> None:
    """An unknown vendor is an error of ours, not of the file system."""
    with pytest.raises(BadProfile, match="no-such-vendor"):
        profile.load_profile("no-such-vendor")


SOURCE = 'source = "page"\nverified = 2026-01-01\n'


def extended(folder: Path, text: str) -> Profile:
    """Return a profile that extends the whole one."""
    (folder / "parent.toml").write_text(WHOLE)
    (folder / "child.toml").write_text(f'extends = "parent"\n{CHILD}{text}')
    return profile.load_profile_from(folder, "child")


def test_a_child_replaces_values_and_keeps_the_rest(tmp_path: Path) -> None:
    """Tables are merged key by key; a list is replaced as a whole."""
    text = f'[subset]\n{SOURCE}keywords = ["enum"]\n[faults.statuses]\n"503" = "overloaded"'
    child = extended(tmp_path, text)
    assert (child.name, child.title, child.provider) == ("child", "Child", "child")
    assert (child.subset.keywords, child.subset.optionals.value) == ({"enum"}, "omit")
    assert set(child.faults.statuses) == {"429", "503"}


def test_a_childs_rows_are_tried_before_its_parents(tmp_path: Path) -> None:
    """Rules and models of the child win, those of the parent remain."""
    child = extended(
        tmp_path,
        """
        [faults]
        source = "page"
        verified = 2026-01-01
        rules = [{ code = "full", means = "overloaded" }]
        [[models]]
        match = "big*"
        source = "page"
        verified = 2026-01-01
        context = 2000
        max_output = 200
        """,
    )
    assert [rule.means.value for rule in child.faults.rules] == ["overloaded", "quota"]
    assert (child.model_limits("big-1").context, child.model_limits("small").context) == (2000, 1000)


def test_the_childs_first_wire_becomes_the_default(tmp_path: Path) -> None:
    """A child that names a wire first prefers it to its parent's."""
    child = extended(tmp_path, f'[wires.openai-chat.output]\n{SOURCE}modes = ["tool"]')
    assert child.wires[child.default_wire].output.modes == (OutputMode.TOOL,)
    assert profile.load_profile("openai").default_wire is profile.WireFormat.OPENAI_RESPONSES
    assert profile.load_profile("azure-openai").default_wire is profile.WireFormat.OPENAI_CHAT


def test_a_child_leaves_out_what_it_does_not_inherit(tmp_path: Path) -> None:
    """Keys of a table, and entries of its lists; what it states itself stays."""
    text = f"""
    [wires.openai-chat.stops]
    {SOURCE}
    [wires.openai-chat.stops.reasons]
    without = ["stop"]
    end = "complete"
    [subset]
    {SOURCE}
    without = ["pattern", "closed_objects"]
    """
    whole = WHOLE.replace('["type"]', '["type", "pattern"]\nclosed_objects = false')
    (tmp_path / "parent.toml").write_text(whole)
    (tmp_path / "child.toml").write_text(f'extends = "parent"\n{CHILD}{text}')
    child = profile.load_profile_from(tmp_path, "child")
    assert set(child.wires[child.default_wire].stops.reasons) == {"end"}
    assert (child.subset.keywords, child.subset.closed_objects) == ({"type"}, True)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (f'[subset]\n{SOURCE}without = ["patern"]', "subset.without: 'patern' is not inherited here."),
        ('without = ["subsets"]', "without: 'subsets' is not inherited here."),
    ],
)
def test_what_is_not_inherited_cannot_be_left_out(tmp_path: Path, text: str, reported: str) -> None:
    """A misspelt name is reported, not passed over."""
    (tmp_path / "parent.toml").write_text(WHOLE)
    (tmp_path / "child.toml").write_text(f'extends = "parent"\n{text}\n{CHILD if "[" in text else ""}')
    with pytest.raises(BadProfile, match=re.escape(reported)):
        profile.load_profile_from(tmp_path, "child")
