"""Support for the pytest plugin: test ids, seeds, cassette plans, the network block and failure reports.

The plugin imports this module only for tests that use it.
"""

from __future__ import annotations

import hashlib
import inspect
import ipaddress
import json
import os
import re
import shlex
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from emitter.errors import EmitterError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from emitter.messages import Usage
    from emitter.testing.responses import SimulatedCall
    from emitter.testing.simulation import Simulator


@dataclass(frozen=True, slots=True)
class CassettePlan:
    """The path of a test's cassette, and the decision to record it.

    All tests of a session share ``recorded``, which maps each recorded file to its test.
    """

    test: str
    path: Path
    recording: bool
    allow_unused: bool
    recorded: dict[Path, str]

    def command(self, mode: str) -> str:
        """Return the command that records the cassette."""
        return f"pytest --emitter-record={mode} {shlex.quote(self.test)}"


def make_cassette_plan(item: pytest.Item, recorded: dict[Path, str]) -> CassettePlan:
    """Return a test's cassette plan. Raises ``InputError`` for a bad marker, or a file that another test recorded."""
    name, allow_unused = _parse_cassette_marker(item.get_closest_marker("emitter_cassette"))
    path = get_cassette_path(item, name, item.config.getini("emitter_cassettes"))
    mode, test = item.config.getoption("emitter_record"), get_node_id(item)
    if recorded.get(path, test) != test:
        raise InputError(
            f"{path} has just been recorded by {recorded[path]}.",
            hint="Give each test its own cassette: leave out the name, or choose another one.",
        )
    recording = mode == "all" or (mode == "once" and (path in recorded or not path.exists()))
    return CassettePlan(test, path, recording, allow_unused, recorded)


def get_vendor_options(item: pytest.Item, make: Callable[..., object]) -> dict[str, Any]:
    """Return the options of the test's marker for ``make``, the simulator. Raises ``InputError``."""
    marker = item.get_closest_marker("emitter_vendor")
    if marker is None:
        return {}
    known = inspect.signature(make).parameters
    unknown = [repr(name) for name in marker.kwargs if name not in known]
    if marker.args or unknown:
        problem = f"has no option {', '.join(unknown)}" if unknown else "takes keyword options only"
        raise InputError(f"The marker emitter_vendor {problem}.", hint=f"Its options are {', '.join(known)}.")
    return dict(marker.kwargs)


def _parse_cassette_marker(marker: pytest.Mark | None) -> tuple[str | None, bool]:
    if marker is None:
        return None, False

    def emitter_cassette(name: str | None = None, *, allow_unused: bool = False) -> tuple[str | None, bool]:
        return name, allow_unused

    try:
        return emitter_cassette(*marker.args, **marker.kwargs)
    except TypeError as error:
        raise InputError(
            f"The marker emitter_cassette is invalid: {str(error).rpartition('.')[2]}.",
            hint="Write emitter_cassette(name, allow_unused=False). Both arguments are optional.",
        ) from error


@contextmanager
def run_vendor(item: pytest.Item, patch: pytest.MonkeyPatch) -> Generator[tuple[Simulator, int]]:
    """Run the vendor of a test, point the environment to it, and yield it with its seed. No two tests share one."""
    from emitter.testing.simulation import simulator  # noqa: PLC0415  slow to import, and not needed by the network block

    options = get_vendor_options(item, simulator)
    seed = options.setdefault("seed", derive_seed(item))
    with simulator(**options) as vendor:
        for name, value in vendor.environment().items():
            patch.setenv(name, value)
        for name in ("NO_PROXY", "no_proxy"):
            # Otherwise the SDKs connect to this machine through a proxy.
            patch.setenv(name, ",".join(filter(None, (os.environ.get(name), "127.0.0.1", "localhost"))))
        yield vendor, seed


_FORBIDDEN_CHARACTERS = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
"""Characters that some file system does not allow in a name."""
_MAX_NAME_LENGTH = 120
"""Characters in a file name; most file systems allow this many in any script."""


def get_node_id(item: pytest.Item) -> str:
    """Return the test's id relative to the root folder, without the group that pytest-xdist adds."""
    return "::".join((_get_relative_file(item).as_posix(), *_get_node_names(item)))


def derive_seed(item: pytest.Item) -> int:
    """Return the test's own seed, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(get_node_id(item).encode(), digest_size=4).digest(), "big")


def get_cassette_path(item: pytest.Item, name: str | None, folder: str) -> Path:
    """Return the path of the test's cassette. Raises ``InputError`` for a name that leads out of its folder."""
    default = item.path.parent / "cassettes"
    root = item.config.rootpath / folder if folder else default
    if name is not None:
        return root / f"{_check_cassette_name(name).removesuffix('.json')}.json"
    subfolder = _get_relative_file(item).parent if folder else Path()
    return root / subfolder / item.path.stem / f"{_sanitize_file_name('.'.join(_get_node_names(item)))}.json"


def _get_relative_file(item: pytest.Item) -> Path:
    root = item.config.rootpath
    return item.path.relative_to(root) if item.path.is_relative_to(root) else Path(item.path.name)


def _get_node_names(item: pytest.Item) -> Iterable[str]:
    return [node.name for node in item.listchain() if node is item or isinstance(node, pytest.Class)]


def _sanitize_file_name(name: str) -> str:
    """Return a valid file name; a changed name gets a hash, so that it stays unique."""
    file_name = _FORBIDDEN_CHARACTERS.sub("-", name)[:_MAX_NAME_LENGTH]
    return (
        file_name if file_name == name else f"{file_name}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"
    )


def _check_cassette_name(name: object) -> str:
    parts = name.split("/") if isinstance(name, str) else [""]
    if not all(part.strip(". ") and not _FORBIDDEN_CHARACTERS.search(part) for part in parts):
        raise InputError(
            f"{name!r} is not a valid name for a cassette.",
            hint="Use a path inside the cassette folder, such as 'checkout/refused'.",
        )
    return "/".join(parts)


_ADDRESS_ARGUMENTS = {"connect": 0, "connect_ex": 0, "sendto": -1, "sendmsg": 3}
"""The socket methods that connect or send, and the index of their address argument."""
_INTERNET_FAMILIES = (socket.AF_INET, socket.AF_INET6)
_ADDRESS_LOOKUPS = ("gethostbyaddr",)
"""The lookups that ask a name server even about an address."""
_LOOKUP_FUNCTIONS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", *_ADDRESS_LOOKUPS)


class NetworkBlocked(EmitterError):
    """A test tried to connect to another machine."""

    hint = (
        "Use the emitter_vendor fixture, or a cassette (emitter_client, emitter_http), which --emitter-record=once "
        "records. The ini option emitter_block_network sets which tests are blocked."
    )


@contextmanager
def block_network(test: str, attempts: list[str]) -> Generator[None]:
    """Block connections and lookups to other machines. Each raises ``NetworkBlocked`` and is added to ``attempts``."""

    def refuse(host: object, port: object = None) -> None:
        host_name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        attempts.append(host_name if port is None else f"{host_name}:{port}")
        raise NetworkBlocked(f"{test} tried to reach {attempts[-1]}, but the network is blocked in this test.")

    with pytest.MonkeyPatch.context() as patch:
        for name, argument in _ADDRESS_ARGUMENTS.items():
            original = getattr(socket.socket, name, None)
            if original is not None:
                patch.setattr(socket.socket, name, _guard_connect(original, argument, refuse), raising=False)
        for name in _LOOKUP_FUNCTIONS:
            original = getattr(socket, name)
            patch.setattr(socket, name, _guard_lookup(original, refuse, include_addresses=name in _ADDRESS_LOOKUPS))
        yield


def _guard_connect(original: Callable[..., Any], argument: int, refuse: Callable[..., None]) -> Callable[..., Any]:
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        address = cast("Sequence[object]", arguments[argument]) if len(arguments) > argument else None
        if self.family in _INTERNET_FAMILIES and isinstance(address, tuple) and not _is_local(address[0]):
            if argument == 0:
                # Callers close the socket on an OSError only; this is no OSError, or an SDK would retry.
                self.close()
            refuse(*address[:2])
        return original(self, *arguments)

    return guarded


def _guard_lookup(
    original: Callable[..., Any], refuse: Callable[..., None], *, include_addresses: bool
) -> Callable[..., Any]:
    def guarded(*arguments: Any, **keywords: Any) -> Any:
        host = arguments[0] if arguments else keywords.get("host")
        if not _is_local(host) and (include_addresses or _parse_address(host) is None):
            refuse(host)
        return original(*arguments, **keywords)

    return guarded


def _is_local(host: object) -> bool:
    """Return whether a host is this machine."""
    name = _normalize_host(host)
    if name in ("", "localhost", socket.gethostname().lower()) or name.endswith(".localhost"):
        return True
    address = _parse_address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def _normalize_host(host: object) -> str:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    return text.rstrip(".").lower() if isinstance(text, str) else ""


def _parse_address(host: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(_normalize_host(host))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


_MAX_CALLS_SHOWN = 20


def format_report(vendor: Simulator, seed: int, *, prompts: bool) -> str:
    """Return a report of the calls with their behaviours and tokens, and with their bodies if ``prompts`` is set."""
    calls = vendor.calls
    summary = f"{len(calls)} call{'' if len(calls) == 1 else 's'}, billed {_format_usage(vendor.billed)}; seed {seed}"
    first = max(0, len(calls) - _MAX_CALLS_SHOWN)
    omitted = [f"({first} earlier calls are not shown)"] if first else []
    lines = [_format_call(number, call, prompts=prompts) for number, call in enumerate(calls[first:], first + 1)]
    return "\n".join([summary, *omitted, *lines])


def _format_call(number: int, call: SimulatedCall, *, prompts: bool) -> str:
    wire = call.wire.value if call.wire else f"{call.path.partition('?')[0]} (no vendor's path)"
    behaviour = type(call.behaviour).__name__ if call.behaviour else "invalid request"
    status = "no status" if call.status is None else str(call.status)
    form = ", streamed" if call.streamed else ""
    line = f"{number:>3}. {wire} {call.model}{form}: {behaviour}, {status}, {_format_usage(call.usage)}"
    return f"{line}\n{json.dumps(call.body, indent=1, ensure_ascii=False)}" if prompts else line


def _format_usage(usage: Usage) -> str:
    thinking = f" ({usage.thinking} of them thinking)" if usage.thinking else ""
    return f"{usage.input} + {usage.output} tokens{thinking}"
