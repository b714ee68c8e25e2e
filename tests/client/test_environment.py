"""Settings in the environment that no client can be created with: each error names the variable and the cure."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from emitter import AsyncEmitter, Emitter, aemit, astream, emit, emit_many, stream
from emitter.adapters.clients import create_client
from emitter.errors import ClientFailed, EmitterError, InputError, MissingExtra
from emitter.profiles import find_profile
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORM = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
MODELS = {
    "openai": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "google": "google/gemini-3.8-flash",
    "bedrock": "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
}
HTTPX = ("openai", "anthropic", "google")
KEYS = {
    "OPENAI_API_KEY": "sk-secret",
    "ANTHROPIC_API_KEY": "sk-secret",
    "GEMINI_API_KEY": "sk-secret",
    "AWS_ACCESS_KEY_ID": "sk-secret",
    "AWS_SECRET_ACCESS_KEY": "sk-secret",
    "AWS_REGION": "eu-central-1",
}

BEGINNINGS = ("SSL", "AWS_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave nothing in the environment but keys."""
    for name in list(os.environ):
        if name.upper().endswith("_PROXY") or name.startswith(
            ("SSL", "AWS_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")
        ):
            monkeypatch.delenv(name)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "socksio", None)  # is not installed
    (tmp_path / "broken.pem").write_text("no certificate")


async def _astream(model: str) -> None:
    async with astream(FORM, "How many?", model=model) as events:
        async for _ in events:
            pass


def _stream(model: str) -> None:
    with stream(FORM, "How many?", model=model) as events:
        list(events)


FACES: dict[str, Callable[[str], Any]] = {
    "emit": lambda model: emit(FORM, "How many?", model=model),
    "aemit": lambda model: asyncio.run(aemit(FORM, "How many?", model=model)),
    "stream": _stream,
    "astream": lambda model: asyncio.run(_astream(model)),
    "emit_many": lambda model: emit_many(FORM, ["How many?"], model=model).results(),
    "Emitter": lambda model: Emitter(model).emit(FORM, "How many?"),
    "AsyncEmitter": lambda model: asyncio.run(AsyncEmitter(model).emit(FORM, "How many?")),
}
HTTP_SETTINGS = {
    "ALL_PROXY": ("socks5://127.0.0.1:9", "pip install 'httpx2[socks]'"),
    "all_proxy": ("socks5h://u:pa55word@127.0.0.1:9", "pip install 'httpx2[socks]'"),
    "HTTPS_PROXY": ("http://host:port", "http://host:port"),
    "https_proxy": ("socks4://u:pa55word@127.0.0.1:9", "socks5"),
    "HTTP_PROXY": ("http://[u:pa55word", "http://host:port"),
    "http_proxy": ("http://a host", "http://host:port"),
    "SSL_CERT_FILE": ("{tmp}/absent.pem", "certifi"),
    "SSL_CERT_FILE ": ("{tmp}/broken.pem", "certifi"),
    "SSL_CERT_FILE  ": ("{tmp}", "certifi"),
    "SSL_CERT_DIR": ("{tmp}/absent", "rehash"),
    "SSL_CERT_DIR ": ("{tmp}", "rehash"),
    "SSLKEYLOGFILE": ("{tmp}/absent/keys", "written"),
    "SSLKEYLOGFILE ": ("{tmp}", "written"),
}


def check(error: BaseException, name: str, cure: str) -> None:
    """Check that an error names the variable and the cure, and shows no secret."""
    assert isinstance(error, InputError)
    assert name in str(error)
    assert cure in str(error)
    assert "pa55word" not in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(("setting", "sdk", "face"), covering(HTTP_SETTINGS, HTTPX, FACES))
def test_settings_of_httpx(
    setting: str, sdk: str, face: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # fmt: skip
    """Proxies and certificates are the same for three SDKs."""
    value, cure = HTTP_SETTINGS[setting]
    monkeypatch.setenv(setting.strip(), value.format(tmp=tmp_path))
    with pytest.raises(EmitterError) as caught:
        FACES[face](MODELS[sdk])
    check(caught.value, setting.strip(), cure)
    assert isinstance(caught.value, MissingExtra) is cure.startswith("pip")


@pytest.mark.parametrize("value", ["[::1", "10.0.0.0/99", "é.com", "x:y", "::1/x"])
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_no_proxy(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic's SDK accepts fewer entries than httpx2; the other two ignore one that cannot be read."""
    monkeypatch.setenv(name, value)
    for asynchronous in (False, True):
        with pytest.raises(EmitterError) as caught:
            create_client(find_profile(MODELS["anthropic"])[0], asynchronous=asynchronous)
        check(caught.value, name, "Correct or remove")
        create_client(find_profile(MODELS["openai"])[0], asynchronous=False).close()  # type: ignore[attr-defined]


def test_proxies_that_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``NO_PROXY=*`` no proxy is read, and with a client of the caller's neither."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost, *")
    create_client(find_profile(MODELS["openai"])[0], asynchronous=False).close()  # type: ignore[attr-defined]


ADDRESSES = ("host/v1", "http://host:port", "http://[::1", "https://", "http://host:99999", "https://a host")
BASE_URLS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL"}


@pytest.mark.parametrize(
    ("value", "sdk", "face"),
    covering(
        ["host/v1", "http://host:port", "http://[::1", "https://", "http://host:99999", "https://a host"],
        BASE_URLS,
        FACES,
    ),
)
def test_base_urls(value: str, sdk: str, face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address of a vendor is read from the environment, too."""
    monkeypatch.setenv(BASE_URLS[sdk], value)
    with pytest.raises(EmitterError) as caught:
        FACES[face](MODELS[sdk])
    check(caught.value, BASE_URLS[sdk], "Write http")


AWS_SETTINGS = {
    "AWS_PROFILE": "absent",
    "AWS_CONFIG_FILE": "{tmp}/broken.pem",
    "AWS_SHARED_CREDENTIALS_FILE": "{tmp}/broken.pem",
    "AWS_DEFAULT_REGION": "no region!",
    "AWS_RETRY_MODE": "never",
    "AWS_ENDPOINT_URL": "host",
    "AWS_DEFAULTS_MODE": "none",
    "AWS_METADATA_SERVICE_TIMEOUT": "soon",
    "HTTPS_PROXY": "socks5://127.0.0.1:9",
    "SSLKEYLOGFILE": "{tmp}/absent/keys",
}


@pytest.mark.parametrize(("name", "face"), covering(AWS_SETTINGS, FACES))
def test_settings_of_boto3(name: str, face: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """boto3 reads its settings, and those of the proxies, when a client is created."""
    if name == "AWS_DEFAULT_REGION":
        monkeypatch.delenv("AWS_REGION")
    if name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_METADATA_SERVICE_TIMEOUT"):
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv(name, AWS_SETTINGS[name].format(tmp=tmp_path))
    with pytest.raises(EmitterError) as caught:
        FACES[face](MODELS["bedrock"])
    check(caught.value, name, "remove")


def test_a_client_of_the_callers_that_fails_when_it_sends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """boto3 reads the file of a role's token with the first request. Another call would not find it either."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/reader")
    client = boto3.client("bedrock-runtime", region_name="eu-central-1")
    with pytest.raises(ClientFailed) as caught:
        emit(FORM, "How many?", model=MODELS["bedrock"], client=client)
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert len(caught.value.attempts) == 1
    assert caught.value.usage.total == 0


BAD_KEYS = {
    "typographic-quotes": ("\u201csk-secret\u201d", "U+201C (LEFT DOUBLE QUOTATION MARK)"),
    "quotes": ('"sk-secret"', "U+0022 (QUOTATION MARK)"),
    "zero-width": ("sk-\u200bsecret", "U+200B (ZERO WIDTH SPACE)"),
    "non-breaking": ("sk-\u00a0secret", "U+00A0 (NO-BREAK SPACE)"),
    "letter": ("sk-s\u00e9cret", "U+00E9 (LATIN SMALL LETTER E WITH ACUTE)"),
    "control": ("sk-\x1bsecret", "U+001B (a control character)"),
}
PLACES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}


@pytest.mark.parametrize("name", BAD_KEYS)
@pytest.mark.parametrize("sdk", HTTPX)
def test_a_character_that_no_key_has_is_named(sdk: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its place, before anything is sent, and without the key."""
    key, character = BAD_KEYS[name]
    monkeypatch.setenv(PLACES[sdk], key)
    with pytest.raises(InputError, match="which no key has") as raised:
        emit(FORM, "How many?", model=MODELS[sdk])
    with pytest.raises(InputError, match="The key in api_key") as given, Emitter(MODELS[sdk], api_key=key) as emitter:
        emitter.emit(FORM, "How many?")

    assert f"The key in {PLACES[sdk]} has the character {character}" in str(raised.value)
    assert not any("secret" in str(each.value) or "cret" in str(each.value) for each in (raised, given))


@pytest.mark.parametrize("key", ["  sk-secret\n", "sk-secret\r\n"])
def test_blanks_around_a_key_are_left_out(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file ends with a line break."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    client: Any = create_client(find_profile(MODELS["openai"])[0], asynchronous=False)
    with client:
        assert client.api_key == "sk-secret"
