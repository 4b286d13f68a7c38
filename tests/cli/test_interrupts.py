"""Ctrl-C and closed streams: every command ends at once, with its exit code, and without a traceback (R-42)."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.fake_model import ANSWER, fake_model

from naru.cli.terminal.exit_codes import Exit

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent
HANG_SECONDS = 90.0


class Terminal:
    """A program on a terminal of its own: wait for what it says, type, read its exit code."""

    def __init__(self, *command: str, environment: dict[str, str]) -> None:
        ours, theirs = pty.openpty()
        self._ours = ours
        self.shown = ""
        # A session of its own, whose terminal sends it the signal when Ctrl-C is typed.
        code = (
            "import fcntl, os, sys, termios; os.setsid();"
            "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        os.close(theirs)

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + HANG_SECONDS
        while text not in self.shown:
            assert time.monotonic() < until, f"{text!r} was not shown: {self.shown}"
            if not self._read():
                pytest.fail(f"It ended before it showed {text!r}: {self.shown}")

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def ended(self) -> int:
        until = time.monotonic() + HANG_SECONDS
        while self._read():
            assert time.monotonic() < until, f"It still runs: {self.shown}"
        os.close(self._ours)
        code = self.process.wait(timeout=HANG_SECONDS)
        assert "Traceback" not in self.shown
        assert "Fatal" not in self.shown
        return code

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], 1.0)[0]:
            return True
        try:
            piece = os.read(self._ours, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    with fake_model() as url:
        yield {
            **os.environ,
            "HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path / "xdg"),
            "NARU_HUB__DATA_DIR": str(tmp_path / "data"),
            "NARU_MODEL__BASE_URL": url,
            "NARU_SERVER__PORT": "0",
            "TERM": "xterm",
        }


def test_a_talk_goes_on_until_ctrl_d(environment: dict[str, str]) -> None:
    chat = Terminal(str(BIN / "naru"), "chat", environment=environment)
    chat.wait_for("› ")
    chat.type("How many?\r")
    chat.wait_for(ANSWER)
    chat.type("\x04")
    assert chat.ended() == Exit.DONE


@pytest.mark.parametrize(
    ("command", "shows", "code"),
    [
        (("naru", "chat"), "› ", Exit.INTERRUPTED),
        (("naru", "import"), "[y/N]", Exit.INTERRUPTED),
        (("naru", "servers", "secret", "set", "a", "TOKEN"), "TOKEN:", Exit.INTERRUPTED),
        (("naru", "parse"), "then press Ctrl-D", Exit.INTERRUPTED),
        (("naru", "serve"), "Naru serves", Exit.DONE),
        (("naru", "serve", "hr"), "Naru serves", Exit.DONE),
        (("naru", "serve", "--stdio"), "Speaks MCP", Exit.DONE),
        (("naru", "serve", "hr", "--stdio"), "Speaks MCP", Exit.DONE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_ctrl_c_ends_it(
    environment: dict[str, str], tmp_path: Path, command: tuple[str, ...], shows: str, code: int
) -> None:
    file = tmp_path / "xdg" / "Claude" / "claude_desktop_config.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"a": {"url": "http://127.0.0.1:9/mcp"}}}), encoding="utf-8")
    if "secret" in command:  # which is asked for where there is a server for it
        added = Terminal(str(BIN / "naru"), "servers", "add", "a", "http://127.0.0.1:9/mcp", environment=environment)
        assert added.ended() == Exit.DONE
    program = Terminal(str(BIN / command[0]), *command[1:], environment=environment)
    program.wait_for(shows)
    program.type("\x03")
    assert program.ended() == code


def test_what_is_pasted_is_read_until_its_end(environment: dict[str, str]) -> None:
    program = Terminal(str(BIN / "naru"), "parse", environment=environment)
    program.wait_for("then press Ctrl-D")
    program.type("The first line\nand the second.\n")
    program.wait_for("and the second.")
    program.type("\x04")
    assert program.ended() == Exit.DONE
    assert r"'The first line\nand the second.\n'" in program.shown


# The kernel gives the signal to another thread, as it comes to nobody's wait when it is pressed before the wait began.
_ASKS = """
import signal, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
"""
_A_LINE = """
from naru.cli.terminal.output import confirmed
confirmed("Add it?", yes=False)
"""
_A_TEXT = """
from naru.cli.terminal.lines import pasted
try:
    pasted("Add it, then [y/N]")
except KeyboardInterrupt:
    print("Nothing was changed.")
"""


@pytest.mark.parametrize("asked", [_A_LINE, _A_TEXT], ids=["a line", "a text"])
def test_ctrl_c_ends_a_question_though_it_interrupts_no_read(environment: dict[str, str], asked: str) -> None:
    program = Terminal(sys.executable, "-c", _ASKS + asked, environment=environment)
    program.wait_for("[y/N]")
    program.type("\x03")
    program.wait_for("Nothing was changed.")
    os.kill(program.process.pid, signal.SIGKILL)
    program.process.wait(timeout=HANG_SECONDS)


@pytest.mark.parametrize("signal_of", ["SIGINT", "SIGTERM"])
def test_a_server_of_our_own_ends_with_a_signal_while_it_waits_in_stdin(
    environment: dict[str, str], signal_of: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "naru.builtins.hr.server"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        number = getattr(signal, signal_of)
        server.send_signal(number)
        assert server.wait(timeout=HANG_SECONDS) == 128 + number


@pytest.mark.parametrize(
    ("command", "closed", "told"), [("chat", "<&-", "No question came."), ("tools list", "<&- >&- 2>&-", "")]
)
def test_closed_streams_are_no_crash(environment: dict[str, str], command: str, closed: str, told: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{BIN / 'naru'} {command} {closed}"],
        env={**environment, "NARU_HUB__DEMO": "true"},  # a child, whose pipes must not become stdin
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.count("\n") == bool(told)
    assert done.stderr.startswith(told)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here (Linux has it)")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_stdout_is_one_line(environment: dict[str, str], unbuffered: str) -> None:
    done = in_a_shell("connect > /dev/full", {**environment, "PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == Exit.NOT_WELL
    assert done.stderr.count("\n") == 1
    assert "space" in done.stderr


def test_a_reader_that_has_gone_is_no_complaint(environment: dict[str, str]) -> None:
    """What stayed in the buffer was told of at the end, as "Exception ignored"."""
    done = in_a_shell("connect | true; echo ${PIPESTATUS[0]}", {**environment, "PYTHONUNBUFFERED": ""})
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_an_encoding_without_hangul_gives_json_all_the_same(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        'def add(a: int) -> int:\n    """두 수를 더한다 🛶."""\n    return a\n', encoding="utf-8"
    )
    done = in_a_shell(f"tool list -m {tmp_path / 'mine.py'} --json", {**environment, "PYTHONIOENCODING": "ascii"})
    assert json.loads(done.stdout)[0]["description"] == "두 수를 더한다 🛶."


def in_a_shell(command: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"{BIN / 'naru'} {command}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
