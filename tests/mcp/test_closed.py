"""A tool whose output schema is closed: it is widened, or the tool is refused when it is decorated (section 7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError
from emitter.mcp import binding_moment
from emitter.mcp.schemas import widen_schema
from tests.mcp import tools
from tests.mcp.emitting import SPIKE, conventional, emitting, good
from tests.mcp.talking import ERAS, called, listed

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_closed_schema_is_widened() -> None:
    """A client holds the result to it, so it has to be."""
    before = listed(conventional(tools.closed), "legacy")["closed"]["outputSchema"]
    after = listed(emitting(tools.closed, good), "legacy")["closed"]["outputSchema"]

    assert set(after["properties"]) == {*before["properties"], "binding_moment"}
    assert after["additionalProperties"] is False
    assert after["properties"]["binding_moment"] == widen_schema(before)["properties"]["binding_moment"]


@pytest.mark.parametrize("function", [tools.closed, tools.numbers], ids=["closed", "numbers"])
def test_a_closed_schema_that_may_not_be_widened_is_refused(function: Callable[..., Any]) -> None:
    """When the tool is decorated, not when it is called."""
    with pytest.raises(InputError, match="closed"):
        binding_moment(good, widen=False)(function)


@pytest.mark.parametrize("era", ERAS)
def test_an_open_schema_may_stay_as_it_is(era: str) -> None:
    """The member is taken by it all the same."""
    server = emitting(tools.model, good, widen=False)

    assert "binding_moment" in called(server, era, "model", SPIKE)["structuredContent"]
    assert (
        listed(server, era)["model"]["outputSchema"] == listed(conventional(tools.model), era)["model"]["outputSchema"]
    )
