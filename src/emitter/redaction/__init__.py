"""Remove secrets from texts, JSON values and errors (SR-1 of OpenWOP's threat model).

``Secrets`` holds values by id and replaces each occurrence with ``[REDACTED:<id>]``. It finds a value as it is;
behind the escapes of JSON, JavaScript, Python, URLs and HTML, up to five layers deep; with invisible characters in
between; and in base64. It does not find a value that was changed in another way, for example written in hexadecimal,
reversed or split into several strings. Redaction prevents accidental leaks; it is no defence against a model that
sets out to smuggle a secret.

Searching uses Aho-Corasick, so its time grows with the text and not with the number of secrets.
"""

from __future__ import annotations

from emitter.redaction.matcher import Redacted
from emitter.redaction.secret_registry import NO_SECRETS, Secrets

__all__ = ["NO_SECRETS", "Redacted", "Secrets"]
