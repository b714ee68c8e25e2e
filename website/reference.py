"""Writes the pages of the API reference: one for each public package, made from its docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, get_origin

import griffe

from emitter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_QUOTED = re.compile(r"(: |-> )'([^']*)'")
_FUNCTION = re.compile(r"<function ([\w.<>]+) at 0x[0-9a-f]+>")
Object: TypeAlias = "griffe.Object | griffe.Alias"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the reference: its title, and its modules, each with the names to show if they are not all of them."""

    title: str
    modules: tuple[str, ...]

    @property
    def file_name(self) -> str:
        """The name of the page's file."""
        return f"{'-'.join(re.findall('[a-z]+', self.title.lower()))}.md"


PAGES = (
    Page(
        "Functions and clients",
        (
            "emitter",
            "emitter.attempts:Attempt Verdict",
            "emitter.messages:Fault FaultKind Usage ModelResponse",
            "emitter.profiles.model:ProfileFacts",
        ),
    ),
    Page("Errors", ("emitter.errors",)),
    Page("Events", ("emitter.telemetry", "emitter.streaming:FieldComplete TextDelta Restart", "emitter.events")),
    Page(
        "Many emissions",
        (
            "emitter.bulk",
            "emitter.bulk.runs:RunCounters",
            "emitter.client.rate_limits:RateLimiter Ticket",
            "emitter.client.background:Background",
        ),
    ),
    Page("Media", ("emitter.media",)),
    Page(
        "Decisions",
        (
            "emitter.decisions",
            "emitter.decisions.ledger",
            "emitter.decisions.resolution:signing_key_id",
            "emitter.checks",
            "emitter.models",
        ),
    ),
    Page(
        "Authority",
        (
            "emitter.authority",
            "emitter.authority.records:Granted FirstApproval",
            "emitter.authority.rules:GrantState",
            "emitter.authority.audit:report_chain ChainReport export_lines",
            "emitter.authority.chain:verify_chain",
            "emitter.authority.signing",
        ),
    ),
    Page("Proposals and authorization", ("emitter.authority.proposals", "emitter.authority.envelopes")),
    Page(
        "Rendering",
        (
            "emitter.render",
            "emitter.render.layout",
            "emitter.render.delivery",
            "emitter.render.slack:Slack get_pressed_veto veto_modal wants_detail detail_modal get_detail_topic",
        ),
    ),
    Page("Terminal, web and MCP", ("emitter.terminal", "emitter.web", "emitter.mcp")),
    Page("Host", ("emitter.host", "emitter.host.capabilities", "emitter.host.asgi", "emitter.redaction")),
    Page(
        "Integrations",
        (
            "emitter.integrations.acp",
            "emitter.answers:Reply ReplyKind",
            "emitter.integrations.ag_ui",
            "emitter.integrations.claude_agent:GuardedTools GuardHooks resume",
            "emitter.integrations.dbos:aemit ask act",
            "emitter.integrations.langchain:as_tool GuardMiddleware",
            "emitter.integrations.openai_agents:as_tool guard_tool apply_answers save_state load_state delete_state",
            "emitter.integrations.pydantic_ai:as_toolset guard_toolset build_results wait_for_answers",
            "emitter.integrations.ray:emit_dataset EmissionMapper",
            "emitter.integrations.slack:SlackApprovals SlackMessage",
            "emitter.integrations.webhooks",
        ),
    ),
    Page("Stores", ("emitter.stores", "emitter.stores.jobs:JobTable Orphan")),
    Page("Schemas and recovery", ("emitter.schema", "emitter.recover")),
    Page(
        "Testing",
        (
            "emitter.testing",
            "emitter.testing.batches:BatchStore BatchScript",
            "emitter.testing.surfaces:SurfaceSubject RendererSubject SurfaceContract ShownOption check_surface",
        ),
    ),
)


@cache
def load_package() -> griffe.Module:
    """Return the package as it stands in the source."""
    loaded = griffe.load("emitter", search_paths=["src"], docstring_parser="google")
    assert isinstance(loaded, griffe.Module)
    return loaded


def find(path: str) -> Object:
    """Return the object at a dotted path."""
    return load_package() if path == "emitter" else load_package()[path.removeprefix("emitter.")]


def split_module(entry: str) -> tuple[str, tuple[str, ...]]:
    """Return a module of a page and its names: those that follow the colon, or all public ones."""
    module, _, names = entry.partition(":")
    return module, tuple(names.split()) or public_names(module)


def public_names(module: str) -> tuple[str, ...]:
    """Return the public names of a module, in the order of its source."""
    found = find(module)
    exports: list[str] | None = getattr(_load_module(module), "__all__", None)
    if exports is not None:
        return tuple(name for name in exports if name in found.members)
    return tuple(name for name, member in found.members.items() if is_public(found, member))


def _load_module(name: str) -> ModuleType | None:
    """Return a module, or None if it needs an extra that is not installed."""
    try:
        return importlib.import_module(name)
    except MissingExtra:
        return None


def is_public(module: Object, member: Object) -> bool:
    """Return whether a member of a module is a public name: defined there, or imported as itself."""
    if member.name.startswith("_") or member.kind is griffe.Kind.MODULE:
        return False
    if isinstance(member, griffe.Alias):
        return f" as {member.name}\n" in f"{module.source}\n"
    return not member.is_attribute or member.has_docstring


def undocumented() -> list[str]:
    """Return the public names of the reference, and the methods and properties of its classes, without a docstring."""
    entries = [split_module(entry) for page in PAGES for entry in page.modules]
    objects = [find(f"{module}.{name}") for module, names in entries for name in names if name != "__version__"]
    return sorted({each.canonical_path for found in objects for each in _described(found) if not each.has_docstring})


def _described(found: Object) -> Iterator[Object]:
    yield found
    if found.is_class:
        yield from (
            member
            for name, member in found.members.items()
            if not name.startswith("_") and (member.is_function or "property" in member.labels)
        )


def render_page(page: Page) -> str:
    """Return the page as the site's builder reads it."""
    return "\n".join([f"# {page.title}", "", *(_block(*split_module(entry)) for entry in page.modules)])


def _block(module: str, names: tuple[str, ...]) -> str:
    members = "".join(f'        - "{name}"\n' for name in names if name != "__version__")  # on is a bool of YAML
    return f"::: {module}\n    options:\n      members:\n{members}"


def render_markdown(page: Page) -> str:
    """Return the page as plain Markdown, with the signatures and docstrings that ``help()`` shows."""
    parts = [f"# {page.title}"]
    for entry in page.modules:
        module, names = split_module(entry)
        parts += [f"## {module}", _docstring(find(module))]
        parts += [_describe(module, name) for name in names if name != "__version__"]
    return "\n\n".join(filter(None, parts)) + "\n"


def _describe(module: str, name: str) -> str:
    value: Any = getattr(_load_module(module), name, None)
    heading = f"### {module}.{name}"
    if not callable(value) or not hasattr(value, "__qualname__") or get_origin(value) is not None:
        return f"{heading}\n\n{_docstring(find(f'{module}.{name}'))}".rstrip()
    if isinstance(value, type) and issubclass(value, Enum):
        members = "\n".join(f"{name}.{each.name} = {each.value!r}" for each in value)
        return f"{heading}\n\n```text\n{inspect.getdoc(value) or ''}\n\n{members}\n```"
    text = f"{heading}\n\n```text\n{name}{_signature(value)}\n\n{inspect.getdoc(value) or ''}".rstrip()
    methods = [_method(each, member) for each, member in vars(value).items()]
    return "\n\n".join([text, *filter(None, methods)]) + "\n```"


def _docstring(found: Object) -> str:
    return found.docstring.value if found.docstring else ""


def _method(name: str, member: Any) -> str:
    """Return the description of a method or a property, or an empty text for any other member."""
    if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
        return ""
    text = "\n".join(f"    {line}".rstrip() for line in (inspect.getdoc(member) or "").splitlines())
    return f"{name}{_signature(member)}\n{text}"


def _signature(value: Any) -> str:
    try:
        return _FUNCTION.sub(r"\1", _QUOTED.sub(r"\1\2", str(inspect.signature(value))))
    except (TypeError, ValueError):
        return ""
