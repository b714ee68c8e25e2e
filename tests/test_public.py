"""The public names: pinned, lazily loaded, and light."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

import pytest

import emitter
from emitter.errors import UnknownModel
from emitter.media import Document, Image
from emitter.recover import Recovered, recover
from emitter.schema import Uncompilable, compile_schema
from emitter.testing import Text, simulator

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Priced:
    """A document with one field."""

    total: float


NAMES = {
    "AsyncEmitter",
    "AuthenticationError",
    "BadRequest",
    "BindingMoment",
    "Fallback",
    "RateLimit",
    "Emission",
    "EmissionError",
    "Emitter",
    "Example",
    "EmitterError",
    "InputError",
    "Invalid",
    "LimitReached",
    "Material",
    "NotFound",
    "Option",
    "Policy",
    "Prices",
    "Profile",
    "RateLimited",
    "Refused",
    "Trace",
    "Truncated",
    "Trust",
    "Unreachable",
    "Usage",
    "Withheld",
    "aemit",
    "aemit_binding_moment",
    "aemit_many",
    "astream",
    "astream_binding_moment",
    "emit",
    "emit_binding_moment",
    "emit_many",
    "stream",
    "stream_binding_moment",
}
FUNCTIONS = [getattr(emitter, name) for name in sorted(NAMES) if name.islower()]
METHODS = [
    method
    for client in (emitter.Emitter, emitter.AsyncEmitter)
    for name, method in inspect.getmembers(client, inspect.isfunction)
    if not name.startswith("_") and "close" not in name
]


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_names_are_pinned() -> None:
    """A name that comes or goes is a decision, made here."""
    assert set(emitter.__all__) == {*NAMES, "__version__"}
    assert set(dir(emitter)) >= NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_loads(name: str) -> None:
    """Each public name exists and has a docstring, or is a type."""
    assert getattr(emitter, name).__doc__


def test_a_star_import_has_every_name_and_the_version_is_the_packages() -> None:
    """``__all__`` lists what is public, and ``__version__`` needs no look at the package's metadata."""
    names: dict[str, object] = {}
    exec("from emitter import *", names)  # noqa: S102  there is no other way to import so inside a function

    assert set(names) >= NAMES
    assert emitter.__version__ == version("llm-emitter")


@pytest.mark.parametrize("function", [*FUNCTIONS, *METHODS], ids=lambda function: function.__qualname__)
def test_help_describes_every_argument(function: Callable[..., object]) -> None:
    """No argument hides behind ``**options``."""
    parameters = inspect.signature(function).parameters
    described = re.findall(r"^    (\w+): \S", inspect.getdoc(function) or "", re.MULTILINE)

    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters.values())
    assert {"materials", "policy"} <= set(described)
    if function.__doc__ and "Async version" not in function.__doc__ and "See ``emitter." not in function.__doc__:
        assert set(described) >= set(parameters) - {"self"}


def test_help_describes_an_option_as_its_own_function_takes_it() -> None:
    """``emit`` and ``emit_binding_moment`` both take ``checks``, and not the same ones."""
    assert "    checks: Functions that receive a valid value" in (inspect.getdoc(emitter.emit) or "")
    assert "    checks: Checkers of the envelope" in (inspect.getdoc(emitter.emit_binding_moment) or "")


def test_the_options_of_a_client_and_of_a_call_are_those_of_the_function() -> None:
    """An option of ``emit`` belongs to ``Emitter`` or to ``Emitter.emit``."""
    function = set(inspect.signature(emitter.emit).parameters)
    client = set(inspect.signature(emitter.Emitter).parameters)
    method = set(inspect.signature(emitter.Emitter.emit).parameters) - {"self"}

    assert function | {"api_key"} == client | method


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_a_misspelt_option_names_the_right_one(function: Callable[..., object]) -> None:
    """The error is a ``TypeError``, as for any function."""
    form = [] if "binding_moment" in function.__name__ else [int]
    misspelt: Any = {"polcy": emitter.Policy()}

    async def call() -> None:
        result = function(*form, ["?"], model="openai/gpt-6-sol", **misspelt)
        await cast("Any", result)

    with pytest.raises(TypeError, match=r"no option 'polcy'\. Did you mean 'policy'"):
        asyncio.run(call())


MEANT = {
    "max_retries": "Policy(max_faults=...)",
    "max_tokens": "Policy(output_tokens=...)",
    "deadline": "Policy(deadline=...)",
    "max_cost": "Policy(max_cost=...)",
    "system_prompt": "instructions=",
    "tools": "No tools are run",
    "api_key": "Emitter(model, api_key=...)",
    "response_model": "the first argument",
    "prompt": "messages=",
    "images": "materials=[Image(...)]",
    "max_concurrency": "Pass in_flight= to emit_many.",
    "mode": "override(modes=[...])",
    "top_k": "extra_body={'top_k': ...}",
    "chekcs": "Did you mean 'checks'?",
    "decision_class": "It is an option of emit_binding_moment.",
}
"""What people write, and what the error says to pass."""


@pytest.mark.parametrize(("name", "reported"), MEANT.items(), ids=MEANT.keys())
def test_an_option_of_another_library_is_translated(name: str, reported: str) -> None:
    """The error says what to pass, not which name is spelt alike."""
    with pytest.raises(TypeError, match=f"no option '{name}'") as raised:
        emitter.emit(int, "?", model="openai/gpt-6-sol", **cast("Any", {name: 1}))

    assert reported in str(raised.value)


WRONG_ARGUMENTS: dict[str, tuple[Callable[..., object], str, str]] = {
    "max_retries": (
        emitter.Policy,
        "Policy",
        "Pass max_faults= for failed calls, or max_attempts= for rejected answers.",
    ),
    "max_tokens": (emitter.Policy, "Policy", "Did you mean 'output_tokens'?"),
    "dedline": (emitter.Policy, "Policy", "Did you mean 'deadline'?"),
    "temperature": (partial(emitter.Fallback, "openai/gpt-6-sol"), "Fallback", "Did you mean 'settings'?"),
    "rpm": (emitter.RateLimit, "RateLimit", "Did you mean 'requests_per_minute'?"),
    "inputs": (emitter.Prices, "Prices", "Did you mean 'input'?"),
    "url": (Image, "Image", "Did you mean 'content'?"),
    "path": (Document, "Document", "Did you mean 'content'?"),
    "quorum": (emitter.RateLimit, "RateLimit", "arguments are requests_per_minute, tokens_per_minute, limiter."),
}


@pytest.mark.parametrize("name", WRONG_ARGUMENTS)
def test_an_argument_that_a_value_does_not_have_is_an_input_error(name: str) -> None:
    """It says which one is meant; it is a ``TypeError``, too, as for any class."""
    make, owner, hint = WRONG_ARGUMENTS[name]
    with pytest.raises(emitter.InputError, match=f"There is no argument '{name}' of {owner}") as raised:
        make(**{name: 1})

    assert hint in str(raised.value)
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("value", [emitter.Policy(max_faults=1), emitter.Prices(1, 2), emitter.RateLimit(3)], ids=repr)
def test_a_value_keeps_its_signature_and_can_be_copied(value: Any) -> None:
    """For ``help()``, other processes and ``dataclasses.replace``."""
    assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == replace(value) == value
    assert list(inspect.signature(type(value)).parameters) == [item.name for item in fields(value)]


@pytest.mark.parametrize("name", ["response_model", "prompt"])
@pytest.mark.parametrize(
    "function",
    [emitter.emit, emitter.aemit, emitter.Emitter("openai/gpt-6-sol").emit],
    ids=lambda function: function.__qualname__,
)
def test_an_option_of_another_library_is_translated_before_a_missing_argument(
    function: Callable[..., Any], name: str
) -> None:
    """It was passed in place of the missing one."""

    async def call() -> None:
        await function(**{name: int})

    with pytest.raises(emitter.InputError) as raised:
        asyncio.run(call())

    assert MEANT[name] in str(raised.value)


@pytest.mark.parametrize("function", [emitter.emit, emitter.emit_binding_moment, emitter.emit_many])
def test_the_options_that_most_programs_use_come_first(function: Callable[..., object]) -> None:
    """In ``help()`` and in the reference; those of OpenWOP, and the clock for tests, are the last."""
    options = list(inspect.signature(function).parameters)
    usual = ["materials", "policy", "client", "instructions", "fallback", "on_event", "temperature"]

    assert sorted(usual, key=options.index) == usual
    assert options.index("temperature") < min(map(options.index, ["degrade", "registry", "requires"]))
    assert options[-8:] == ["run_id", "node_id", "turn", "kind", "contract", "host", "provider_ids", "clock"]


def test_a_missing_argument_is_a_type_error() -> None:
    """As for any function."""
    with pytest.raises(TypeError, match=r"emit\(\) missing 2 required positional arguments: 'form' and 'messages'"):
        cast("Any", emitter.emit)(model="openai/gpt-6-sol")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("from_provider", r'Write Emitter\("openai/gpt-6-sol"\)'),
        ("patch", "with client=client for a client of your own"),
        ("Partial", r"Call stream\(...\).partials\(\)"),
    ],
)
def test_a_name_of_another_library_is_translated(name: str, hint: str) -> None:
    """The error says what to use instead."""
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'.*{hint}"):
        getattr(emitter, name)


@pytest.mark.parametrize("make", [emitter.Emitter, emitter.AsyncEmitter])
def test_a_client_in_place_of_the_model_is_refused_at_once(make: Callable[[Any], object]) -> None:
    """The error says where the client belongs."""
    with pytest.raises(emitter.InputError, match=r'Write Emitter\("openai/gpt-6-sol", client=client\)'):
        make(object())


@pytest.mark.parametrize("make", [emitter.Emitter, emitter.AsyncEmitter])
def test_a_model_of_no_vendor_is_refused_at_once(make: Callable[[Any], object]) -> None:
    """The error lists the vendors."""
    with pytest.raises(UnknownModel, match="the vendors are anthropic"):
        make("openia/gpt-6-sol")


def test_a_field_of_the_value_is_looked_for_on_the_value() -> None:
    """The emission names it, and a field that neither has is an error as for any object."""
    with simulator(answers=Text({"total": 12.5})) as vendor:
        emission = emitter.emit(Priced, "?", model="openai/gpt-6-sol", client=vendor.client("openai/gpt-6-sol"))

    assert copy.copy(emission) == pickle.loads(pickle.dumps(emission)) == emission
    with pytest.raises(AttributeError, match=r"no attribute 'total'. Write emission.value.total$"):
        _ = cast("Any", emission).total
    with pytest.raises(AttributeError, match=r"no attribute 'sum'$"):
        _ = cast("Any", emission).sum


def test_the_model_of_an_emitter_is_its_own() -> None:
    """A second one is an error that says what to do."""
    client = emitter.Emitter("openai/gpt-6-sol")
    with pytest.raises(emitter.InputError, match=r"The Emitter has a model\. Make another Emitter"):
        client.emit(int, "?", **cast("Any", {"model": "openai/gpt-6-sol"}))


def test_an_option_that_is_like_no_other_gets_no_advice() -> None:
    """A wrong hint is worse than none."""
    with pytest.raises(TypeError, match=r"There is no option 'quorum'\.$"):
        emitter.emit(int, "?", model="openai/gpt-6-sol", **cast("Any", {"quorum": 1}))


@pytest.mark.parametrize(
    "function", [emitter.emit, emitter.emit_many, emitter.Emitter.emit], ids=lambda f: f.__qualname__
)
def test_the_checks_of_a_typed_object_are_described_as_such(function: Callable[..., object]) -> None:
    """Those of a decision have the same name and another default."""
    described = inspect.getdoc(function) or ""

    assert "checks: Functions that receive a valid value" in described
    assert "DEFAULT_CHECKS" not in described


def test_an_input_error_covers_every_argument_that_cannot_be_used() -> None:
    """A form is an argument, too."""
    for form in ("Invoice", None, {"type": "nothing"}):
        with pytest.raises(emitter.InputError):
            emitter.emit(form, "?", model="openai/gpt-6-sol")


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as it does in any module; ``tests/typing/misspelt.py`` is for type checkers."""
    with pytest.raises(AttributeError, match="has no attribute 'emit_binding_momentum'"):
        _ = emitter.emit_binding_momentum  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["emit", "emit_binding_moment", "Policy", "InputError"])
def test_importing_a_name_loads_the_standard_library_and_few_modules(name: str) -> None:
    """The engine, pydantic and the SDKs are loaded by the first emission."""
    loaded = loaded_by(f"from emitter import {name}") - loaded_by("pass")

    assert {module.partition(".")[0] for module in loaded} - sys.stdlib_module_names == {"emitter"}
    assert len([module for module in loaded if module.startswith("emitter")]) <= 10
    assert "asyncio" not in loaded


def test_the_engine_loads_neither_a_vendors_sdk_nor_what_few_emissions_need() -> None:
    """A client brings its own SDK; a repair, a reference or a retry brings what it needs."""
    loaded = loaded_by("import emitter.client; emitter.client.execute, emitter.client.prepare_emission")
    packages = {module.partition(".")[0] for module in loaded}

    assert not packages & {"openai", "anthropic", "google", "httpx2", "httpx", "mcp", "starlette", "uvicorn", "tqdm"}
    assert not packages & {
        "sqlalchemy",
        "sqlite3",
        "jsonschema",
        "referencing",
        "json_repair",
        "tiktoken",
        "tenacity",
        "difflib",
    }
    assert len([module for module in loaded if module.startswith("emitter")]) <= 101
    assert not {"emitter.authority", "emitter.mcp", "emitter.web", "emitter.bulk", "emitter.testing"} & loaded


def test_the_fixed_paths_hold() -> None:
    """The paths that the design fixes can be imported."""
    assert callable(recover)
    assert callable(compile_schema)
    assert Recovered.__slots__ == ("value", "path", "byte_offset", "doubtful")
    assert issubclass(Uncompilable, emitter.EmitterError)
