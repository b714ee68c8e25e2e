"""Secrets are taken out of whatever is told: texts, JSON values and errors (SR-1 of OpenWOP's threat model).

``Secrets`` is a registry of values by id; each place where a value stands becomes ``[REDACTED:<id>]``. A value is
found as it is; behind the escapes of JSON, JavaScript and Python, of URLs and of HTML, in any mixture and several
layers deep; with characters in between that nobody sees; and in base64 of either alphabet, alone or inside a longer
run of it. A value that was changed otherwise is not found: in hexadecimal digits, in other case, spelt out, reversed,
or broken into several strings. So the harness keeps what leaks by mistake from being told. It is no defence against a
model that knows a secret and sets out to smuggle it.

Texts are searched by Aho-Corasick, in time that grows with the text and not with the number of secrets
(``benchmarks/redaction.py`` measures it beside other ways).
"""

from __future__ import annotations

from emitter.redact.registry import NO_SECRETS, Secrets
from emitter.redact.spans import Redacted

__all__ = ["NO_SECRETS", "Redacted", "Secrets"]
