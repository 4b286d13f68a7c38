"""Every block of the documents that gives no reason is run, as a reader would, against a hub that really serves.

The model is a fake that always says the same; the answers of a real one are the journeys' business.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, Block, blocks
from tests.docs.fake_model import MODEL, fake_model
from tests.ports import free_port

BIN = Path(sys.executable).parent
SERVES = re.compile(r"\bnaru serve\b")
pytestmark = pytest.mark.slow


@dataclass
class Reader:
    """Somebody who tries what the documents say, in a home of their own."""

    home: Path
    port: int
    model_url: str
    tried: set[str] = field(default_factory=set)
    """What served or ran once already, on whatever page: the same line is not tried again."""

    def tries_anew(self, text: str) -> bool:
        """Tell whether this was not tried before."""
        is_new = text not in self.tried
        self.tried.add(text)
        return is_new

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.home / 'bin'}:{BIN}:/usr/bin:/bin",
            "HOME": str(self.home),
            "NARU_SERVER__PORT": str(self.port),
            "NARU_MODEL__BASE_URL": self.model_url,
            "NARU_MODEL__MODEL": MODEL,
            "NARU_AGENT__MODEL_TIMEOUT_SECONDS": "10",
            "NARU_HUB__DATA_DIR": str(self.home / "data"),
            "DOCS_TOKEN": "token",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def of_mine(self, text: str) -> str:
        """Put this hub's port, and a program that is there, in place of the documents'."""
        return text.replace(":20006", f":{self.port}").replace(".venv/bin/naru", "naru")

    def shell(self, command: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-ec", self.of_mine(command)],
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def serve(self, command: str, folder: Path) -> None:
        """Run a command that serves until it says so, then stop it as Ctrl-C does."""
        own = {"NARU_SERVER__PORT": "0", "NARU_HUB__STORE": "memory:"}
        # A hub that others can reach makes keys, and the one that is read about beside it would ask for them, too.
        environment = self.environment | own | {"NARU_HUB__DATA_DIR": str(self.home / "served")}
        with subprocess.Popen(
            ["bash", "-ec", f"exec {command}" if "=" not in command.split()[0] else f"env {command}"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        ) as child:
            assert child.stderr is not None
            said = []
            for line in child.stderr:
                said.append(line)
                if "Naru serves" in line:
                    break
            else:
                pytest.fail(f"{command}: {''.join(said)}")
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=90)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A hub with the demo server, as `naru serve --demo` of the README starts it."""
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    with fake_model() as url:
        someone = Reader(home, free_port(), url)
        with subprocess.Popen(
            [str(BIN / "naru"), "serve", "--demo"],
            cwd=home,
            env=someone.environment,
            stderr=subprocess.PIPE,
            text=True,
        ) as hub:
            try:
                wait_until_it_answers(someone.port)
                yield someone
            finally:
                hub.send_signal(signal.SIGTERM)
                hub.communicate(timeout=90)


def wait_until_it_answers(port: int) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail("the hub did not come up")


def runnable(*languages: str) -> list[Block]:
    return [block for block in blocks() if block.language in languages and not block.reason]


PAGES = sorted({block.page for block in runnable("sh", "console", "python") if not block.page.startswith("docs/ko/")})
"""Those of `docs/ko` have the same blocks (`test_korean.py`)."""


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_works(page: str, reader: Reader, tmp_path: Path) -> None:
    prepare(tmp_path)
    for block in runnable("sh", "console", "python"):
        if block.page != page:
            continue
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python" and reader.tries_anew(block.text):
            run_python(block, reader, tmp_path)
        elif block.language != "python":
            run_commands(block, reader, tmp_path)


def prepare(folder: Path) -> None:
    """Lay out what the documents take for granted."""
    (folder / "mcp.json").write_text(
        '{"mcpServers": {"memo": {"url": "https://memo.example.com/mcp"}}}', encoding="utf-8"
    )
    (folder / "notes").mkdir()
    (folder / "notes" / "island.md").write_text(
        "# The island\n\n## Ferry\n\nThe ferry leaves at nine from pier two.\n", encoding="utf-8"
    )
    with contextlib.closing(sqlite3.connect(folder / "shop.db")) as shop, shop:
        shop.execute("create table products (name text, price integer)")
        shop.executemany("insert into products values (?, ?)", [("pen", 1200), ("book", 9000)])
    (folder / "reply.txt").write_text("It is warm in Busan.", encoding="utf-8")
    (folder / ".cursor").mkdir()
    shutil.copy(folder / "mcp.json", folder / ".cursor" / "mcp.json")


def run_commands(block: Block, reader: Reader, folder: Path) -> None:
    for command in block.commands():
        if SERVES.search(command):
            if reader.tries_anew(command):
                reader.serve(reader.of_mine(command), folder)
            continue
        done = reader.shell(command, folder)
        # 1 is an outcome (a check that found something), not a command that does not work.
        fine = (0, 1) if re.search(r"naru (doctor|validate|servers check)", command) else (0,)
        assert done.returncode in fine, f"{block.id}: {command}\n{done.stdout}\n{done.stderr}"
        if command.startswith("curl"):
            problem = re.search(r'"urn:naru:(\w+)"', done.stdout)
            # A server of the documents that is not there cannot be connected, and the answer says so.
            assert problem is None or problem[1] == "not_connected", f"{block.id}: {command}\n{done.stdout}"
        if block.language == "console":
            expected = block.text.split(f"$ {command}\n", 1)[1].split("$ ", 1)[0].strip()
            assert expected in done.stdout, f"{block.id}: {command}\n{done.stdout}"


def run_python(block: Block, reader: Reader, folder: Path) -> None:
    (folder / "block.py").write_text(reader.of_mine(block.text), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "block.py"],
        cwd=folder,
        env=reader.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{block.id}\n{done.stderr}"
    assert done.stdout.strip() or "print(" not in block.text, block.id


def test_every_example_is_run_by_a_test_or_says_why_not() -> None:
    for path in (ROOT / "examples").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        tested = any(path.stem in test.read_text(encoding="utf-8") for test in (ROOT / "tests").rglob("test_*.py"))
        assert tested or "Not run by a test:" in source, path.name


def test_the_agent_of_the_examples_answers(reader: Reader, tmp_path: Path) -> None:
    command = f"{sys.executable} {ROOT / 'examples' / 'agent.py'} --base-url {reader.model_url} --model {MODEL}"
    done = reader.shell(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "→ price {'product': 'pen'}" in done.stdout
    assert "A pen costs 1200 won." in done.stdout.partition("← 1200")[2]
    assert "(answered)" in done.stdout
