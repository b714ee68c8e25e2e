"""The official JSON Schema Test Suite (MIT), read from the folder beside the checkout, and who agrees with it.

Formats are asserted, so its files that say that they are not (``format.json``) are left out, and those in
``optional/format`` are put beside the required ones; what else is optional is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.validators import Validator

DRAFTS = ("draft7", "draft2019-09", "draft2020-12")
_SERVER = "http://localhost:1234/"
"""Where the suite's schemas expect its folder ``remotes``."""


@dataclass(frozen=True, slots=True)
class Group:
    """A schema of the suite with its instances, each with the verdict it must get."""

    schema: Any
    tests: list[tuple[Any, bool]]
    formats: bool


@dataclass(slots=True)
class Score:
    """How many verdicts were right; a schema that cannot be built has none right."""

    right: int = 0
    asked: int = 0

    def __str__(self) -> str:
        return f"{self.right:,}/{self.asked:,}"


def read(folder: Path, draft: str) -> Iterator[Group]:
    """Yield the groups of one draft."""
    formats = sorted((folder / "tests" / draft / "optional/format").glob("*.json"))
    required = [each for each in sorted((folder / "tests" / draft).glob("*.json")) if each.name != "format.json"]
    for file in (*required, *formats):
        for group in json.loads(file.read_text("utf-8")):
            tests = [(each["data"], each["valid"]) for each in group["tests"]]
            yield Group(group["schema"], tests, file in formats)


def remotes(folder: Path, draft: str) -> dict[str, Any]:
    """Return the schemas that others of the draft refer to, by address."""
    root = folder / "remotes"
    files = [each for each in sorted(root.rglob("*.json")) if _belongs(each.relative_to(root).parts[0], draft)]
    return {f"{_SERVER}{each.relative_to(root).as_posix()}": json.loads(each.read_text("utf-8")) for each in files}


def _belongs(folder: str, draft: str) -> bool:
    return folder == draft or not folder.startswith(("draft", "v1"))


def scores(folder: Path, validator: Validator, draft: str) -> dict[bool, Score]:
    """Return how a validator does with the required tests (False) and with those of formats (True)."""
    found = {False: Score(), True: Score()}
    known = remotes(folder, draft)
    for group in read(folder, draft):
        score = found[group.formats]
        score.asked += len(group.tests)
        score.right += _right(validator, group, draft, known)
    return found


def _right(validator: Validator, group: Group, draft: str, known: dict[str, Any]) -> int:
    try:
        check = validator.build(group.schema, draft, known)
    except Exception:  # noqa: BLE001  whatever a validator says, it has no verdict
        return 0
    return sum(_verdict(check, data) is valid for data, valid in group.tests)


def _verdict(check: Any, data: Any) -> bool | None:
    try:
        return bool(check(data))
    except Exception:  # noqa: BLE001  as above
        return None
