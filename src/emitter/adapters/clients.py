"""Create, check and limit SDK clients, and find the credentials that they send.

Every header and query parameter counts as a credential unless its name is known to be harmless.
"""

from __future__ import annotations

import base64
import copy
import importlib
import inspect
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from emitter.adapters.transport import (
    TRANSFER_KEY,
    AsyncBedrockClient,
    GoogleClientView,
    GoogleView,
    HttpTransfer,
    LimitedClient,
    SdkView,
    SentRequest,
    SignedRequest,
    is_boto3_client,
    make_view,
)
from emitter.errors import InputError, MissingExtra, MissingKey
from emitter.profiles.model import Sdk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    import httpx2

    from emitter.profiles.model import ClientConfig, Profile

_SDK_MODULES = {Sdk.OPENAI: "openai", Sdk.ANTHROPIC: "anthropic", Sdk.GOOGLE: "google.genai", Sdk.BEDROCK: "boto3"}
_QUOTES = frozenset("\"'`")
_PLACEHOLDER_KEY = "no-key"
HTTP_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_", "SSLKEYLOGFILE")
"""Beginnings of the environment variables that HTTP clients read."""
_SDK_VARIABLES = {
    Sdk.OPENAI: ("OPENAI_", "AZURE_"),
    Sdk.ANTHROPIC: ("ANTHROPIC_",),
    Sdk.GOOGLE: ("GOOGLE_", "GEMINI_"),
    Sdk.BEDROCK: ("AWS_",),
}
"""Those that the SDKs read: openai 3.52.0, anthropic 2.11.0, google-genai 3.4.0, boto3 1.44.5."""
_VARIABLES = (*(name for names in _SDK_VARIABLES.values() for name in names), *HTTP_VARIABLES)


def create_client(
    profile: Profile,
    *,
    asynchronous: bool,
    base_url: str | None = None,
    api_key: str | None = None,
    http_client: object = None,
) -> object:
    """Return a client of the profile's SDK.

    Args:
        profile: The provider's profile.
        asynchronous: Create an async client.
        base_url: Overrides the environment and the profile.
        api_key: Overrides the environment.
        http_client: An ``httpx2`` client of the matching kind to send through; a blocking one for boto3.

    Raises:
        InputError: A setting in the environment cannot be used.
        MissingExtra: The SDK, or a package that the environment requires, is not installed.
        MissingKey: The API key or the base URL is missing.
    """
    from emitter.adapters.environment import (  # noqa: PLC0415  few emissions create a client
        check_http_settings,
        named_settings,
        split_address,
    )

    config = profile.client
    sdk = _import_sdk(config.sdk)
    settings = named_settings(_SDK_MODULES[config.sdk], (*_SDK_VARIABLES[config.sdk], *HTTP_VARIABLES))
    url = find_base_url(profile, base_url)
    if url is not None and split_address(url) is None:
        raise _base_url_error(profile, base_url, url, "is not an address", hint="Write https://host/path.")
    if config.sdk is Sdk.BEDROCK:
        from emitter.adapters.bedrock_client import create_bedrock_client  # noqa: PLC0415  only clients of Bedrock

        with settings:
            return create_bedrock_client(config.flavour, api_key, url, http_client)
    key = _find_key(profile, api_key)
    if http_client is None:
        check_http_settings(url)
    with settings:
        if config.sdk is Sdk.GOOGLE:
            return _create_google_client(sdk, key, url, http_client, asynchronous=asynchronous)
        client_class: Any = getattr(sdk, f"{'Async' if asynchronous else ''}{config.flavour}")
        return client_class(**_client_arguments(config, key, url, http_client))


def _client_arguments(config: ClientConfig, key: str, url: str | None, http_client: object) -> dict[str, Any]:
    """Return the arguments of a client of openai or anthropic."""
    arguments: dict[str, Any] = {"api_key": key, "max_retries": 0}
    if url is not None:
        arguments["azure_endpoint" if config.flavour.startswith("Azure") else "base_url"] = url
    if http_client is not None:
        arguments["http_client"] = http_client
    if config.flavour.startswith("Azure") and config.api_version and not os.environ.get("OPENAI_API_VERSION"):
        arguments["api_version"] = config.api_version  # Azure's client requires one; the caller's variable wins
    return arguments


def limit_client(client: object, transfer: HttpTransfer) -> LimitedClient:
    """Return a view of a provider's client that sends one request and records it in ``transfer``.

    A client without an HTTP client of a known kind is returned unchanged.

    Raises:
        InputError: A Google client sends through ``aiohttp`` or ``requests``, where emitter cannot control redirects
            and sizes.
    """
    if "_client" in getattr(client, "__dict__", ()):
        return LimitedClient(make_view(client, SdkView, transfer))
    if is_boto3_client(client) or isinstance(client, AsyncBedrockClient):
        from emitter.adapters.bedrock_client import BedrockView  # noqa: PLC0415  only clients of Bedrock

        return LimitedClient(BedrockView(client, transfer))
    models: Any = getattr(client, "models", None)
    api_client = getattr(models, "_api_client", None)
    if api_client is None:
        return LimitedClient(client)
    view = make_view(api_client, GoogleView, transfer)
    return LimitedClient(GoogleClientView(models.__class__(view), view))


class ClientSettings(NamedTuple):
    """The arguments and environment variables of an SDK client. Clients with equal settings are interchangeable."""

    api_key: str
    base_url: str | None
    environment: tuple[tuple[str, str], ...]


def client_settings(profile: Profile, *, base_url: str | None, api_key: str | None) -> ClientSettings:
    """Return the settings that ``create_client`` would use now. Raises ``MissingKey``.

    Besides the key and the address, SDKs and httpx2 read proxies, certificates, organizations and projects from the
    environment.
    """
    read = tuple((name, value) for name, value in os.environ.items() if name.upper().startswith(_VARIABLES))
    return ClientSettings(_find_key(profile, api_key), find_base_url(profile, base_url), read)


def check_client_config(profile: Profile) -> None:
    """Raise the error that ``create_client`` would raise, without creating a client."""
    require_sdk(profile)
    _find_key(profile)
    find_base_url(profile, None)


def require_sdk(profile: Profile) -> None:
    """Raise ``MissingExtra`` if the SDK of a profile is not installed."""
    module = _SDK_MODULES[profile.client.sdk]
    if sys.modules.get(module) is None and not _is_installed(module):
        raise _missing_sdk_error(profile.client.sdk)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # its parent package is missing, or it was removed from sys.modules
        return False


def check_client(client: object, profile: Profile, model: str, *, asynchronous: bool) -> None:
    """Raise ``InputError`` for a client that is closed, of the wrong SDK or of the wrong kind.

    A client is recognised by its methods, so that a wrapper around a client is accepted.
    """
    if not _is_sdk_client(cast("Any", type(client)), profile.client.sdk, asynchronous=asynchronous):
        _check_wrapper(client, profile, model, asynchronous=asynchronous)
    if _is_closed(client, asynchronous=asynchronous):
        raise InputError("client= is closed.", hint="Pass an open one, or leave it out.")


@lru_cache(maxsize=64)
def _is_sdk_client(kind: type, sdk: Sdk, *, asynchronous: bool) -> bool:
    """Return whether a class is the SDK's own and of the right kind, so that its objects need no inspection."""
    if kind.__module__.partition(".")[0] != _SDK_MODULES[sdk].partition(".")[0]:
        return False
    return kind.__name__.startswith("Async") is asynchronous and _send_method(kind, sdk) is not None


def _check_wrapper(client: object, profile: Profile, model: str, *, asynchronous: bool) -> None:
    hint = f"Pass client={_example_client(profile, asynchronous=asynchronous)}, or leave it out."
    if isinstance(client, type):
        raise InputError(f"client= is the class {_qualified_name(client)}, not a client.", hint=hint)
    sdk, client_name = profile.client.sdk, _qualified_name(type(client))
    send = _send_method(client, sdk)
    if send is None:
        target = f"{profile.name}/{model}" if model else profile.title
        needed = _with_article(_SDK_TITLES[sdk])
        raise InputError(f"{target} needs {needed} client, but client= is {_with_article(client_name)}.", hint=hint)
    if profile.client.is_blocking:
        return
    if inspect.iscoroutinefunction(send) and not asynchronous:
        raise InputError(
            f"client= is {_with_article(client_name)}, which is async, and this call is not.",
            hint=f"{hint.removesuffix('.')}; or call the async function, such as aemit.",
        )
    if asynchronous and not inspect.iscoroutinefunction(send):
        raise InputError(
            f"client= is {_with_article(client_name)}, which blocks, and this call needs an async one.",
            hint=f"{hint.removesuffix('.')}; or call the function that blocks, such as emit.",
        )


_SDK_TITLES = {Sdk.OPENAI: "OpenAI", Sdk.ANTHROPIC: "Anthropic", Sdk.GOOGLE: "Google", Sdk.BEDROCK: "Amazon Bedrock"}
_DISTINCTIVE_ATTRIBUTES = {Sdk.OPENAI: "chat", Sdk.ANTHROPIC: "messages"}
"""The attribute that only the clients of one SDK have; ``post`` is common to both."""


def _send_method(client: object, sdk: Sdk) -> object:
    """Return the method with which a client of ``sdk`` sends, or None."""
    raw: Any = client
    if sdk is Sdk.GOOGLE:
        send = getattr(getattr(raw, "models", None), "generate_content", None)
    elif sdk is Sdk.BEDROCK:
        send = getattr(raw, "converse", None) if is_boto3_client(client) else None
    else:
        name = _DISTINCTIVE_ATTRIBUTES[sdk]
        # OpenAI's attributes are slow to create, so the class is searched first.
        is_known = inspect.getattr_static(client, name, None) is not None or hasattr(client, name)
        send = getattr(raw, "post", None) if is_known else None
    return send if callable(send) else None


def _is_closed(client: object, *, asynchronous: bool) -> bool:
    """Return whether a client is closed. A Google client is closed if its HTTP client is."""
    raw: Any = client
    api_client = getattr(raw, "_api_client", None)
    http = getattr(api_client, "_async_httpx_client" if asynchronous else "_httpx_client", None)
    closed = getattr(raw if http is None else http, "is_closed", False)
    return (closed() if callable(closed) else closed) is True


def _example_client(profile: Profile, *, asynchronous: bool) -> str:
    """Return the source code that creates a suitable client."""
    config = profile.client
    if config.sdk is Sdk.GOOGLE:
        return "google.genai.Client()"
    if config.sdk is Sdk.BEDROCK:
        return f'boto3.client("{config.flavour}")'
    base_url = None if profile.name == config.sdk.value else config.base_url
    address = f'"{base_url}"' if base_url else "..." if config.base_url_required else ""
    arguments = f"{'azure_endpoint' if config.flavour.startswith('Azure') else 'base_url'}={address}" if address else ""
    return f"{_SDK_MODULES[config.sdk]}.{'Async' if asynchronous else ''}{config.flavour}({arguments})"


def _qualified_name(cls: type) -> str:
    """Return a class's name as written after importing its package."""
    module = "google.genai" if cls.__module__.startswith("google.genai") else cls.__module__.partition(".")[0]
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _import_sdk(sdk: Sdk) -> ModuleType:
    try:
        return importlib.import_module(_SDK_MODULES[sdk])
    except ImportError as error:
        raise _missing_sdk_error(sdk) from error


def _missing_sdk_error(sdk: Sdk) -> MissingExtra:
    return MissingExtra(f"The {sdk.value} SDK is not installed.", extra=sdk.value)


def find_credentials(profile: Profile, client: object) -> tuple[str, ...]:
    """Return the credentials in the environment and the client that requests to the provider may carry."""
    keys = (os.environ.get(name, "").strip() for name in profile.client.key_env)
    return tuple(dict.fromkeys(filter(None, (*keys, *find_client_credentials(client)))))


def _find_key(profile: Profile, explicit: str | None = None) -> str:
    """Return the caller's key, or that of the environment. Raises ``MissingKey``, or ``InputError`` for a bad one."""
    if explicit:
        return _check_key(explicit.strip(), "api_key")
    config = profile.client
    found = ((name, os.environ.get(name, "").strip()) for name in config.key_env)
    value = next((_check_key(key, name) for name, key in found if key), None)
    if value is None and config.key_required:
        require_sdk(profile)  # without the SDK, a key does not help
        names = " or ".join(config.key_env)
        raise MissingKey(
            f"No key for {profile.title} was found.",
            hint=f"Set {names}. In Python, Emitter(api_key=...), client= and Fallback(client=...) work, too.",
        )
    return value or _PLACEHOLDER_KEY


def _check_key(key: str, place: str) -> str:
    """Return a key that a header can carry. Those from a document or a file often have quotation marks."""
    wrong = next((char for char in key if not " " <= char <= "~"), None)
    wrong = wrong or (key[0] if key[:1] in _QUOTES and key[0] == key[-1] else None)
    if wrong is None:
        return key
    import unicodedata  # noqa: PLC0415  few keys are wrong

    raise InputError(
        f"The key in {place} has the character U+{ord(wrong):04X} ({unicodedata.name(wrong, 'a control character')}), "
        "which no key has.",
        hint="Copy the key again, without quotation marks.",
    )


def find_base_url(profile: Profile, explicit: str | None) -> str | None:
    """Return the address of a client, or None if its SDK has one. Raises ``MissingKey`` or ``InputError``."""
    config = profile.client
    environment_url = os.environ.get(config.base_url_env) if config.base_url_env else None
    url = explicit or environment_url or config.base_url
    if url is None and config.base_url_required:
        remedy = f"set {config.base_url_env}" if config.base_url_env else "pass base_url="
        raise MissingKey(f"{profile.title} needs a base URL.", hint=f"Pass base_url= or client=, or {remedy}.")
    if url is not None and not url.lower().startswith(("http://", "https://")):
        hint = f"Write http://{url.rpartition('@')[2].rpartition('//')[2]} or https://..."
        raise _base_url_error(profile, explicit, url, "does not begin with http:// or https://", hint=hint)
    return url


def _base_url_error(profile: Profile, explicit: str | None, url: str, problem: str, *, hint: str) -> InputError:
    variable = profile.client.base_url_env if explicit is None else None
    shown, place = url.rpartition("@")[2], f" in {variable}" if variable else ""  # without credentials
    return InputError(f"The base URL {shown!r}{place} {problem}.", hint=hint)


def _create_google_client(
    sdk: ModuleType, key: str, url: str | None, http_client: object, *, asynchronous: bool
) -> object:
    options: dict[str, Any] = {"retry_options": {"attempts": 1}}
    if url is not None:
        options["base_url"] = url
    if http_client is not None:
        options["httpx_async_client" if asynchronous else "httpx_client"] = http_client
    return sdk.Client(api_key=key, vertexai=False, http_options=options)


HARMLESS_QUERY = frozenset({"alt", "api-version", "beta", "limit", "after", "order", "pagesize", "pagetoken"})
_HARMLESS_HEADERS = re.compile(
    r"accept(-encoding|-language|-charset)?|connection|content-(encoding|length|type)|date|expect|host|keep-alive|te"
    r"|transfer-encoding|user-agent|anthropic-(beta|version|dangerous-direct-browser-access)"
    r"|openai-(beta|organization|project)|idempotency-key|x-(client-)?request-id|traceparent|x-goog-api-client|x-server-timeout|x-stainless-.*"
    r"|amz-sdk-.*|x-amz-(date|content-sha256|user-agent)|x-amzn-bedrock-.*",
    re.IGNORECASE,
)
_MIN_FRAGMENT = 6
_SEPARATORS = re.compile(r"[\s;,=:]+")
_MIN_PATH_FRAGMENT = 16
"""The minimum length of a part between slashes. Shorter parts are regions and service names."""


_SIGNATURE_PARTS = re.compile(rb"Credential=([^/,]+)|Signature=(\w+)")


def find_request_credentials(request: httpx2.Request | SentRequest | SignedRequest) -> tuple[str, ...]:
    """Return the values of a request that may be credentials."""
    if isinstance(request, SignedRequest):
        return _signed_credentials(request)
    url, headers = request.url, request.headers
    encoding = headers.encoding
    values = [value.decode(encoding) for name, value in headers.raw if not _is_harmless(name)]
    if url.query:
        values += _sensitive_values((), url.params.multi_items())
    if url.password:
        values.append(url.password)
    return tuple(dict.fromkeys(values))


def _signed_credentials(request: SignedRequest) -> tuple[str, ...]:
    """Return the credentials of a request that boto3 signed.

    Some parts of a signature are not secret, such as the names of the headers that it covers.
    """
    values = {name: value if isinstance(value, bytes) else value.encode() for name, value in request.headers.items()}
    signature = values.get("Authorization", b"")
    parts = [part for pair in _SIGNATURE_PARTS.findall(signature) for part in pair if part]
    if parts:
        del values["Authorization"]
    sensitive = _sensitive_values([(name, value.decode("latin-1")) for name, value in values.items()], ())
    return (*(part.decode("latin-1") for part in parts), *sensitive)


def find_error_credentials(error: BaseException | None) -> tuple[str, ...]:
    """Return the possible credentials of the request for which an exception, or one of its causes, was raised."""
    while error is not None:
        for holder in (error, getattr(error, "response", None)):
            try:
                request: Any = getattr(holder, "request", None)
            except RuntimeError:  # raised by httpx2 if the request is not set
                continue
            if hasattr(request, "headers") and hasattr(request, "url"):
                return find_request_credentials(request)
        error = error.__cause__
    return ()


_HTTP_LIBRARIES = frozenset({"httpx2", "httpx", "botocore"})
_REDACTED = "[REDACTED:credential]"


def remove_credentials(error: BaseException) -> None:
    """Replace the HTTP requests that an exception and its causes refer to by copies without credentials.

    The SDKs and HTTP libraries attach the request as it was sent, and an exception may be logged or pickled.
    """
    pending: list[object] = [error]
    visited: dict[int, object] = {}
    while pending:
        holder = pending.pop()
        if id(holder) in visited:
            continue
        visited[id(holder)] = holder
        members: dict[str, Any] = getattr(holder, "__dict__", {})
        for name in {"request", "_request"} & members.keys():
            if type(members[name]).__module__.partition(".")[0] in _HTTP_LIBRARIES:
                members[name] = _without_credentials(members[name])
        extensions, history = members.get("extensions"), members.get("history")
        if isinstance(extensions, dict) and isinstance(
            transfer := cast("Any", extensions).get(TRANSFER_KEY), HttpTransfer
        ):
            members["extensions"] = {**extensions, TRANSFER_KEY: replace(transfer, request=None)}
        pending += [members.get("response"), *(cast("list[object]", history) if isinstance(history, list) else ())]
        if isinstance(holder, BaseException):
            pending += [holder.__cause__, holder.__context__]
        if isinstance(holder, BaseExceptionGroup):
            pending += cast("BaseExceptionGroup[BaseException]", holder).exceptions


def _without_credentials(request: Any) -> Any:
    made = copy.copy(request)
    sent = getattr(request.headers, "raw", None) or request.headers.items()
    made.headers = type(request.headers)([(name, value if _is_harmless(name) else _REDACTED) for name, value in sent])
    if hasattr(made.url, "copy_with"):
        made.url = made.url.copy_with(userinfo=b"")
        for name in made.url.params:
            if name.lower() not in HARMLESS_QUERY:
                made.url = made.url.copy_set_param(name, _REDACTED)
    return made


def find_client_credentials(client: object) -> tuple[str, ...]:
    """Return the values that a provider's client sends with every request and that may be credentials.

    Sources: ``api_key``, ``default_headers`` and ``default_query`` of openai 3.52.0 and anthropic 2.11.0
    (``_base_client.py``), ``_api_client`` of google-genai 3.4.0 (``_api_client.py``),
    ``_request_signer`` of botocore 1.44.5 (``client.py``).
    """
    raw: Any = client
    api_client = getattr(raw, "_api_client", None)
    headers = _string_items(getattr(raw, "default_headers", None))
    headers += _string_items(getattr(getattr(api_client, "_http_options", None), "headers", None))
    query = _string_items(getattr(raw, "default_query", None))
    keys = [(name, getattr(holder, name, None)) for holder in (raw, api_client) for name in ("api_key", "auth_token")]
    keys += _boto3_credentials(raw) if is_boto3_client(client) else []
    return _sensitive_values([*headers, *((name, value) for name, value in keys if isinstance(value, str))], query)


def _boto3_credentials(client: Any) -> list[tuple[str, Any]]:
    """Return the credentials that a boto3 client has loaded, without refreshing them."""
    loaded: Any = getattr(getattr(client, "_request_signer", None), "_credentials", None)
    names = ("access_key", "secret_key", "token")
    return [item for item in getattr(loaded, "__dict__", {}).items() if item[0].lstrip("_") in names]


def _string_items(mapping: object) -> list[tuple[str, str]]:
    members = cast("Mapping[str, object]", mapping).items() if isinstance(mapping, Mapping) else ()
    return [(name, value) for name, value in members if isinstance(value, str)]


def _sensitive_values(headers: Iterable[tuple[str, str]], query: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    values = [value for name, value in headers if not _is_harmless(name)]
    values += [value for name, value in query if name.lower() not in HARMLESS_QUERY]
    return tuple(dict.fromkeys(values))


@lru_cache(maxsize=256)
def _is_harmless(header: str | bytes) -> bool:
    name = header.decode("latin-1") if isinstance(header, bytes) else header
    return _HARMLESS_HEADERS.fullmatch(name) is not None


def credential_fragments(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values and their parts, longest first, to search for in a text."""
    fragments = {part for value in values for part in _iter_fragments(value) if len(part) >= _MIN_FRAGMENT}
    return tuple(sorted(fragments, key=lambda fragment: (-len(fragment), fragment)))


def _iter_fragments(value: str) -> Iterator[str]:
    """Yield a value and its parts: the token behind ``Bearer``, or a name and a password in base64."""
    yield value
    scheme, _, rest = value.strip().partition(" ")
    if rest and scheme.isalpha():  # "Bearer" itself is not secret
        yield from _iter_fragments(rest.strip())
        return
    decoded = _decode_base64(value)
    for text in (value, decoded):
        yield text
        for part in _SEPARATORS.split(text):
            yield part
            yield from (segment for segment in part.split("/") if len(segment) >= _MIN_PATH_FRAGMENT)


def _decode_base64(value: str) -> str:
    """Return the decoded text of a base64 value, or an empty string."""
    standard = value.replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True).decode()
    except ValueError:
        return ""
    return text if text.isprintable() else ""
