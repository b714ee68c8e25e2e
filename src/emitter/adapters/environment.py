"""Name the environment variable that keeps a client from being created.

SDKs and ``httpx2`` read proxies, certificates and settings from the environment when they create a client. For a value
that they cannot use they raise anything from ``ImportError`` to ``ssl.SSLError``, which names no variable.

Sources: ``_utils.py`` and ``_transports/default.py`` in httpx2 2.16.2; ``_ssl.py`` in httpcore2 2.16.2;
``httpsession.py`` in botocore 1.44.5; ``urllib/request.py`` and ``ssl.py`` in Python 3.11 to 3.14.
"""

from __future__ import annotations

import os
import re
import ssl
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from emitter.errors import EmitterError, InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_WEB_SCHEMES, _SOCKS_SCHEMES = ("http", "https"), ("socks5", "socks5h")
_SECRET_NAME = re.compile("_KEY$|_KEY_ID$|SECRET|TOKEN$|BEARER|PASSWORD|HEADERS")
_CERTIFICATE_NAME = re.compile(r"[0-9a-f]{8}\.\d+", re.IGNORECASE)
"""The names under which OpenSSL looks for certificates in a directory."""
_CERTIFICATE_HINT = "Name a file of PEM certificates, such as that of certifi.where(), or remove the variable."


@contextmanager
def named_settings(sdk: str, variables: tuple[str, ...]) -> Generator[None]:
    """Convert what is raised while a client is created.

    Args:
        sdk: The name of the SDK or HTTP library.
        variables: The beginnings of the variables that it reads.

    Raises:
        InputError: The client cannot be created. The message or the hint names the variable.
        MissingExtra: A package is not installed.
    """
    problem = f"A client of {sdk} could not be created"
    try:
        yield
    except EmitterError:
        raise
    except ImportError as error:
        raise MissingExtra(f"{problem}, since a package is missing.", hint=f"{error}.") from error
    except Exception as error:
        # Other messages may show a part of a secret. What is wrong is in the cause.
        is_safe = type(error).__module__.startswith("botocore")
        text = f": {str(error).removesuffix('.')}." if is_safe else f" ({type(error).__name__})."
        raise InputError(f"{problem}{text}", hint=_name_settings(error, variables)) from error


def _name_settings(error: Exception, variables: tuple[str, ...]) -> str:
    known = {name: value for name, value in os.environ.items() if name.upper().startswith(variables)}
    named = [name for name, value in known.items() if _is_shown(name, value, str(error))]
    if type(error).__name__ == "InvalidURL":  # the other addresses were checked before
        named = [name for name in known if name.upper() == "NO_PROXY"] or named
    if named:
        return f"Correct or remove {' or '.join(sorted(named))}."
    return f"Check the settings that the SDK reads: {', '.join(sorted(known)) or 'those in its files'}."


def _is_shown(name: str, value: str, message: str) -> bool:
    """Return whether a message shows the value of a variable. The values of secrets are not looked for."""
    is_named = not _SECRET_NAME.search(name.upper()) and value.strip()
    return bool(is_named) and re.search(rf"(?<!\w){re.escape(value.strip())}(?!\w)", message) is not None


def check_http_settings(url: str | None) -> None:
    """Check the settings that ``httpx2`` reads for a client. ``url`` is its address, if it is not the provider's.

    Raises:
        InputError: A setting cannot be used. The message names the variable.
        MissingExtra: There is a SOCKS proxy, and its package is not installed.
    """
    proxies = getproxies()
    if "*" not in (entry.strip() for entry in proxies.get("no", "").split(",")):
        for scheme in ("http", "https", "all"):
            _check_proxy(f"{scheme}_proxy", proxies.get(scheme), (*_WEB_SCHEMES, *_SOCKS_SCHEMES))
    check_key_log()
    file, directory = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=file)
        except OSError as error:  # also ssl.SSLError
            problem = f"SSL_CERT_FILE has no certificates: {file} ({_reason(error)})."
            raise InputError(problem, hint=_CERTIFICATE_HINT) from error
        return
    is_secure = not (url or "").lower().startswith("http:")
    if directory and is_secure and not any(map(_has_certificates, directory.split(os.pathsep))):
        problem = f"SSL_CERT_DIR has no certificates under the names that OpenSSL looks for: {directory}."
        raise InputError(problem, hint="Run openssl rehash on the directory, or remove the variable.")


def check_boto3_proxy(url: str) -> None:
    """Raise ``InputError`` if the proxy of an address cannot be used. botocore supports no SOCKS proxies."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.netloc.rpartition("@")[2]):
        _check_proxy(f"{parts.scheme}_proxy", proxy, _WEB_SCHEMES)


def check_key_log() -> None:
    """Raise ``InputError`` if the file cannot be written to which Python's ``ssl`` logs the keys of connections."""
    path = os.environ.get("SSLKEYLOGFILE")
    try:
        if path:
            Path(path).open("ab").close()
    except OSError as error:
        problem = f"SSLKEYLOGFILE cannot be written: {path} ({error.strerror})."
        raise InputError(problem, hint="Name a file that can be written, or remove the variable.") from error


def _check_proxy(name: str, value: str | None, schemes: tuple[str, ...]) -> None:
    if not value:
        return
    name = _find_variable(name, value) or "The proxy of the system's settings"
    hint = f"Write {name}=http://host:port, or remove it."
    parts = split_address(value if "://" in value else f"http://{value}")
    if parts is None:
        raise InputError(f"{name} is not the address of a proxy.", hint=hint)
    if parts.scheme not in schemes:
        known = f"{', '.join(schemes[:-1])} or {schemes[-1]}"
        raise InputError(f"{name} begins with {parts.scheme}://. The client knows proxies of {known}.", hint=hint)
    if parts.scheme in _SOCKS_SCHEMES and find_spec("socksio") is None:
        raise MissingExtra(
            f"{name} names a SOCKS proxy, and the package socksio is not installed.",
            hint=f"Run: pip install 'httpx2[socks]'. Without SOCKS, write {name}=http://host:port, or remove it.",
        )


def _find_variable(name: str, value: str) -> str | None:
    """Return the variable of the environment, in lower or upper case, that has a value."""
    return next((each for each in (name, name.upper()) if os.environ.get(each) == value), None)


def find_proxy_setting(scheme: str, is_wanted: Callable[[str], bool]) -> str | None:
    """Return the name of the setting whose proxy is the wanted one, or None.

    Args:
        scheme: The scheme of the address that is reached through the proxy.
        is_wanted: Judges a proxy's URL.
    """
    proxies = getproxies()
    for each in (scheme, "all"):
        value = proxies.get(each)
        if value and is_wanted(value):
            return _find_variable(f"{each}_proxy", value) or "the system's settings"
    return None


def split_address(url: str) -> SplitResult | None:
    """Return the parts of an address, or None if it has no valid host and port."""
    try:
        parts = urlsplit(url)
        is_valid = bool(parts.hostname) and parts.port != 0 and not re.search(r"[\s\x00-\x20]", url)
    except ValueError:
        return None
    return parts if is_valid else None


def _has_certificates(directory: str) -> bool:
    try:
        return any(_CERTIFICATE_NAME.fullmatch(name) for name in os.listdir(directory))  # noqa: PTH208  names are all that is needed
    except OSError:
        return False


def _reason(error: OSError) -> str:
    return (error.reason if isinstance(error, ssl.SSLError) else error.strerror) or type(error).__name__
