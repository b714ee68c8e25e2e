"""What the vendors call the parts of a message. Names only: nothing here reads what a part says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Table: TypeAlias = Mapping[str, Any]

TEXTS = frozenset({"text", "input_text", "output_text"})
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""The agent's private thinking: vendors take it back only signed and from itself."""

NAMED_CALLS = frozenset(
    {"custom_tool_call", "function_call", "mcp_call", "mcp_tool_use", "server_tool_use", "tool_use"}
)
HOSTED_CALLS = {
    "apply_patch_call": "apply_patch",
    "code_interpreter_call": "code_interpreter",
    "executable_code": "code",
    "file_search_call": "file_search",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "tool_search_call": "tool_search",
    "web_search_call": "web_search",
}
"""Calls of the vendors' own tools, which bear no name, and what is called."""
CALLS = NAMED_CALLS | set(HOSTED_CALLS)

RUN_BY_VENDORS = frozenset(HOSTED_CALLS) | {"mcp_call", "mcp_tool_use", "server_tool_use"}
"""Calls that the vendor may have run itself: what came back stands in the text that follows, or nowhere."""
_SOURCES = frozenset(
    {
        "annotations",
        "citation_metadata",
        "citations",
        "context",
        "grounding_attributions",
        "grounding_metadata",
        "retrieval_metadata",
        "search_results",
        "url_context_metadata",
        "web_search_results",
    }
)
"""Where a message or a part names what its text was drawn from: pages of the web, files, places of a map."""

ARGUMENTS = ("arguments", "input", "args", "action", "operation", "queries", "code")
"""Where a call holds what it was made with."""

RESULTS = frozenset(
    {
        "apply_patch_call_output",
        "bash_code_execution_tool_result",
        "code_execution_result",
        "code_execution_tool_result",
        "custom_tool_call_output",
        "function_call_output",
        "function_response",
        "local_shell_call_output",
        "mcp_tool_result",
        "shell_call_output",
        "text_editor_code_execution_tool_result",
        "tool_result",
        "tool_search_output",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
ANSWERS = ("output", "content", "results", "outputs", "tools", "error")
"""Where a result, or a call that carries its own, holds what came back. Google has ``response`` for it."""

MEDIA = frozenset(
    {"audio", "base64", "computer_screenshot", "file", "image", "image_url", "input_audio", "input_file", "input_image"}
)
"""The parts of a result that are no text."""

_ASIDE = frozenset({"thought", "thought_signature", "part_metadata", "video_metadata", "media_resolution"})
"""What Google writes beside the one member that says what a part is."""


def table(value: object) -> Table | None:
    """Return a JSON object as it is, an object of an SDK as JSON, and None for anything else."""
    if isinstance(value, Mapping):
        return cast("Table", value)
    dump = cast("Callable[..., object] | None", getattr(value, "model_dump", None))
    given = dump(mode="json", exclude_none=True) if dump is not None and not isinstance(value, type) else None
    return cast("Table", given) if isinstance(given, Mapping) else None


def form(part: Table) -> tuple[str, Table]:
    """Return what a part is and the object that holds it: named by ``type``, or by Google's one member."""
    kind = part.get("type")
    if isinstance(kind, str):
        return kind, part
    names = [name for name in part if _snake(name) not in _ASIDE]
    if len(names) != 1:
        return ", ".join(map(str, names)) or "nothing", part
    held = part[names[0]]
    return _snake(names[0]), cast("Table", held) if isinstance(held, Mapping) else part


def first(held: Table, names: tuple[str, ...]) -> Any:
    """Return the first of these members that is there and not null, or None."""
    return next((held[name] for name in names if held.get(name) is not None), None)


def cites(held: Table) -> bool:
    """Tell whether a message or a part names sources of its text."""
    return any(_snake(name) in _SOURCES and bool(value) for name, value in held.items())


def word(value: object) -> str:
    """Return a name as it is, and an empty one for what is no name."""
    return value if isinstance(value, str) else ""


def _snake(name: object) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in str(name))
