"""A name of code in a docstring, hint or error message exists: names in strings survive renames otherwise."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import emitter as package

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ROOT = Path(package.__file__).parent
_PROVIDERS = Path(__file__).parents[1] / "providers"

FOREIGN: Final = {
    "pydantic and Python": "AliasPath Generator Iterable Iterator Unpack "
    "TypeAdapter ValidationError TypedDict TypedDicts NamedTuples Page User Decimal Path Literal Protocol Engine Args "
    "MappingProxyType ArgumentTypeError smtplib model_extra async httpsession connection_pool urllib _ssl "
    "Enum ZoneInfo get_secret_value tolist",
    "httpx2": "AsyncClient NetworkBackend _decoders MAX_DECODE_CHUNK_SIZE _transports _backends _asyncio tls sync",
    "openai and anthropic": "RAW_RESPONSE_HEADER file_object message_batch_individual_response _utils util",
    "openai and pydantic": "Async default_query Field FinalRequestOptions",
    "Google": "GenerateContentConfig HttpOptions RetryInfo FileData",
    "OpenAI Agents": "FunctionTool RunState interruptions to_state context_override",
    "Claude Agent SDK": "ClaudeAgentOptions ResultMessage deferred_tool_use on_failure PreToolUse PostToolUse "
    "mcp__name__tool Bash Write mcp__github__merge",
    "pydantic-ai": "DeferredToolRequests HandleDeferredToolCalls ToolApproved ToolDenied FunctionToolset toolsets "
    "deferred_tool_results conversation_id",
    "LangChain": "ToolMessage ToolNode create_agent middleware Command",
    "MCP": "ElicitResult RequestStateSecurity InputRequiredResult Payload",
    "AG-UI, ACP, DBOS, Ray, Slack": "RunAgentInput allow_always fork_workflow from_items materialize team_id "
    "postMessage msg_blocks_too_long parent_message_id",
    "joserfc": "OKPKey EdDSA",
    "starlette": "mount",
    "OpenWOP": "RunEventDoc AIEnvelopeAcceptor divergencePoint kindHash turnIndex r3_uri",
    "OpenTelemetry": "EVENT_ONLY NO_CONTENT SPAN_AND_EVENT SPAN_ONLY",
    "keys": "PgUp PgDn",
    "browsers": "camera geolocation microphone navigator WebAuthn JavaScript",
    "HTTP": "Bearer Host Fetch Sec Origin Auto",
    "PostgreSQL and SQLite": "lock_not_available nextval shm emitter_",
    "thinking marks, and words of models": "START_THINKING THINK begin_of_thought end_of_thought im_end analysisWe "
    "assistantfinal failed_generation AudioBlock DocumentBlock ImageBlock",
    "examples": "MySubject TestMySurface Team people H1N1 B12 ill3gal budget_usd budget_ bank MODULE emp cut decoded",
    "programs": "python pip install benchmarks fork referencing env conventions semantic gen open",
    "numbers and durations": "Infinity KiB MiB",
}
"""Names that the package does not define, by where they come from."""
_PROPER: Final = """
    OpenAI Anthropic Amazon Bedrock Google Gemini Claude Azure Developer Agent Agents Code Data Ray LangChain
    LangGraph OpenRouter OpenTelemetry OpenWOP OpenAPI PostgreSQL OpenSSL FastAPI CommonMark AdaptiveCards GitHub
    GenAI TeX WebP NaN Python Base64 Ed25519 A256GCM A2UI Context Model Protocol Enter IPv4 IPv6 SQLite Markdown
    W3C Findings Violations Jobs Materials RunEventDocs PDFs URIs URLs
"""
PROPER: Final = frozenset(_PROPER.split())
"""Names of products, standards and keys, and plurals of classes."""
_CAMEL: Final = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+\b")
_TICKED: Final = re.compile(r"``([^`]+)``")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_NAME: Final = re.compile(r"(?<![\w/\\\-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CALLED: Final = re.compile(r"(?<![\w\0/.\-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?=\()")
_PASSED: Final = re.compile(r"(?<![\w\0/.\-&?])([a-z_]\w*)=(?!=)")
_MEMBER: Final = re.compile(r"(?<![\w.])[A-Z]\w*[a-z]\w*\.[a-z_]\w*(?![\w(])")
_MID_SENTENCE: Final = re.compile(r"(?<=[a-z0-9,;)] )[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*\b(?![:@-]\w)")
_SENTENCE: Final = re.compile(r"[^ ]+ [a-zA-Z\0]")
_NO_SENTENCE: Final = re.compile(
    r"\b(SELECT|INSERT|CREATE|UPDATE|DELETE|CAST|PRAGMA|json_each)\b|^[\w.]+\[| \| |\(\?|\\b|^mg "
)
"""SQL, annotations in quotes, regular expressions, and units."""


class Index:
    """The names that the package defines and uses."""

    def __init__(self) -> None:
        self.classes = {name for name in dir(builtins) if name[0].isupper()}
        self.called, self.used = set(dir(builtins)), set(dir(builtins))
        self.passed: set[str] = set()
        self.members: dict[str, set[str]] = defaultdict(set)
        self.bases: dict[str, set[str]] = defaultdict(set)
        self.foreign = {name for names in FOREIGN.values() for name in names.split()} | PROPER
        for path in sorted(_ROOT.rglob("*.py")):
            self.used |= set(path.relative_to(_ROOT.parent).with_suffix("").parts)
            tree = ast.parse(path.read_text("utf-8"))
            docstrings = {id(node) for node, _ in _docstrings(tree)}
            for node in ast.walk(tree):
                if id(node) not in docstrings:
                    self._add_definition(node)
                    self._add_use(node)
        for path in _PROVIDERS.glob("*.toml"):
            self.used |= set(re.findall(r"\w+", path.read_text("utf-8")))

    def _add_definition(self, node: ast.AST) -> None:
        match node:
            case ast.ClassDef(name=name):
                self.classes.add(name)
                self.bases[name] |= set(map(_last_name, node.bases))
                self.members[name] |= set(_members(node))
                self.passed |= self.members[name]
            case ast.Name(id=name, ctx=ast.Store()) if name[0].isupper():
                self.classes.add(name)
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                self.passed.add(name)
            case _:
                pass

    def _add_use(self, node: ast.AST) -> None:
        match node:
            case ast.alias(name=name, asname=alias):
                self.used |= {*name.split("."), alias or name}
            case ast.Constant(value=str(text)) if re.fullmatch(r"[\w.\-/$]+", text):
                self.used |= set(re.findall(r"\w+", text))
            case ast.keyword(arg=str(name)):
                self.used.add(name)
            case _ if name := _last_name(node):
                self.used.add(name)
                self.called.add(name)

    def knows(self, name: str, names: set[str]) -> bool:
        """Return whether a name is one of these, or of another package."""
        return name in names or name in self.foreign

    def resolves(self, dotted: str) -> bool:
        """Return whether each part of a name exists, and a member in its class."""
        first, *rest = dotted.split(".")
        is_class = first[:1].isupper() and not first.isupper()
        is_known = self.knows(first, self.classes if is_class else self.used)
        if rest and first in self.members:
            return self._has_member(first, rest[0])
        if rest and first == "emitter":
            return (
                rest[0] in vars(package)["__all__"] or (_ROOT / rest[0]).is_dir() or (_ROOT / f"{rest[0]}.py").is_file()
            )
        return is_known and all(self.knows(part, self.used) for part in rest)

    def _has_member(self, owner: str, name: str) -> bool:
        bases = self.bases[owner]
        if name in self.members[owner] or any(base not in self.members for base in bases - _EMPTY_BASES):
            return True
        return any(self._has_member(base, name) for base in bases & self.members.keys())


_EMPTY_BASES: Final = {"Enum", "Protocol", "Exception", "str", "NamedTuple", "TypedDict", "Generic", "ABC", ""}
"""Bases of other packages whose members no string names."""


@cache
def index() -> Index:
    """Return the names, which take a second to collect."""
    return Index()


def _last_name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Subscript(value=value):
            return _last_name(value)
        case _:
            return ""


def _members(owner: ast.ClassDef) -> Iterator[str]:
    for node in owner.body:
        match node:
            case ast.AnnAssign(target=target):
                yield _last_name(target)
            case ast.Assign(targets=targets):
                yield from map(_last_name, targets)
            case _:
                yield _last_name(node)
    for inner in ast.walk(owner):
        match inner:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def _docstrings(tree: ast.AST) -> Iterator[tuple[ast.Constant, str]]:
    """Yield the strings that stand alone: docstrings of modules, classes, functions and constants."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text)) as constant):
                yield constant, text
            case _:
                pass


def _messages(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield the other strings that are sentences. A null character is in place of each value."""
    skipped = {id(node) for node, _ in _docstrings(tree)}
    skipped |= {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in skipped:
                pass
            case ast.JoinedStr(values=values):
                text = "".join(str(each.value) if isinstance(each, ast.Constant) else "\0" for each in values)
            case _:
                continue
        if _SENTENCE.match(text) and not _NO_SENTENCE.search(text):
            yield node, text


def unresolved_in_docstring(text: str) -> Iterator[str]:
    """Yield the names of code in a docstring that do not exist."""
    names = index()
    for ticked in _TICKED.findall(text):
        code = _QUOTED.sub("", ticked)
        yield from (name for name in _NAME.findall(code) if not names.resolves(name))
        yield from _unresolved_calls(code)
    yield from (name for name in _CAMEL.findall(_TICKED.sub("", text)) if not names.knows(name, names.classes))


def unresolved_in_message(text: str) -> Iterator[str]:
    """Yield the names of code in a hint or error message that do not exist."""
    names, code = index(), _QUOTED.sub("", text)
    yield from _unresolved_calls(code)
    found = dict.fromkeys((*_CAMEL.findall(code), *_MID_SENTENCE.findall(code)))
    yield from (name for name in found if not names.knows(name, names.classes))
    yield from (name for name in _MEMBER.findall(code) if not names.resolves(name))


def _unresolved_calls(code: str) -> Iterator[str]:
    names = index()
    for name in _CALLED.findall(code):
        if not names.resolves(name) or not names.knows(name.rpartition(".")[2], names.called):
            yield f"{name}("
    yield from (f"{name}=" for name in _PASSED.findall(code) if not names.knows(name, names.passed))


def _unresolved(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        tree, place = ast.parse(path.read_text("utf-8")), path.relative_to(_ROOT).as_posix()
        for node, text in _docstrings(tree):
            yield from (f"{place}:{node.lineno}: {name}" for name in unresolved_in_docstring(text))
        if not place.startswith("testing/"):  # the simulated vendor speaks as the vendors do
            for sentence, text in _messages(tree):
                yield from (f"{place}:{sentence.lineno}: {name}" for name in unresolved_in_message(text))


def test_every_name_in_a_string_exists() -> None:
    """Otherwise it was renamed, or it belongs into FOREIGN."""
    assert sorted(set(_unresolved(sorted(_ROOT.rglob("*.py"))))) == []


STALE: Final = {
    "Raise the limit in the host's Limits, or emit from another turn, node or run.": ["Limits"],
    "Pass HostLimits, or raise HostLimits.envelopes_a_turn.": ["HostLimits.envelopes_a_turn"],
    "Use emit_document(...) instead of it.": ["emit_document("],
    "Pass on_events= or on_event=.": ["on_events="],
    "Use an SqLiteStore for it.": ["SqLiteStore"],
    "Call Ledger.resolve_all(...) for it.": ["Ledger.resolve_all("],
}


@pytest.mark.parametrize("text", STALE)
def test_a_name_that_was_renamed_is_found(text: str) -> None:
    """A class, also in the middle of a sentence, a function, a member, an argument."""
    assert list(unresolved_in_message(text)) == STALE[text]


@pytest.mark.parametrize("name", ["Limits", "Policy.max_tries", "emit_document", "emitter.hosts", "HostLimits.limit"])
def test_a_name_in_a_docstring_that_was_renamed_is_found(name: str) -> None:
    """Alone, with its class, with its module."""
    assert list(unresolved_in_docstring(f"Return the ``{name}`` of a host.")) == [name]


def test_no_foreign_name_is_left_over() -> None:
    """A name that no string has any more leaves the list."""
    text = "\n".join(
        text
        for path in _ROOT.rglob("*.py")
        for tree in [ast.parse(path.read_text("utf-8"))]
        for _, text in (*_docstrings(tree), *_messages(tree))
    )
    words = set(re.findall(r"\w+", text))
    assert (
        sorted(name for names in (*FOREIGN.values(), " ".join(PROPER)) for name in names.split() if name not in words)
        == []
    )
