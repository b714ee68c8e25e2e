"""A test's cassette: where it is, and what it answers with no network and no key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.testing import Text, simulator
from tests.testing.plugged import ALL, ASKING, ONCE, PLACE, again, asked_vendor, asking, no_vendor, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Simulator

pytest_plugins = ["pytester"]


@pytest.fixture
def asked() -> Iterator[Simulator]:
    """Run the vendor that is recorded."""
    with asked_vendor() as vendor:
        yield vendor


@pytest.fixture
def _nobody() -> Iterator[None]:
    """Take every vendor out of the environment."""
    with no_vendor():
        yield


@pytest.mark.usefixtures("_nobody")
def test_without_a_cassette_the_way_to_record_is_reported(pytester: pytest.Pytester) -> None:
    """The error names the file, and the command that records it for this test."""
    reported = f"There is no cassette {pytester.path / PLACE}."
    output = run(pytester, ASKING, errors=1).stdout
    output.fnmatch_lines([f"*{reported}*pytest --emitter-record=once test_it.py::test_it"])
    assert output.str().partition("short test summary")[0].count(reported) == 1  # CI shows the summary in full


TWICE = """
MARK
def test_it(emitter_client):
    client = emitter_client("openai/gpt-6-sol")
    assert ask(client, "One?") == ask(client, "Two?") == "Yes."
"""


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("allowed", [True, False])
def test_what_nothing_asked_for(pytester: pytest.Pytester, *, allowed: bool) -> None:
    """It fails the test, with what is left and what to do, unless the mark allows it."""
    run(pytester, TWICE.replace("MARK", ""), ONCE, passed=1)
    marked = f"@pytest.mark.emitter_cassette(allow_unused={allowed})\n{asking('Two?')}"
    result = run(pytester, marked, **{"passed" if allowed else "failed": 1})

    if not allowed:
        result.stdout.fnmatch_lines(
            [
                f"1 of 2 interactions in {pytester.path / PLACE} were not used:",
                "  POST /v1/responses",
                "Record it again (pytest --emitter-record=all test_it.py::test_it), or *allow_unused=True*",
            ]
        )


@pytest.mark.usefixtures("asked")
def test_a_failure_is_not_reported_twice(pytester: pytest.Pytester) -> None:
    """A test that failed before it asked for everything fails for its own reason."""
    run(pytester, ASKING, ONCE, passed=1)
    result = run(pytester, "def test_it(emitter_client):\n    assert 1 == 2", failed=1)

    result.stdout.no_fnmatch_line("*were not used*")


@pytest.mark.usefixtures("asked")
def test_another_request_is_reported(pytester: pytest.Pytester) -> None:
    """What the cassette does not hold is refused with the difference."""
    run(pytester, ASKING, ONCE, passed=1)
    result = run(pytester, asking("Else?"), failed=1)

    result.stdout.fnmatch_lines(["*UnexpectedRequest*", '*+ *"input": "Else?"*'])


PLACES = """
class TestIt:
    @pytest.mark.parametrize("case", ["a", "b/../c", "b-..-c", "x" * 300])
    def test_it(self, emitter_http, case): pass

@pytest.mark.emitter_cassette("shop/refused")
def test_named(emitter_http): pass
"""


@pytest.mark.parametrize(
    ("ini", "own", "named"),
    [
        ("", "tests/cassettes/test_it", "tests/cassettes"),
        ("[pytest]\nemitter_cassettes = tapes\n", "tapes/tests/test_it", "tapes"),
    ],
    ids=["beside", "one-folder"],
)
def test_where_cassettes_are(pytester: pytest.Pytester, ini: str, own: str, named: str) -> None:
    """Every test has a file of its own, whatever its parameters; a name is a path within the folder."""
    pytester.makeini(ini or "[pytest]\n")
    pytester.mkdir("tests").joinpath("test_it.py").write_text(f"import pytest\n{PLACES}")
    again(pytester, ONCE, passed=5)
    again(pytester, passed=5)
    written = {each.relative_to(pytester.path).as_posix() for each in pytester.path.rglob("*.json")}

    assert {
        f"{own}/TestIt.test_it[a].json",
        f"{own}/TestIt.test_it[b-..-c].json",
        f"{named}/shop/refused.json",
    } <= written
    assert len(written) == 5
    assert {each.rpartition("/")[0] for each in written} == {own, f"{named}/shop"}


@pytest.mark.usefixtures("_nobody")
@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "", ".", "..", "a//b", "a\\\\b", "C:x", "a\\0b", " ", 7])
def test_a_name_that_leads_elsewhere_is_refused(pytester: pytest.Pytester, name: str | int) -> None:
    """Nothing is read or written outside of the folder, recording or not."""
    pytester.makeini("[pytest]\nemitter_cassettes = deep/tapes\n")
    written = f'"{name}"' if isinstance(name, str) else name
    source = f"@pytest.mark.emitter_cassette({written})\n{ASKING}"
    for arguments in ((), (ALL,)):
        run(pytester, source, *arguments, errors=1).stdout.fnmatch_lines(
            ["*is not a valid name for a cassette. Use a path*"]
        )

    assert not list(pytester.path.rglob("*.json"))


@pytest.mark.parametrize(
    ("mark", "reported"),
    [
        ("'x', True", "*emitter_cassette is invalid: *takes from 0 to 1 positional arguments but 2 were given*"),
        ("path='x'", "*emitter_cassette is invalid: *unexpected keyword argument 'path'*"),
    ],
)
def test_a_wrong_mark_is_reported(pytester: pytest.Pytester, mark: str, reported: str) -> None:
    """What the mark takes is said."""
    result = run(pytester, f"@pytest.mark.emitter_cassette({mark})\n{ASKING}", errors=1)

    result.stdout.fnmatch_lines([reported])
    result.stdout.fnmatch_lines(["*Write emitter_cassette(name, allow_unused=False)*"])


@pytest.mark.usefixtures("_nobody")
@pytest.mark.parametrize(
    ("arguments", "model", "reported"),
    [
        ((ONCE,), "openai/gpt-6-sol", "*No key for OpenAI*"),
        ((), "nobody/none", "*is not a model that emitter can reach*"),
    ],
    ids=["no-key", "no-model"],
)
def test_a_client_that_cannot_be_made(
    pytester: pytest.Pytester, arguments: tuple[str, ...], model: str, reported: str
) -> None:
    """The library's own error says why, and nothing is written."""
    (pytester.mkdir("cassettes") / "x.json").write_text('{"provenance": "recorded"}')
    name = "y" if arguments else "x"
    result = run(
        pytester,
        f"@pytest.mark.emitter_cassette('{name}')\n{ASKING}".replace("openai/gpt-6-sol", model),
        *arguments,
        failed=1,
    )

    result.stdout.fnmatch_lines([reported])
    assert [each.name for each in pytester.path.rglob("*.json")] == ["x.json"]


@pytest.mark.usefixtures("_nobody")
def test_an_address_that_only_the_environment_knew(pytester: pytest.Pytester) -> None:
    """What was recorded at an address of the caller's own is replayed without it."""
    source = """
def test_it(emitter_client):
    client = emitter_client("openai-compatible/gpt-6-sol")
    turns = [{"role": "user", "content": "What?"}]
    said = client.chat.completions.create(model="gpt-6-sol", messages=turns)
    assert said.choices[0].message.content == "Yes."
"""
    with simulator(answers=Text("Yes.")) as vendor, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_COMPATIBLE_BASE_URL", f"{vendor.url}/v1")
        run(pytester, source, ONCE, passed=1)
    again(pytester, passed=1)


@pytest.mark.usefixtures("_nobody")
@pytest.mark.parametrize("content", ["", "{", "[]"])
def test_a_broken_cassette_is_reported(pytester: pytest.Pytester, content: str) -> None:
    """The error names the file, in one line."""
    file = pytester.path / PLACE
    file.parent.mkdir(parents=True)
    file.write_text(content)

    run(pytester, ASKING, errors=1).stdout.fnmatch_lines([f"*The cassette {file} is not valid*"])
