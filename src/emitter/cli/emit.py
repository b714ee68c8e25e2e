"""The command ``emit``, and what it shares with ``batch``: the form of an object, and results as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from emitter.bulk.journal import dump_attempts
from emitter.cli.arguments import (
    add_emission_arguments,
    add_json_argument,
    add_model_argument,
    check_single_standard_input,
    emission_options,
)
from emitter.cli.importing import import_object
from emitter.cli.input_output import Timeline, parse_prompt, print_json, read_content, read_schema
from emitter.cli.spelling import spell_error
from emitter.client.documents import emit
from emitter.errors import EmissionError
from emitter.prompts import Material
from emitter.schema.python_types import resolve_schema

if TYPE_CHECKING:
    import argparse
    from collections.abc import Container

    from emitter.client.result import Emission
    from emitter.messages import Json

_TYPE_HINT = "Write the module and the name, such as invoices:Invoice for the class Invoice in invoices.py."


def add_emit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="the prompt, and then its materials: texts, images, PDFs, audio (default: standard input, or -)",
    )
    add_model_argument(parser, required=True)
    add_form_arguments(parser, required=True)
    parser.add_argument("--prompt", metavar="TEXT", help="the prompt; every FILE is then a material")
    add_emission_arguments(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="report calls and events on standard error")
    add_json_argument(parser, "print the value, envelope, usage, cost, attempts and events; also of a failure")


def add_form_arguments(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the arguments for the type of the object."""
    form = parser.add_mutually_exclusive_group(required=required)
    form.add_argument("--type", metavar="MODULE:NAME", help="a type, such as a pydantic model: invoices:Invoice")
    form.add_argument("--schema", metavar="FILE", help="a JSON Schema")


def run_emit(args: argparse.Namespace) -> int:
    """Ask a model for a typed object, and print it as JSON.

    The first FILE holds the prompt: text, or the messages of an agent as a JSON array. The others are its materials:
    texts, images, PDF documents and audio. With --prompt, every FILE is a material. Without FILE and --prompt, standard
    input is read. Pass text from strangers with --untrusted, so that the model does not take it for instructions.
    """
    files = args.files or (["-"] if args.prompt is None else [])
    check_single_standard_input([*files, *args.material, *args.untrusted, *filter(None, [args.schema])])
    form = load_form(args.type, args.schema)
    options = emission_options(args, Timeline() if args.verbose else None)
    prompt: Any = args.prompt
    materials = [read_content(name) for name in files]
    if prompt is None:
        first = materials.pop(0)
        prompt = parse_prompt(first.text, first.source) if isinstance(first, Material) else [first]
    options["materials"] = [*materials, *options["materials"]]
    try:
        emission = emit(form, prompt, **options)
    except EmissionError as error:
        if args.json:
            print_json(describe_error(error, vars(args), in_full=True))
        raise
    print_json(describe_emission(form, emission, in_full=True) if args.json else dump_value(form, emission))
    return 0


def load_form(type_name: str | None, schema: Json) -> Any:
    """Return the type that ``MODULE:NAME`` names, or the JSON Schema, which is passed as JSON or as a file name.

    Raises:
        InputError: There is no such type or file.
    """
    if type_name is not None:
        return import_object(type_name, label=f"--type {type_name}", hint=_TYPE_HINT)
    return read_schema(schema) if isinstance(schema, str) else schema


def dump_value(form: Any, emission: Emission[Any]) -> Json:
    """Return the value of an emission as JSON."""
    return resolve_schema(form).dump(emission.value)


def describe_emission(form: Any, emission: Emission[Any], *, in_full: bool) -> dict[str, Json]:
    """Return the value of an emission as JSON, and in full also its envelope, findings and trace."""
    value = {"value": dump_value(form, emission)}
    if not in_full:
        return value
    findings = [asdict(finding) for finding in emission.findings]
    return {**value, "envelope": emission.envelope.to_json(), "findings": findings, **_describe_trace(emission)}


def describe_error(error: Exception, options: Container[str], *, in_full: bool) -> dict[str, Json]:
    """Return a failure as JSON: the error spelled with the command's options, and in full also the trace."""
    members = {
        "type": type(error).__name__,
        "code": getattr(error, "code", None),
        "message": spell_error(error, options),
    }
    if not in_full or not isinstance(error, EmissionError):
        return {"error": members}
    return {"error": {**members, "request_id": error.request_id}, **_describe_trace(error.trace)}


def _describe_trace(trace: Any) -> dict[str, Json]:
    cost = trace.cost
    return {
        "usage": asdict(trace.usage),
        "cost": None if cost is None else float(cost),
        "attempts": dump_attempts(trace.attempts),
        "events": [event.to_json() for event in trace.events],
    }
