"""A MariaDB of our own for tests: Debian's server in a folder, on a socket alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

START_SECONDS = 120
_PROGRAMS = ("/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db", "/usr/bin/mariadb")


@contextmanager
def mariadb(script: str, *options: str) -> Iterator[str]:
    """Start a server, run a script as root in database `bga`, and give the URL of the user `reader`."""
    if any(shutil.which(program) is None for program in _PROGRAMS):
        pytest.skip("MariaDB is missing: apt-get install mariadb-server")
    as_user = ["--user=mysql"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="naru-maria-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        data, socket = folder / "data", folder / "s"
        data.mkdir()
        if as_user:
            shutil.chown(folder, "mysql")
            shutil.chown(data, "mysql")
        # A server that starts removes the temporary tables that it finds in its folder for them, whoever's they are.
        common = ["--no-defaults", f"--datadir={data}", f"--tmpdir={folder}", *as_user]
        made = subprocess.run(
            ["/usr/bin/mariadb-install-db", *common, "--auth-root-authentication-method=normal", "--skip-test-db"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=START_SECONDS,
        )  # fmt: skip
        if made.returncode:
            pytest.fail(f"MariaDB's tables could not be made: {made.stdout[-2000:]}")
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                ["/usr/sbin/mariadbd", *common, f"--socket={socket}", f"--pid-file={folder / 'pid'}",
                 "--skip-networking", "--secure-file-priv=", *options],
                stdout=log, stderr=log,
            )  # fmt: skip
        try:
            _wait(server, socket, folder / "log")
            subprocess.run(
                ["/usr/bin/mariadb", "--no-defaults", f"--socket={socket}", "--user=root",
                 "--default-character-set=utf8mb4"],
                input=f"CREATE DATABASE bga CHARACTER SET utf8mb4; USE bga;\n{script}\n"
                "CREATE USER reader IDENTIFIED BY 'r'; GRANT SELECT ON bga.* TO reader;\n",
                text=True, check=True, capture_output=True, timeout=START_SECONDS,
            )  # fmt: skip
            yield f"mysql://reader:r@localhost/bga?unix_socket={quote(str(socket))}"
        finally:
            server.terminate()
            server.wait(START_SECONDS)


def _wait(server: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        ping = ["/usr/bin/mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "--execute=SELECT 1"]
        if socket.exists() and subprocess.run(ping, capture_output=True, timeout=START_SECONDS).returncode == 0:
            return
        time.sleep(0.1)
    pytest.fail(f"MariaDB did not start: {log.read_text(encoding='utf-8', errors='replace')[-800:]}")
