"""A PostgreSQL server of the tests' own, in a folder that goes with it; needs the server's programs, nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEBIAN = Path("/usr/lib/postgresql")
_OPTIONS = "-c listen_addresses='' -c fsync=off -c shared_buffers=16MB -k {folder}"
"""Only its clients are killed, so it need not wait for the disk."""
_numbers = count()


@dataclass(frozen=True)
class Postgres:
    """A running server, reached through a socket in ``folder``."""

    folder: Path
    control: tuple[str, ...]
    user: str | None

    def stop(self) -> None:
        """Stop the server, as a restart does; its clients lose their connections."""
        _run(self.user, self.folder, *self.control, "-m", "fast", "-w", "stop")

    def start(self) -> None:
        """Start the server, with what it held."""
        options = _OPTIONS.format(folder=self.folder)
        _run(self.user, self.folder, *self.control, "-l", str(self.folder / "log"), "-w", "-o", options, "start")

    def url(self, schema: str | None = None) -> str:
        """Return the address of the database, and of a schema in it."""
        path = f"&options=-csearch_path%3D{schema}" if schema else ""
        return f"postgresql://emitter@/postgres?host={self.folder}{path}"

    def empty(self) -> str:
        """Return the address of a schema that holds nothing yet."""
        name = f"s{next(_numbers)}_{os.getpid()}"
        with self.connected() as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return self.url(name)

    def connected(self) -> psycopg.Connection:
        """Connect, beside any store."""
        return psycopg.connect(self.url(), autocommit=True)


@contextmanager
def running() -> Iterator[Postgres]:
    """Run a server; skip the test where there is none, or none that can be started."""
    initdb, control = (_program(name) for name in ("initdb", "pg_ctl"))
    user = _user()
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        if user is not None:
            shutil.chown(folder, user)
        data = str(folder / "data")
        _run(user, folder, initdb, "-D", data, "-A", "trust", "-U", "emitter", "-E", "UTF8", "--locale=C", "--no-sync")
        server = Postgres(folder, (control, "-D", data), user)
        server.start()
        try:
            yield server
        finally:
            _run(user, folder, control, "-D", data, "-m", "immediate", "-w", "stop")


def _program(name: str) -> str:
    found = [*sorted(_DEBIAN.glob(f"*/bin/{name}"), reverse=True), shutil.which(name)]
    if found[0] is None:
        pytest.skip("PostgreSQL's server is not installed")
    return str(found[0])


def _user() -> str | None:
    """Return whom to run it as: it refuses to be root's."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return None
    import pwd  # noqa: PLC0415  Windows has none

    known = {each.pw_name for each in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known), None)


def _run(user: str | None, folder: Path, *command: str) -> None:
    try:
        done = subprocess.run(  # noqa: PLW1510  its status is looked at below
            command, user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"PostgreSQL cannot be started here: {error}")
    if done.returncode:
        pytest.skip(f"PostgreSQL cannot be started here: {done.stderr.decode(errors='replace').strip()}")
