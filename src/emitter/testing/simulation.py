"""A vendor on this machine: a real HTTP server that speaks the four wires and does what it is told."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.client import make
from emitter.errors import InputError
from emitter.profile import of_model
from emitter.profile.model import Sdk
from emitter.testing.answers import DECODED
from emitter.testing.batches.desk import BatchDesk
from emitter.testing.ledger import Ledger
from emitter.testing.server import Server
from emitter.testing.serving import Application, Pace

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from emitter.testing.batches.store import Batches
    from emitter.testing.desk import Answers
    from emitter.testing.draft import Behaviour
    from emitter.testing.ledger import Call
    from emitter.wire import Usage

KEY = "simulated-key"


_ENVIRONMENT = {
    "OPENAI_BASE_URL": "{url}/v1",
    "OPENAI_API_KEY": KEY,
    "AZURE_OPENAI_ENDPOINT": "{url}",
    "AZURE_OPENAI_API_KEY": KEY,
    "ANTHROPIC_BASE_URL": "{url}",
    "ANTHROPIC_API_KEY": KEY,
    "GOOGLE_GEMINI_BASE_URL": "{url}",
    "GEMINI_API_KEY": KEY,
}


class Simulator:
    """A simulated vendor, running while its block does; made by ``simulator``."""

    def __init__(self, desk: BatchDesk, ledger: Ledger, pace: Pace, host: str, port: int) -> None:
        self._desk = desk
        self._ledger = ledger
        self._application = Application(desk, ledger, pace)
        self._host, self._port = host, port
        self._server: Server | None = None
        self._clients: list[Any] = []

    def __enter__(self) -> Self:
        if self._server is not None:
            raise InputError("This simulator is already running.", hint="Make another one.")
        self._server = Server(self._application, self._host, self._port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for close in self._closing():
            if not inspect.iscoroutinefunction(close):
                close()
        self._stop(error)

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for close in self._closing():
            closed = close()
            if inspect.isawaitable(closed):
                await closed
        await asyncio.to_thread(self._stop, error)

    def _closing(self) -> list[Callable[[], Any]]:
        return [close for client in self._clients for close in _closes(client)]

    def _stop(self, error: BaseException | None) -> None:
        self._clients.clear()
        if self._server is not None:
            self._server.stop()
            self._server = None
        raised = self._application.raised
        if raised and error is None:
            raise raised[0]

    @property
    def url(self) -> str:
        """The address of the server."""
        if self._server is None:
            raise InputError("The simulator is not running.", hint="Use it inside its `with` block.")
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._server.port}"

    def base_url(self, model: str) -> str:
        """Return the base URL for a client of a model's vendor; raises ``UnknownModel``."""
        profile, _ = of_model(model)
        plain = profile.client.sdk is not Sdk.OPENAI or profile.client.flavour.startswith("Azure")
        return self.url if plain else f"{self.url}/v1"

    def environment(self) -> dict[str, str]:
        """Return the environment variables that lead every vendor's SDK here."""
        return {name: value.format(url=self.url) for name, value in _ENVIRONMENT.items()}

    def client(self, model: str, *, asynchronous: bool = False, **http: Any) -> Any:
        """Return a client of the vendor's own SDK that asks here; it is closed with the simulator.

        ``http`` are options of the ``httpx2`` client that it sends through. An asynchronous one is closed only by
        ``async with``. Raises ``UnknownModel`` or ``MissingExtra``.
        """
        profile, _ = of_model(model)
        through = None
        if http:
            import httpx2  # noqa: PLC0415  only where it is asked for

            through = (httpx2.AsyncClient if asynchronous else httpx2.Client)(**http)
            self._clients.append(through)
        made = make(profile, asynchronous=asynchronous, base_url=self.base_url(model), api_key=KEY, http_client=through)
        self._clients.append(made)
        return getattr(made, "aio", made) if asynchronous else made

    def script(self, *behaviours: Behaviour) -> None:
        """Answer the next requests by these, in order of arrival; requests at fault themselves use none up.

        Raises ``InputError`` for what is no behaviour.
        """
        for each in behaviours:
            _check(each)
        self._desk.script.extend(behaviours)

    @property
    def batches(self) -> Batches:
        """The batches that arrived, and what is to happen to the next ones."""
        return self._desk.batches

    @property
    def calls(self) -> tuple[Call, ...]:
        """The requests that arrived, in order."""
        return self._ledger.calls

    @property
    def billed(self) -> Usage:
        """What the vendor would bill for all calls."""
        return self._ledger.billed

    def reset(self) -> None:
        """Forget the calls, the script, and which requests came before."""
        self._desk.reset()
        self._ledger.forget()


def _closes(client: Any) -> list[Callable[[], Any]]:
    """Return what closes a client: Google's has two halves, httpx2's async one another name for it."""
    halves = [getattr(client, "aio", None), client]
    return [getattr(each, "aclose", None) or each.close for each in halves if each is not None]


def _check(behaviour: object) -> None:
    if isinstance(behaviour, type) or not callable(getattr(behaviour, "plan", None)):
        raise InputError(f"{behaviour!r} is no behaviour.", hint="Pass an instance of one, such as Text('...').")


def _check_answers(answers: object) -> None:
    if isinstance(answers, Mapping):
        mixture = cast("Mapping[object, float]", answers)
        for each in mixture:
            _check(each)
        if not mixture or min(mixture.values()) < 0 or not 0 < sum(mixture.values()) < math.inf:
            raise InputError("A mixture needs weights of 0 or more, one of them above 0.")
    elif isinstance(answers, type) or not callable(answers):
        _check(answers)


def simulator(  # noqa: PLR0913  each is one property of the vendor
    *,
    seed: int = 0,
    answers: Answers = DECODED,
    latency: float = 0.0,
    tokens_per_second: float | None = None,
    check_schemas: bool = True,
    keep: int | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Simulator:
    """Return a simulated vendor, to be used in ``with`` or ``async with``.

    ``answers`` is what every request gets that no script answers: one behaviour, a mixture ``{behaviour: weight}``
    drawn by ``seed``, body and repetition (never by order of arrival), or a function of what is asked. ``latency``
    is in seconds before the first byte, ``keep`` how many calls are remembered (None: all), ``port`` 0 any free one.

    Raises ``InputError`` for answers that are none, and ``MissingExtra`` without uvicorn when the block begins.
    What a behaviour raises is answered with a 500 and raised again when the block ends.
    """
    _check_answers(answers)
    if latency < 0 or (tokens_per_second is not None and tokens_per_second <= 0):
        raise InputError("latency is 0 or more seconds, tokens_per_second above 0.")
    ledger = Ledger(keep)
    desk = BatchDesk(answers, ledger, seed=seed, check_schemas=check_schemas)
    return Simulator(desk, ledger, Pace(latency, tokens_per_second), host, port)
