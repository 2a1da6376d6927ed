"""Real PostgreSQL and MariaDB servers of the tests' own, behind unix sockets, to be started, stopped, frozen and killed."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.driving.memory import folder_in_memory
from tests.driving.program import SECONDS, eventually
from tests.driving.redis_server import accepts_connections

UNPRIVILEGED = "nobody"
"""Who runs PostgreSQL where the tests are root, because it refuses to be."""


@dataclass
class DatabaseServer:
    """A server with its folder, which is made anew with it."""

    folder: Path = field(
        default_factory=lambda: Path(tempfile.mkdtemp(prefix="database-", dir=folder_in_memory()))
    )
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self.folder, UNPRIVILEGED)
        self._prepare()

    @property
    def url(self) -> str:
        """For SQLAlchemy."""
        raise NotImplementedError

    @property
    def socket(self) -> Path:
        raise NotImplementedError

    def start(self) -> None:
        """Start it (again), and wait until it listens."""
        with self._options() as options:
            self.process = process = subprocess.Popen(self._command(), **options)
        eventually(lambda: process.poll() is not None or self._answers())
        assert process.poll() is None, (self.folder / "server.log").read_text()

    def stop(self) -> None:
        """End it as its operator would, even if it is frozen."""
        self.thaw()
        self._signal(signal.SIGINT if isinstance(self, PostgresServer) else signal.SIGTERM)
        assert self.process is not None
        self.process.wait(SECONDS)

    def kill(self) -> None:
        """End it and all its connections without warning."""
        self._signal(signal.SIGKILL, everybody=True)
        assert self.process is not None
        self.process.wait(SECONDS)

    def freeze(self) -> None:
        """Let it stand still: its connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP, everybody=True)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT, everybody=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _prepare(self) -> None:
        """Make the files of an empty database."""
        raise NotImplementedError

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool:
        """Return whether it takes questions."""
        return accepts_connections(self.socket)

    @contextmanager
    def _options(self) -> Iterator[dict[str, Any]]:
        """Return how a program is started: in the folder, where it also logs, and not as root."""
        user = {"user": UNPRIVILEGED} if os.geteuid() == 0 else {}
        with (self.folder / "server.log").open("ab") as log:
            yield {"cwd": self.folder, "stdout": log, "stderr": log, **user}

    def _signal(self, what: signal.Signals, *, everybody: bool = False) -> None:
        assert self.process is not None
        for pid in [self.process.pid, *(_children_of(self.process.pid) if everybody else ())]:
            with suppress(ProcessLookupError):
                os.kill(pid, what)


class PostgresServer(DatabaseServer):
    """PostgreSQL, which has a process for each connection; a user `asks` would need a password."""

    @property
    def url(self) -> str:
        return f"postgresql+asyncpg://tester@/postgres?host={self.folder}"

    @property
    def socket(self) -> Path:
        return self.folder / ".s.PGSQL.5432"

    def _answers(self) -> bool:
        """Return whether it takes questions, which it does not while it looks through its files after a crash."""
        command = [program("pg_isready"), "-q", "-h", str(self.folder)]
        return subprocess.run(command, check=False).returncode == 0

    def _prepare(self) -> None:
        made = [program("initdb"), "-D", "database", "-U", "tester", "-A", "trust", "--no-sync"]
        how = ["--encoding", "UTF8", "--locale", "C.UTF-8", "--no-instructions"]
        with self._options() as options:
            subprocess.run([*made, *how], check=True, **options)
        access = self.folder / "database" / "pg_hba.conf"
        access.write_text(f"local all asks scram-sha-256\n{access.read_text()}")

    def _command(self) -> list[str]:
        fast = ["-c", "fsync=off", "-c", "max_connections=100"]
        return [program("postgres"), "-D", "database", "-k", str(self.folder), "-h", "", *fast]


@dataclass
class PgBouncer(DatabaseServer):
    """A pool of two connections to a PostgreSQL, in transaction mode."""

    behind: PostgresServer = field(kw_only=True)

    @property
    def url(self) -> str:
        return f"postgresql+asyncpg://tester@/postgres?host={self.folder}&port=6432"

    @property
    def socket(self) -> Path:
        return self.folder / ".s.PGSQL.6432"

    def stop(self) -> None:
        """End it at once; since 1.23 it would wait for its clients."""
        self.kill()

    def _prepare(self) -> None:
        settings = f"""
            [databases]
            * = host={self.behind.folder} user=tester
            [pgbouncer]
            unix_socket_dir = {self.folder}
            listen_port = 6432
            auth_type = any
            pool_mode = transaction
            default_pool_size = 2
        """
        lines = [line.strip() for line in settings.splitlines()]
        (self.folder / "pgbouncer.ini").write_text("\n".join(lines))

    def _command(self) -> list[str]:
        return [program("pgbouncer"), "pgbouncer.ini"]


class MariaServer(DatabaseServer):
    """MariaDB, as MySQL speaks."""

    @property
    def url(self) -> str:
        return f"mysql+asyncmy://{self._user}@/test?unix_socket={self.socket}&charset=utf8mb4"

    @property
    def socket(self) -> Path:
        return self.folder / "mariadb.sock"

    @property
    def _user(self) -> str:
        return UNPRIVILEGED if os.geteuid() == 0 else getpass.getuser()

    def _prepare(self) -> None:
        test = self.folder / "database" / "test"
        test.mkdir(parents=True)  # it has no system tables, and needs none without grants
        if os.geteuid() == 0:
            shutil.chown(test, UNPRIVILEGED)
            shutil.chown(test.parent, UNPRIVILEGED)

    def _command(self) -> list[str]:
        where = [
            f"--datadir={self.folder}/database",
            f"--socket={self.socket}",
            "--skip-networking",
        ]
        access = ["--skip-grant-tables", "--character-set-server=utf8mb4"]
        return [program("mariadbd"), "--no-defaults", *where, *access]


def program(name: str) -> str:
    """Return the path of a server's program; Debian keeps PostgreSQL's apart from all others."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folders = [os.environ["PATH"], *map(str, debian), "/usr/sbin"]
    found = shutil.which(name, path=os.pathsep.join(folders))
    assert found is not None, f"{name} is not installed; scripts/system-packages installs it"
    return found


def _children_of(pid: int) -> list[int]:
    """The processes that it has started."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(each) for each in found.stdout.split()]
