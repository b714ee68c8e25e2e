"""Where an engine or a server does what no schema can change, each by name and with its reason."""

from __future__ import annotations

NARROWER = {
    ("llama-cpp", "type integer of 19 digits"): "its integers have at most 16 digits",
    ("llama-cpp", "type number 1e-7"): "it writes a digit before the exponent and a fraction",
    ("llama-cpp", "format time, unusual values"): "a fraction of a second has three digits",
    ("llama-cpp", "open object, beginning of a name"): "it writes no name that begins one that the schema states",
    ("outlines-core", "format date-time, unusual values"): "it writes UTC, and whole seconds",
    ("outlines-core", "format time, unusual values"): "it writes UTC, and whole seconds",
    ("outlines-core", "format uuid, unusual values"): "it writes small letters",
    ("outlines-core", "recursion"): "its regular expressions end at the third level",
    ("lm-format-enforcer", "*"): "it writes no letter outside ASCII, and arrays of at most 1,024 items",
}
"""Valid values that an engine never writes, by the engine and the probe."""

UNSENT = {
    ("", " minProperties "): "a map is a list of entries, in which a key may stand twice",
    ("", " maxProperties "): "an absent property is null on the wire, and would be counted",
    ("", "pattern of any characters:"): "a count of such characters counts the escapes of JSON",
    ("", "pattern of other characters:"): "a count of such characters counts the escapes of JSON",
    ("vllm", " multipleOf "): "vLLM's own check leaves such a schema to another backend (backend_xgrammar.py)",
    ("openai-compatible", " pattern "): "a hosted server with an engine of its own may refuse it",
}
"""Keywords that the engines of a profile (of any, if it is empty) enforce, and that are not sent."""


def is_unsent(profile: str, loss: str) -> bool:
    """Return whether a keyword is not sent by name."""
    return any(name in {"", profile} and text in loss for name, text in UNSENT)
