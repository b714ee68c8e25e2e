"""Numbers and dates from outside are read by one module, which never raises, and by nothing else."""

from __future__ import annotations

import ast
import math
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import emitter
from emitter.outside_values import (
    MAX_INTEGER,
    date_from_timestamp,
    parse_date,
    parse_float,
    parse_http_date,
    parse_int,
)
from emitter.telemetry.sinks import utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
_NINES = "9" * 5000
_ROOT = Path(emitter.__file__).parent

INTEGERS: dict[str, int | None] = {
    "0": 0, "007": 7, str(MAX_INTEGER): MAX_INTEGER, str(MAX_INTEGER + 1): None, _NINES: None, "": None, " 1": None,
    "1\n": None, "+1": None, "-1": None, "1.0": None, "1_0": None, "0x1": None, "\u0663": None, "\uff11": None,
    "²": None,
}  # fmt: skip
FLOATS: dict[str, float | None] = {
    "0": 0.0, "1.5": 1.5, ".5": 0.5, "5.": 5.0, "-2e3": -2000.0, "+1": 1.0, "1e308": 1e308, "1e309": None,
    "1e-999": 0.0,
    _NINES: None, f"0.{_NINES}": None, f"1e{_NINES}": None, "inf": None, "nan": None, "-Infinity": None, "1_0": None,
    "": None, ".": None, " 1": None, "\u0663.\u0665": None, "1,5": None,
}  # fmt: skip
DATES: dict[str, datetime | None] = {
    "2026-01-01T00:00:00Z": _NEW_YEAR, "2026-01-01": _NEW_YEAR, "2026-01-01T01:00:00+01:00": _NEW_YEAR,
    "2026-01-01T00:00:00.000000000Z": _NEW_YEAR, "0001-01-01T00:00:00+14:00": None, "9999-12-31T23:59:59-14:00": None,
    "2026-02-30T00:00:00Z": None, "2026-01-01T25:00:00Z": None, _NINES: None, "": None, "now": None,
    "\uff12\uff10\uff12\uff16-01-01T00:00:00Z": None, "2026-01-01T00:00:00." + "0" * 5000 + "Z": None,
}  # fmt: skip
HTTP_DATES: dict[str, datetime | None] = {
    "Thu, 01 Jan 2026 00:00:00 GMT": _NEW_YEAR, "Thursday, 01-Jan-26 00:00:00 GMT": _NEW_YEAR,
    "Thu Jan  1 00:00:00 2026": _NEW_YEAR, "Thu, 01 Jan 2026 00:00:00 -0000": _NEW_YEAR,
    "Fri, 31 Dec 9999 23:59:59 -1400": None, "Thu, 99 Jan 2026 00:00:00 GMT": None, "": None, "120": None,
    f"Thu, {_NINES} Jan 2026 00:00:00 GMT": None, "Thu, 01 Jan 2026 00:00:00 +99999999999999999999": None,
}  # fmt: skip
TIMESTAMPS: dict[object, datetime | None] = {
    1767225600: _NEW_YEAR, 1767225600.5: _NEW_YEAR.replace(microsecond=500_000), 253402300799: None,
    -62135596800: None, 10**400: None,
    math.inf: None, -math.inf: None, math.nan: None, True: None, "1767225600": None, None: None,
}  # fmt: skip
TABLE = [
    pytest.param(reader, value, expected, id=f"{reader.__name__}-{str(value)[:32]}-{type(value).__name__}")
    for reader, rows in (
        (parse_int, INTEGERS), (parse_float, FLOATS), (parse_date, DATES), (parse_http_date, HTTP_DATES),
        (date_from_timestamp, TIMESTAMPS),
    )
    for value, expected in rows.items()
]  # fmt: skip


@pytest.mark.parametrize(("read", "value", "expected"), TABLE)
def test_a_reader_returns_a_bounded_value_or_none(
    read: Callable[[object], object], value: object, expected: object
) -> None:
    """Each row is read as its value, of its type."""
    result = read(value)
    assert result == expected
    assert type(result) is type(expected)


def test_an_integer_has_the_bounds_of_its_caller() -> None:
    """A caller chooses the bounds, and a sign needs a negative minimum."""
    assert parse_int("65535", maximum=65535) == 65535
    assert parse_int("65536", maximum=65535) is None
    assert parse_int("-3", minimum=-3) == -3
    assert parse_int("+3", minimum=-3) == 3
    assert parse_int("-4", minimum=-3) is None
    assert parse_int("399", minimum=400, maximum=599) is None


_ANY = st.one_of(
    st.text(), st.from_regex(r"[-+0-9.eETZ:, ]{0,80}", fullmatch=True), st.integers(), st.floats(), st.none(),
    st.binary(),    st.lists(st.integers(), max_size=2), st.booleans(),
)  # fmt: skip


@given(value=_ANY)
def test_no_reader_raises(value: object) -> None:
    """Any value of any type is read, or is None; a timestamp can be shown in any time zone."""
    integer, number = parse_int(value), parse_float(value)
    assert integer is None or 0 <= integer <= MAX_INTEGER
    assert number is None or math.isfinite(number)
    assert all(date is None or date.tzinfo is UTC for date in (parse_date(value), parse_http_date(value)))
    date = date_from_timestamp(value)
    assert date is None or all(date.astimezone(timezone(timedelta(hours=each))) for each in (-14, 14))


def test_own_timestamps_are_dates() -> None:
    """What the library writes, it reads."""
    assert parse_date(utc_timestamp()) is not None


# Calls of int(), float(), Decimal(), fromisoformat() and the like whose argument cannot come from outside, by reason.
INSIDE: Final = {
    "it is the bounded reader": ["outside_values.py: *"],
    "it is a number of JSON, and its digits are counted or ValueError is part of the function's contract": [
        "decisions/canonical_json.py: int(digits)",
        "models/authorization.py: int(digits)",
        "recover/lenient_parser.py: int(digits)",
        "strict_json.py: float(digits)",
        "strict_json.py: Decimal(digits)",
    ],
    "the same function wrote it, and whoever calls it handles any exception": [
        "authority/guard/value_classes.py: cast('Any', cls).fromisoformat(part)",
        "authority/guard/value_classes.py: date.fromisoformat(part)",
    ],
    "a regular expression limits it to a few digits": [
        "authority/records.py: Decimal(value)",
        "authority/records.py: datetime.fromisoformat(timestamp)",
        "redaction/matcher.py: int(point, 16)",
        "render/delivery.py: int(match[1], 16)",
        "render/replies.py: int(number[1])",
        "render/replies.py: int(option[1])",
        "schema/message_redaction.py: int(token, 16)",
        "schema/message_redaction.py: float(int(token, 16))",
        "forms/binding_moment.py: int(field.removeprefix(_STREAMED_OPTIONS))",
    ],
    "it is a number whose size was checked before": [
        "adapters/response_decoding.py: int(min(value, _MAX_COUNT))",
        "authority/configuration.py: float(at)",
        "authority/configuration.py: float(value)",
        "authority/records.py: int(amount)",
        "authority/records.py: Decimal(amount)",
        "budget.py: int(value)",
        "decisions/canonical_json.py: int(value)",
        "decisions/ledger_arguments.py: float(value)",
        "decisions/ledger_details.py: float(seconds)",
        "forms/binding_moment.py: int(value)",
        "models/binding_moment.py: int(question['recommended_idx'])",
        "models/envelope.py: int(value)",
        "schema/json_data.py: int(value)",
        "schema/keywords.py: int(rule.value)",
        "schema/message_redaction.py: float(each)",
        "schema/parser.py: int(rule.value)",
        "schema/wire_types.py: int(value)",
        "stores/locks.py: float(timeout)",
    ],
    "the program itself computed it": [
        "authority/records.py: Decimal(one)",
        "authority/records.py: Decimal(other)",
        "bulk/limiter.py: float(maximum)",
        "bulk/limiter.py: int(self._limit)",
        "cli/emit.py: float(cost)",
        "core/judging.py: float(policy.max_cost)",
        "core/judging.py: float(state.spent_cost())",
        "core/state.py: float(policy.max_cost)",
        "decisions/decision_rates.py: int(getattr(self, measure.base_field))",
        "decisions/decision_rates.py: int(getattr(self, measure.value))",
        "events.py: datetime.fromtimestamp(seconds, UTC)",
        "integrations/ray.py: float(cost)",
        "media/fetching.py: int(address)",
        "integrations/webhooks.py: int(now.timestamp())",
        "prices.py: Decimal(calculation.total_price)",
        "prices.py: Decimal(count)",
        "stores/jobs.py: int(anew)",
        "stores/jobs.py: int(resend)",
        "telemetry/sinks.py: datetime.fromtimestamp(seconds, UTC)",
    ],
    "the file's digest is checked before": ["tokens.py: int(rank)"],
    "digits of any script are found, and a text that is no number is NaN": [
        "schema/message_redaction.py: float(re.sub(\"[,_' \\\\u00a0\\\\u202f]\", '', text))"
    ],
    "the simulated vendor reads what a test sends": ["testing/*"],
}
_READERS = {
    "int", "float", "complex", "Decimal", "fromisoformat", "fromtimestamp", "utcfromtimestamp", "strptime",
    "parsedate", "parsedate_tz", "parsedate_to_datetime",
}  # fmt: skip
_TRUTH_OR_OWN_TEXT = {"any", "all", "len", "str", "repr"}


def test_nothing_else_reads_a_number_or_a_date_from_outside() -> None:
    """Every call of a reader of Python is listed with the reason why its argument is from inside."""
    listed = {line for lines in INSIDE.values() for line in lines}
    found = set(_find_readers())
    unlisted = sorted(line for line in found if not _patterns_of(line) & listed)
    stale = sorted(line for line in listed if not any(line in _patterns_of(each) for each in found))
    assert unlisted == [], "use emitter.outside_values, or add the call to INSIDE under its reason"
    assert stale == []


@pytest.mark.parametrize(
    "source",
    ["int(header)", "x = float(row['n'])", "list(map(int, parts))", "add(type=float)", "datetime.fromtimestamp(n, UTC)",
     "dt.datetime.fromisoformat(text)", "parsedate(text)", "Decimal(text)", "sorted(parts, key=int)"],
)  # fmt: skip
def test_every_way_to_read_is_seen(source: str) -> None:
    """The scan finds a call, a method, and a reader that is passed on."""
    assert list(_find_in(ast.parse(source)))


def _patterns_of(line: str) -> set[str]:
    path, _, _ = line.partition(": ")
    return {line, f"{path}: *", f"{path.partition('/')[0]}/*"}


def _find_readers() -> Iterator[str]:
    for path in sorted(_ROOT.rglob("*.py")):
        for call in _find_in(ast.parse(path.read_text("utf-8"))):
            yield f"{path.relative_to(_ROOT).as_posix()}: {call}"


def _find_in(tree: ast.AST) -> Iterator[str]:
    """Yield the calls that convert anything but a truth value, the result of arithmetic, or a constant."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, arguments = _name_of(node.func), [*node.args, *(keyword.value for keyword in node.keywords)]
        is_reader = name in _READERS and node.args and not _is_inside(node.args[0])
        is_passed = (
            name not in {"isinstance", "issubclass", "cast"} and {_name_of(each) for each in arguments} & _READERS
        )
        if is_reader or is_passed:
            yield ast.unparse(node)


def _name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_inside(node: Any) -> bool:
    match node:
        case ast.Constant() | ast.Compare() | ast.JoinedStr() | ast.BinOp():
            return True
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_inside(operand)
        case ast.BoolOp(values=values):
            return _is_inside(values[-1]) or _name_of(values[-1]).startswith("omits")
        case ast.Call(func=function):
            return _name_of(function) in _TRUTH_OR_OWN_TEXT
        case _:
            return _name_of(node).startswith("is_")
