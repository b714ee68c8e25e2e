"""Emissions over a Ray dataset. Needs the extra ``ray``.

``emit_dataset`` adds columns to a dataset, and ``EmissionMapper`` is its ``map_batches`` callable. Each actor holds one
client. Ray Data gives an actor a batch when it is ready for one, and runs lost batches again.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from emitter.adapters.clients import create_client
from emitter.api import AsyncEmitter
from emitter.bulk import Job, JobResult
from emitter.bulk.api import DEFAULT_IN_FLIGHT
from emitter.bulk.connections import PooledAsyncClient
from emitter.client.rate_limits import RateLimit
from emitter.client.routing import resolve_model
from emitter.client.shared_limits import SharedLimiter
from emitter.errors import EmissionError, InputError, MissingExtra, UnknownModelWarning
from emitter.messages import Usage, as_list, as_mapping
from emitter.schema.python_types import build_adapter
from emitter.stores.jobs import LimitState, SlotRequest, Slots, take_slots
from emitter.telemetry.sinks import generate_id

try:
    pa: Any = import_module("pyarrow")
    ray: Any = import_module("ray")
    ray_data: Any = import_module("ray.data")
except ImportError as error:
    raise MissingExtra("Ray Data is not installed.", extra="ray") from error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from emitter.bulk.claims import JobStore
    from emitter.bulk.runs import AsyncRun
    from emitter.client.result import Emission, Trace
    from emitter.client.routing import ModelTarget

Dataset: TypeAlias = Any
Table: TypeAlias = Any
DataType: TypeAlias = Any
PromptColumn: TypeAlias = "str | Callable[[Mapping[str, Any]], Any]"
"""A column of prompts, or a function that takes a row and returns a prompt, messages or a ``Job``."""


@dataclass(frozen=True)
class EmissionSpec:
    """The settings of the actors. They are checked on the driver, where the spec is made.

    Attributes:
        form: The type of the objects. Its module must be importable on the workers, or it is pickled by value.
        model: The provider and model name.
        prompt: The column of prompts, or a function that takes a row.
        key: A column of unique keys. Needed with a ``store``.
        store: A function that opens the store, such as ``partial(SqlStore, url)``.
        errors: ``"column"`` keeps failed rows, with the column ``error``; ``"raise"`` raises the first failure.
        rate_limit: The limit of all actors together.
        options: Options of ``aemit_many``, such as ``in_flight``, ``orphans``, ``policy`` and ``instructions``.
        dataset_id: A part of the node ids of this dataset's emissions. It distinguishes their outcomes in the store
            from the outcomes of an earlier dataset.
    """

    form: Any
    model: str
    prompt: PromptColumn = "prompt"
    key: str | None = None
    store: Callable[[], JobStore] | None = None
    errors: Literal["column", "raise"] = "column"
    rate_limit: RateLimit | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    dataset_id: str = field(default_factory=generate_id)

    def __post_init__(self) -> None:
        if self.errors not in ("column", "raise"):
            raise InputError(f'errors= is {self.errors!r}; it must be "column" or "raise".')
        if self.store is not None and self.key is None:
            raise InputError("store= needs key=, the name of a column of unique keys.")
        if self.store is not None and not callable(self.store):
            raise InputError("store= must be a function that opens the store.", hint="Pass partial(SqlStore, url).")
        if not isinstance(self.prompt, str) and not callable(self.prompt):
            raise InputError("prompt= must be the name of a column, or a function that takes a row.")
        for name, hint in _UNSUPPORTED_OPTIONS.items():
            if self.options.get(name):
                raise InputError(f"{name}= cannot be used with a dataset.", hint=hint)
        self.start_run(
            AsyncEmitter(self.model, profile=self.options.get("profile")),
            (),
            rate_limit=self.rate_limit,
            **self.options,
        )
        value_column(self.form)

    @property
    def node_id(self) -> str:
        """The beginning of the node ids of all emissions of this dataset."""
        return f"{self.options.get('node_id') or 'emit'}.{self.dataset_id}"

    def start_run(self, emitter: AsyncEmitter, jobs: Collection[Any], **options: Any) -> AsyncRun[Emission[Any]]:
        """Return a run of some rows. It sends nothing before it is iterated. Raises for wrong options."""
        settings: dict[str, Any] = {**options, "node_id": self.node_id, "progress": False}
        return emitter.emit_many(self.form, jobs, **settings)

    def check_columns(self, names: Collection[str]) -> None:
        """Raise ``InputError`` if the dataset lacks a column, or has one that would be added."""
        for name in ("value", *COLUMNS):
            if name in names:
                raise InputError(f"The dataset has a column {name!r} already.", hint="Rename it: emit_dataset adds it.")
        for argument, column in (("prompt", self.prompt), ("key", self.key)):
            if isinstance(column, str) and column not in names:
                raise InputError(
                    f"The dataset has no column {column!r}, only {', '.join(names)}.",
                    hint=f"Name one with {argument}=.",
                )


_UNSUPPORTED_OPTIONS = {
    "journal": "Pass store= and key=, from which a run continues.",
    "progress": "Ray shows the progress on the driver.",
}
"""Options of ``aemit_many`` that a dataset does not accept, and what to do instead."""


def emit_dataset(  # noqa: PLR0913  most have a default
    form: Any,
    dataset: Dataset,
    *,
    model: str,
    prompt: PromptColumn = "prompt",
    key: str | None = None,
    store: Callable[[], JobStore] | None = None,
    errors: Literal["column", "raise"] = "column",
    rate_limit: RateLimit | None = None,
    actors: int | tuple[int, int] = 2,
    batch_size: int = 64,
    ray_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Dataset:
    """Ask a model for a typed object for each row, and return the dataset with the answers.

    The columns ``value`` (typed by the form), ``error``, ``request_id``, ``input_tokens``, ``output_tokens``, ``cost``,
    ``replayed``, ``stale`` and ``resent`` are added.

    Nothing runs before the dataset is consumed, and without a ``store`` all rows are sent and paid for each time that
    it is. So call ``materialize()`` or write the dataset once, and count and sum the result.

    Args:
        form: The type of the objects, as for ``emit``.
        dataset: The rows.
        model: The provider and model name.
        prompt: The column of prompts, or a function that takes a row and returns a prompt, messages or a ``Job``.
        key: A column of unique keys. Needed with a ``store``, where the key of a row finds its answer again. A key that
            was answered for another prompt is an ``InputError`` in the same dataset, and ``stale`` in a later one.
        store: A function that opens the store from which a run continues, such as ``partial(SqlStore, url)``.
        errors: ``"column"`` keeps failed rows, with the column ``error``; ``"raise"`` raises the first failure.
        rate_limit: The limit of all actors together, kept by a named actor, or by the store if there is one.
        actors: The number of actors, or the smallest and the largest number.
        batch_size: Rows in a batch.
        ray_options: Further options of ``Dataset.map_batches``, such as ``num_cpus``.
        **options: Options of ``aemit_many``, such as ``in_flight``, ``orphans``, ``policy`` and ``instructions``.

    Raises:
        InputError: An argument is invalid, or the dataset is known to lack a column.
        Uncompilable: The vendor cannot enforce the schema.
    """
    spec = EmissionSpec(form, model, prompt, key, store, errors, rate_limit, options)
    if not isinstance(dataset, ray_data.Dataset):
        kind = type(dataset).__name__
        raise InputError(f"dataset is of type {kind}.", hint="Pass a Ray dataset, such as ray.data.from_items(rows).")
    schema = dataset.schema(fetch_if_missing=False)  # fetching it could run the dataset
    if schema is not None:
        spec.check_columns(schema.names)
    smallest, largest = (actors, actors) if isinstance(actors, int) else actors
    strategy = ray_data.ActorPoolStrategy(min_size=smallest, max_size=largest)
    placement: dict[str, Any] = {"num_cpus": 1, **(ray_options or {})}
    return dataset.map_batches(
        EmissionMapper,
        fn_constructor_args=(spec,),
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=strategy,
        **placement,
    )


class EmissionMapper:
    """The callable of ``Dataset.map_batches``: one actor with one client, which works on several batches at once."""

    def __init__(self, spec: EmissionSpec) -> None:
        warnings.simplefilter("ignore", UnknownModelWarning)  # the driver has warned
        target = resolve_model(spec.model, None, spec.options.get("wire"), spec.options.get("profile"))
        self._spec = spec
        self._column = value_column(spec.form)
        profile = spec.options.get("profile")
        self._emitter = AsyncEmitter(spec.model, client=_create_client(target, spec.options), profile=profile)
        self._options = {name: value for name, value in spec.options.items() if name != "base_url"}
        limit = spec.rate_limit
        if spec.store is not None:
            self._options["store"] = spec.store()
        elif limit is not None and limit.limiter is None:
            name = f"{target.profile.name}/{target.model}"
            limiter = SharedLimiter(limit, lease_from_actor, name, target.profile.rate_limits)
            limit = RateLimit(limiter=limiter)
        self._options["rate_limit"] = limit

    async def __call__(self, batch: Table) -> AsyncIterator[Table]:
        """Yield a batch with the columns of its emissions."""
        self._spec.check_columns(batch.column_names)
        jobs = [_try_job(self._spec, row) for row in cast("list[dict[str, Any]]", batch.to_pylist())]
        valid_jobs = [job for job in jobs if not isinstance(job, Exception)]
        run = self._spec.start_run(self._emitter, valid_jobs, **self._options)
        answers = iter(await run.results())
        results: list[JobResult[Any]] = [
            JobResult(0, None, "", job) if isinstance(job, Exception) else next(answers) for job in jobs
        ]
        rows = [self._to_row(self._refuse_duplicate(result), run.stats.resent_keys) for result in results]
        for name, kind in {"value": self._column.type, **COLUMNS}.items():
            batch = batch.append_column(name, pa.array([row[name] for row in rows], kind))
        yield batch

    def _refuse_duplicate(self, result: JobResult[Any]) -> JobResult[Any]:
        """Return a result, or an error if another row of this dataset has the same key and its outcome was found."""
        if not result.stale:
            return result
        trace: Trace | None = getattr(result.outcome, "trace", None)
        events = () if trace is None else trace.events
        if not any(event.node_id.startswith(f"{self._spec.node_id}.") for event in events):
            return result
        error = InputError(
            f"The key {result.key!r} was answered for another prompt of this dataset.",
            hint="Give each row a key of its own.",
        )
        return JobResult(result.index, result.key, result.input, error)

    def _to_row(self, result: JobResult[Any], resent_keys: Collection[str]) -> dict[str, Any]:
        """Return the columns of a result. With ``errors="raise"``, raises its error."""
        error, value, usage, cost = result.error, None, Usage(), None
        if error is None:
            usage, cost = result.result.usage, result.result.cost
            try:
                value = pa.scalar(self._column.encode(result.value), self._column.type)
            except (ValueError, OverflowError) as wrong:  # such as an int of more than 64 bits
                error = wrong
        elif isinstance(error, EmissionError):
            usage, cost = error.trace.usage, error.trace.cost
        if error is not None and self._spec.errors == "raise":
            raise error
        return {
            "value": value,
            "error": None if error is None else f"{type(error).__name__}: {error}",
            "request_id": getattr(error, "request_id", None),
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cost": None if cost is None else float(cost),
            "replayed": result.replayed,
            "stale": result.stale,
            "resent": result.key in resent_keys,
        }


COLUMNS: Mapping[str, DataType] = {
    "error": pa.string(),
    "request_id": pa.string(),
    "input_tokens": pa.int64(),
    "output_tokens": pa.int64(),
    "cost": pa.float64(),
    "replayed": pa.bool_(),
    "stale": pa.bool_(),
    "resent": pa.bool_(),
}
"""The columns that are added beside ``value``."""


def _create_client(target: ModelTarget, options: Mapping[str, Any]) -> Any:
    """Return the client of an actor, which all its batches use and which bounds their calls together."""
    calls = options.get("in_flight", DEFAULT_IN_FLIGHT)
    http = None if target.profile.client.is_blocking else PooledAsyncClient(calls)
    return create_client(target.profile, asynchronous=True, base_url=options.get("base_url"), http_client=http)


def _try_job(spec: EmissionSpec, row: Mapping[str, Any]) -> Any:
    """Return the job of a row, or the exception for a row from which none can be made."""
    try:
        return _make_job(spec, row)
    except Exception as error:  # noqa: BLE001  the caller's function may raise anything
        return error


def _make_job(spec: EmissionSpec, row: Mapping[str, Any]) -> Any:
    prompt = row[spec.prompt] if isinstance(spec.prompt, str) else spec.prompt(row)
    if spec.key is None:
        return prompt
    if row[spec.key] is None:
        raise InputError(f"The row has no key in the column {spec.key!r}.", hint="Give each row a key of its own.")
    job = prompt if isinstance(prompt, Job) else Job(prompt)
    return replace(job, key=str(row[spec.key]))


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    """An Arrow type, and the conversion of JSON values to it."""

    type: DataType
    encode: Callable[[Any], Any]


def value_column(form: Any) -> ArrowColumn:
    """Return the column of a form's values."""
    if isinstance(form, Mapping):
        return arrow_column(cast("Mapping[str, Any]", form))
    adapter, _ = build_adapter(form)
    column = arrow_column(adapter.json_schema(mode="serialization"))
    dump = partial(adapter.dump_python, mode="json", by_alias=True)
    return ArrowColumn(column.type, lambda value: column.encode(dump(value)))


_SIMPLE: Mapping[str, DataType] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
}
_REF = "#/$defs/"


def _to_json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


_JSON_TEXT = ArrowColumn(pa.string(), _to_json)


def arrow_column(
    schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None, parents: frozenset[str] = frozenset()
) -> ArrowColumn:
    """Return the column of a JSON Schema's values. A recursive value, or one of several types, is a string of JSON."""
    definitions = as_mapping(schema.get("$defs")) if definitions is None else definitions
    make = partial(arrow_column, definitions=definitions, parents=parents)
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(options) == 1:
        return make(options[0])
    reference = str(schema.get("$ref", ""))
    if reference.startswith(_REF) and reference not in parents:
        return make(definitions[reference.removeprefix(_REF)], parents=parents | {reference})
    kinds = [each for each in as_list(schema.get("type")) or [schema.get("type")] if each != "null"]
    kind = str(kinds[0]) if len(kinds) == 1 else ""
    properties, items = as_mapping(schema.get("properties")), as_mapping(schema.get("items"))
    if kind == "array" and items and "prefixItems" not in schema:
        return _list_column(make(items))
    if kind == "object" and properties and not schema.get("additionalProperties"):
        return _struct_column({name: make(each) for name, each in properties.items()})
    return ArrowColumn(_SIMPLE[kind], lambda value: value) if kind in _SIMPLE else _JSON_TEXT


def _list_column(item: ArrowColumn) -> ArrowColumn:
    def encode(value: Any) -> Any:
        return None if value is None else [item.encode(each) for each in value]

    return ArrowColumn(pa.list_(item.type), encode)


def _struct_column(members: Mapping[str, ArrowColumn]) -> ArrowColumn:
    def encode(value: Any) -> Any:
        if value is None:
            return None
        return {name: member.encode(value.get(name)) for name, member in members.items()}

    return ArrowColumn(pa.struct([(name, member.type) for name, member in members.items()]), encode)


LIMIT_ACTOR = "emitter-rate-limits"


class LimitActor:
    """The shared state of the rate limits of a Ray cluster, in one actor."""

    def __init__(self) -> None:
        self._states: dict[str, LimitState] = {}

    def lease(self, name: str, request: SlotRequest) -> Slots:
        """Lease slots of a limit."""
        self._states[name], slots = take_slots(self._states.get(name, LimitState()), request, time.monotonic())
        return slots


def lease_from_actor(name: str, request: SlotRequest) -> Slots:
    """Lease slots from the named actor of the cluster. It is created if needed, and anew if its node dies."""
    options = {"name": LIMIT_ACTOR, "namespace": "emitter", "get_if_exists": True, "lifetime": "detached"}
    remote: Any = ray.remote(LimitActor)
    actor = remote.options(**options, num_cpus=0, max_restarts=-1, max_task_retries=-1).remote()
    return cast("Slots", ray.get(actor.lease.remote(name, request)))
