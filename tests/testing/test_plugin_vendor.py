"""The fixture ``emitter_vendor``: a vendor for each test, found by the environment, reported where a test fails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.testing.plugged import again, run

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["pytester"]

ANSWERED = """
from emitter.testing import Cut, Text
import anthropic, openai
from google import genai

pytestmark = pytest.mark.emitter_vendor(answers=Text("Yes."))
"""


def test_clients_made_from_the_environment_reach_it(pytester: pytest.Pytester) -> None:
    """Every vendor's own client, made without an argument, asks the simulator; afterwards nothing is left."""
    before = dict(os.environ)
    run(
        pytester,
        f"""{ANSWERED}
def test_openai(emitter_vendor):
    with openai.OpenAI() as client:
        assert ask(client) == "Yes."

def test_anthropic(emitter_vendor):
    turns = [{{"role": "user", "content": "What?"}}]
    with anthropic.Anthropic() as client:
        said = client.messages.create(model="claude-sonnet-5-5", max_tokens=9, messages=turns)
    assert said.content[0].text == "Yes."

def test_google(emitter_vendor):
    with genai.Client() as client:
        assert client.models.generate_content(model="gemini-3.8-flash", contents="What?").text == "Yes."
    assert [each.model for each in emitter_vendor.calls] == ["gemini-3.8-flash"]
""",
        passed=3,
    )

    assert {**os.environ, "PYTEST_CURRENT_TEST": ""} == {**before, "PYTEST_CURRENT_TEST": ""}


def test_a_proxy_is_passed_by(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that the environment names is not asked for an address on this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    monkeypatch.setenv("NO_PROXY", "elsewhere.invalid")
    run(
        pytester,
        f"""{ANSWERED}
import os

def test_it(emitter_vendor):
    assert os.environ["NO_PROXY"].startswith("elsewhere.invalid,")
    with openai.OpenAI() as client:
        assert ask(client) == "Yes."
""",
        passed=1,
    )


SEEDED = """
from emitter.testing import Cut, Overloaded, Text

@pytest.mark.emitter_vendor(answers={Text(str(n)): 1 for n in range(999)}, OPTIONS)
@pytest.mark.parametrize("number", [1, 2])
def test_it(emitter_vendor, number):
    with open("said.txt", "a") as file:
        print(ask(emitter_vendor.client("openai/gpt-6-sol")), file=file)
"""


@pytest.mark.parametrize(("options", "differ"), [("", True), ("seed=1", False)], ids=["by-id", "by-mark"])
def test_the_seed(pytester: pytest.Pytester, options: str, *, differ: bool) -> None:
    """Runs repeat themselves; tests differ from one another unless the mark names a seed."""
    for _ in range(2):
        run(pytester, SEEDED.replace("OPTIONS", options), passed=2)
    first, second, *again = (pytester.path / "said.txt").read_text().split()

    assert [first, second] == again
    assert (first != second) is differ


def test_the_seed_is_of_the_place_in_the_project(pytester: pytest.Pytester) -> None:
    """Neither the folder of the project nor the folder it is run from plays a part."""
    said: list[str] = []
    for home in ("here", "there"):
        folder: Path = pytester.mkdir(home) / "tests"
        folder.mkdir()
        (folder.parent / "pytest.ini").write_text("[pytest]\n")
        os.chdir(folder if home == "there" else folder.parent)
        (folder / "test_it.py").write_text(
            "import pathlib\nfrom emitter.testing.plugin_support import derive_seed\n"
            "def test_it(request):\n    pathlib.Path('seed.txt').write_text(str(derive_seed(request.node)))\n"
        )
        again(pytester, str(folder), passed=1)
        said.append(next(folder.parent.rglob("seed.txt")).read_text())

    assert said[0] == said[1]


FAILING = """
from emitter.testing import Cut, Text
QUESTION = "A secret plan."

@pytest.mark.emitter_vendor(answers=Text("An answer."), seed=7)
def test_it(emitter_vendor):
    emitter_vendor.script(Cut())
    client = emitter_vendor.client("openai/gpt-6-sol")
    client.responses.create(model="gpt-6-sol", input=QUESTION, max_output_tokens=20)
    with pytest.raises(Exception):
        client.responses.create(model="no-such-model", input=QUESTION)
    assert False
"""


def test_a_failure_tells_what_reached_it(pytester: pytest.Pytester) -> None:
    """Calls, stops and tokens are reported, and nothing that was said."""
    result = run(pytester, FAILING, "--tb=short", failed=1)

    result.stdout.fnmatch_lines(
        [
            "*What reached emitter_vendor*",
            "2 calls, billed * + 20 tokens; seed 7",
            "  1. openai-responses gpt-6-sol: Cut, 200, * + 20 tokens",
            "  2. openai-responses no-such-model: invalid request, 404, 0 + 0 tokens",
        ]
    )
    result.stdout.no_fnmatch_line("*A secret plan.*")


def test_prompts_are_reported_when_asked_for(pytester: pytest.Pytester) -> None:
    """With the option, the requests stand beneath their calls."""
    run(pytester, FAILING, "--emitter-prompts", failed=1).stdout.fnmatch_lines(
        ["*What reached emitter_vendor*", "  1. *", '*"input": "A secret plan."*', "  2. *"]
    )


def test_many_calls_are_reported_in_short(pytester: pytest.Pytester) -> None:
    """The last twenty calls are reported, and how many came before."""
    result = run(
        pytester,
        f"""{ANSWERED}
def test_it(emitter_vendor):
    client = emitter_vendor.client("openai/gpt-6-sol")
    for _ in range(23):
        ask(client)
    assert False
""",
        failed=1,
    )

    result.stdout.fnmatch_lines(["23 calls, *", "(3 earlier calls are not shown)", "  4. *", " 23. *"])
    result.stdout.no_fnmatch_line("  3. *")


def test_a_passing_test_tells_nothing(pytester: pytest.Pytester) -> None:
    """The section is for failures."""
    result = run(pytester, f"{ANSWERED}\ndef test_it(emitter_vendor): pass", "-rA", passed=1)

    result.stdout.no_fnmatch_line("*What reached*")


@pytest.mark.parametrize(
    ("mark", "reported"),
    [
        ("answer=1", "*has no option 'answer'.*Its options are seed, answers, *"),
        ("1", "*takes keyword options only.*"),
        ("answers=1", "*1 is not a behaviour.*"),
        ("latency=-1", "*latency must be 0 or more seconds*"),
    ],
)
def test_a_wrong_mark_is_reported(pytester: pytest.Pytester, mark: str, reported: str) -> None:
    """It is an error of the test, in one line, without a traceback through the library."""
    result = run(pytester, f"@pytest.mark.emitter_vendor({mark})\ndef test_it(emitter_vendor): pass", errors=1)

    result.stdout.fnmatch_lines([reported])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*plugin.py:*")


def test_what_a_behaviour_raises_is_an_error(pytester: pytest.Pytester) -> None:
    """A bug in a behaviour of the test's own does not pass for a vendor's fault."""
    result = run(
        pytester,
        """
def broken(asked):
    raise LookupError("no answer for this")

@pytest.mark.emitter_vendor(answers=broken)
def test_it(emitter_vendor):
    with pytest.raises(Exception):
        ask(emitter_vendor.client("openai/gpt-6-sol"))
""",
        passed=1,
        errors=1,
    )

    result.stdout.fnmatch_lines(["*LookupError: no answer for this*"])


def test_workers_have_vendors_of_their_own(pytester: pytest.Pytester) -> None:
    """Under pytest-xdist every test has its vendor, and the same luck as without it, whatever its group."""
    source = SEEDED.replace("OPTIONS", "").replace(
        "@pytest.mark.parametrize", "@pytest.mark.xdist_group('together')\n@pytest.mark.parametrize"
    )
    pytester.makeini("[pytest]\nmarkers = xdist_group: of pytest-xdist\n")
    run(pytester, source, passed=2)
    run(pytester, source, "-p", "xdist", "-n2", "--dist=loadgroup", apart=True, passed=2)
    said = (pytester.path / "said.txt").read_text().split()

    assert sorted(said[:2]) == sorted(said[2:])
