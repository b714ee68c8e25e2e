"""The arguments that several commands share, and the options of the library that they stand for."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.cli.input_output import read_content
from emitter.errors import InputError
from emitter.messages import as_list
from emitter.models import Trust
from emitter.outside_values import MAX_INTEGER, parse_float, parse_int
from emitter.policy import Policy, Prices
from emitter.profiles import Profile, load_profile
from emitter.telemetry.sinks import to_all, to_jsonl

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from emitter.messages import Json
    from emitter.telemetry.sinks import Sink


_MOMENT_SOURCES = "a binding moment, a tool's result that contains one, or the output of `emitter moment --json`"


def add_file_argument(
    parser: argparse.ArgumentParser, description: str = _MOMENT_SOURCES, *, metavar: str = "FILE"
) -> None:
    """Add the optional input file."""
    help_text = f"{description} (default: standard input, or -)"
    parser.add_argument("file", nargs="?", default="-", metavar=metavar, help=help_text)


def add_json_argument(parser: argparse.ArgumentParser, description: str = "print JSON") -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=description)


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    """Add the store that a command works on."""
    parser.add_argument("store", metavar="STORE", help="the store: an SQLite file, or postgresql://...")


def add_port_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--port``."""
    parser.add_argument("--port", type=to_integer, default=0, metavar="PORT", help="the port (default: a free port)")


def add_sign_argument(parser: argparse.ArgumentParser, description: str) -> None:
    """Add ``--sign``."""
    parser.add_argument("--sign", metavar="KEY", help=f"{description} with this key: see `emitter receipts key`")


def add_model_argument(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add ``--model``."""
    parser.add_argument("--model", required=required, metavar="MODEL", help="vendor/model, such as openai/gpt-6-sol")


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that select the vendor's API and server, and the limits of each emission."""
    parser.epilog = API_KEY_NOTE
    parser.add_argument(
        "--wire", metavar="API", help="the API to use, if the vendor has several: see `emitter providers`"
    )
    parser.add_argument("--base-url", metavar="URL", help="the address of the vendor's server")
    parser.add_argument(
        "--profile", metavar="FILE", help="a TOML file that says what the server is: see `emitter providers vllm`"
    )
    _add_policy_arguments(parser)


def add_emission_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the commands that emit; ``emission_options`` reads them."""
    add_connection_arguments(parser)
    parser.add_argument(
        "--fallback", action="append", metavar="MODEL", help="a model to ask if those before it fail; repeatable"
    )
    parser.add_argument("--instructions", metavar="TEXT", help="text for the system prompt, after the library's own")
    parser.add_argument("--prompts", metavar="DIR", help="a folder with files that replace the library's prompts")
    parser.add_argument(
        "--material", action="append", default=[], metavar="FILE", help="a trusted text, image, PDF or audio file"
    )
    parser.add_argument(
        "--untrusted", action="append", default=[], metavar="FILE", help="the same, untrusted: the prompt fences it"
    )
    add_events_argument(parser)
    _add_setting_arguments(parser)


def add_secrets_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--secrets``."""
    parser.add_argument("--secrets", metavar="FILE", help='a JSON file of {"id": "value"}: secrets to redact')


def add_events_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--events``."""
    parser.add_argument("--events", metavar="FILE", help="append every event to FILE, one JSON document per line")


def _add_setting_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("settings of the model (a setting that the model does not support is an error)")
    group.add_argument("--temperature", type=to_number, metavar="N", help="the randomness of the answer")
    group.add_argument(
        "--top-p", type=to_number, metavar="N", help="the share of the most likely tokens to sample from"
    )
    group.add_argument(
        "--seed", type=to_integer, metavar="N", help="makes sampling repeatable as far as the vendor can"
    )
    group.add_argument("--reasoning-effort", metavar="EFFORT", help="how much the model thinks, from none to max")
    group.add_argument("--service-tier", metavar="TIER", help="the vendor's processing tier, such as flex or priority")
    group.add_argument("--stop", action="append", metavar="TEXT", help="a text that ends the answer; repeatable")
    group.add_argument("--extra-body", type=_parse_json, metavar="JSON", help="the vendor's own parameters")


API_KEY_NOTE = "The API key is read from the vendor's usual environment variable: see `emitter providers`."
_SETTINGS = ("temperature", "top_p", "seed", "reasoning_effort", "service_tier", "stop", "extra_body")


LIMITS: dict[str, tuple[str, str]] = {
    "max_attempts": ("N", "the most calls, 1 to 16 (default: 3)"),
    "output_tokens": ("N", "the first call's output budget (default: computed)"),
    "max_output_tokens": ("N", "the largest output budget of a call (default: the model's limit)"),
    "truncation_multiplier": ("N", "the factor that raises the budget after a cut, 1 to 8 (default: 2)"),
    "max_faults": ("N", "the most retries of failed calls, 0 to 16 (default: 4)"),
    "max_total_tokens": ("N", "the most input and output tokens of all calls"),
    "max_cost": ("USD", "the highest cost of all calls, in US dollars"),
    "prices": ("IN OUT", "US dollars per million input and output tokens (default: the list of genai-prices)"),
    "nl_to_format": (
        "",
        "if every attempt fails, make two more calls: for free text, and to put it into the form",
    ),
    "max_retry_after": ("SECONDS", "the longest wait that a vendor may ask for (default: 60)"),
    "timeout": ("SECONDS", "the time limit of a call (default: 600)"),
    "deadline": ("SECONDS", "the time limit of all calls together (default: none)"),
    "max_response_bytes": ("BYTES", "the largest response (default: 32 MiB)"),
    "lower_effort": ("", "after a cut at the largest budget, allow one call in which the model thinks less"),
}
"""The metavar and the help of each limit of ``Policy``. One without a metavar is a switch."""


def _add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits of an emission")
    for each in fields(Policy):
        metavar, description = LIMITS[each.name]
        names = metavar.split()
        kinds: dict[int, dict[str, Any]] = {
            0: {"action": "store_true", "default": None},
            1: {"type": to_integer if each.type.startswith("int") else to_number, "metavar": metavar},
        }
        kind = kinds.get(len(names), {"type": to_number, "nargs": len(names), "metavar": tuple(names)})
        group.add_argument(f"--{each.name.replace('_', '-')}", help=description, **kind)


EMISSION_OPTIONS = ("model", "fallback", "instructions", *_SETTINGS, *LIMITS)
"""The options that a file of jobs may set for all of its jobs. None of them leads to another server or file."""


def build_policy(args: argparse.Namespace) -> Policy:
    """Return the limits of an emission."""
    limits: dict[str, Any] = {name: getattr(args, name) for name in LIMITS if getattr(args, name) is not None}
    if "prices" in limits:
        limits["prices"] = _make_prices(limits["prices"])
    return Policy(**limits)


def _make_prices(pair: Json) -> Prices:
    if len(as_list(pair)) != len(LIMITS["prices"][0].split()):
        raise InputError(f"prices is {pair!r}.", hint="Pass two numbers: US dollars per million tokens, in and out.")
    return Prices(*as_list(pair))


def emission_options(args: argparse.Namespace, on_event: Sink | None = None) -> dict[str, Any]:
    """Return the options that ``emit``, ``emit_many`` and ``emit_binding_moment`` share."""
    sinks = [] if on_event is None else [on_event]
    if args.events is not None:
        sinks.append(to_jsonl(args.events))
    options = {name: getattr(args, name) for name in ("fallback", "instructions", *_SETTINGS)}
    return {
        # None would override the default of the library.
        **{name: value for name, value in options.items() if value is not None},
        "model": args.model,
        "wire": args.wire,
        "base_url": args.base_url,
        "profile": read_profile(args.profile),
        "prompts": args.prompts,
        "policy": build_policy(args),
        "on_event": to_all(*sinks) if sinks else None,
        "materials": [
            *(read_content(name) for name in args.material),
            *(read_content(name, Trust.UNTRUSTED) for name in args.untrusted),
        ],
    }


def read_profile(file: str | None) -> Profile | None:
    """Return the profile in a file, if one is named."""
    return None if file is None else Profile.from_toml(Path(file))


def find_facts(name: str) -> Profile:
    """Return the profile of a vendor, or the one in a file whose name ends in ``.toml``."""
    return Profile.from_toml(Path(name)) if name.endswith(".toml") else load_profile(name)


def parse_number(text: str, is_valid: Callable[[float], bool], requirement: str) -> float:
    """Return a number for argparse, which reports the ``ArgumentTypeError`` of an invalid one."""
    number = parse_float(text)
    if number is None or not is_valid(number):
        raise ArgumentTypeError(f"{text!r} is not {requirement}")
    return number


def to_number(text: str) -> float:
    """Return a number for argparse."""
    return parse_number(text, lambda _: True, "a number")


def to_integer(text: str) -> int:
    """Return a whole number for argparse."""
    return _parse_whole(text, -MAX_INTEGER, MAX_INTEGER, "a whole number")


def to_count(text: str) -> int:
    """Return a whole number that is not negative for argparse."""
    return _parse_whole(text, 0, MAX_INTEGER, "a whole number, 0 or more")


def _parse_whole(text: str, minimum: int, maximum: int, requirement: str) -> int:
    whole = parse_int(text, minimum=minimum, maximum=maximum)
    if whole is None:
        raise ArgumentTypeError(f"{text!r} is not {requirement}")
    return whole


def _parse_json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentTypeError(f"{text!r} is not JSON ({error})") from error


def check_single_standard_input(names: list[str]) -> None:
    """Raise ``InputError`` if standard input is named more than once."""
    if names.count("-") > 1:
        raise InputError("Standard input (-) is named more than once.", hint="Pass a file for all but one.")
