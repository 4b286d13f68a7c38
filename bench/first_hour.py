"""Walk the first hour as it is written down: each journey by the lines of its page, in a fresh home, timed.

    python bench/first_hour.py                     all of them, with the demo model
    python bench/first_hour.py folder database     those named

Prints a table: the lines that a person gives, seconds until the last has answered, and what was seen.
Needs the environment of `make demo`, npm, nginx, and port 20006, on which the pages are.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.certificates import make_certificates  # noqa: E402
from tests.deploy.test_proxy import nginx_command  # noqa: E402
from tests.docs.blocks import Block  # noqa: E402
from tests.docs.test_first_hour import blocks_under  # noqa: E402

HUB = "http://127.0.0.1:20006"
_LINE_SECONDS = 300
_NOTES = "# Timetable\n\nThe ferry to Jeju leaves at 08:40 from pier 3.\n\n# Food\n\nThe canteen opens at noon.\n"


class Person:
    """Somebody with a fresh home who gives the lines of a page."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self.lines = 0
        self.seconds = 0.0
        """What is taken for the journey's time, where not all of it is."""
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "NPM_CONFIG_CACHE": str(Path.home() / ".npm"),
            "PYTHONUTF8": "1",
        }

    def gives(self, line: str, folder: Path | None = None) -> str:
        """Run a line until it ends; return what it printed.

        Raises:
            SystemExit: it failed.
        """
        self.lines += 1
        done = subprocess.run(
            ["bash", "-ec", line], cwd=folder or self.home, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=_LINE_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{line}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout + done.stderr

    @contextlib.contextmanager
    def keeps_running(self, line: str, url: str = f"{HUB}/readyz") -> Iterator[Path]:
        """Start a line that serves, and wait until it answers; give its output's file."""
        self.lines += 1
        output = self.home / f"served-{self.lines}.log"
        with output.open("w") as log:
            process = subprocess.Popen(
                ["bash", "-ec", f"exec {line}"], cwd=self.home, env=self.environment,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                _wait(url, process, output)
                yield output
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGINT)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait(30)


def _wait(url: str, process: subprocess.Popen[bytes], output: Path) -> None:
    end = time.monotonic() + _LINE_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"it ended with {process.returncode}:\n{output.read_text(encoding='utf-8')[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError as error:
            if error.code not in {502, 503}:
                return  # it answers: it asks for a key
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"nothing answered at {url}:\n{output.read_text(encoding='utf-8')[-2000:]}")


def lines_of(page: str, heading: str = "") -> list[str]:
    """Return the shell lines of a page's part."""
    return [line for block in _blocks(page, heading, "sh") for line in block.commands()]


def _blocks(page: str, heading: str, *languages: str) -> list[Block]:
    return [block for block in blocks_under(page, heading) if block.language in languages]


def _seen(text: str, *wanted: str) -> str:
    for each in wanted:
        if not re.search(each, text):
            raise SystemExit(f"{each!r} was not seen in:\n{text[-3000:]}")
    return re.search(rf"[^\n]*{wanted[0]}[^\n]*", text)[0].strip()[:70]  # type: ignore[index]


# The journeys: each returns what showed that it worked.


def demo(person: Person) -> str:
    clone = person.home / "naru"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    person.environment["UV_CACHE_DIR"] = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
    return _seen(person.gives("make demo", clone), r"11 vacation days|\b11\b", "개발팀")


def own_function(person: Person) -> str:
    heading = "## Tools of your own, in Python"
    for block in _blocks("start/tasks.md", heading, "python"):
        (person.home / block.file).write_text(block.text, encoding="utf-8")
    person.lines += 1  # writing it
    serve, ask = lines_of("start/tasks.md", heading)
    with person.keeps_running(serve):
        return _seen(person.gives(ask), r"3[, ]?600")


def endpoint(person: Person) -> str:
    """Take another hub for the endpoint that somebody has: it is of OpenAI's form."""
    url = "http://127.0.0.1:21434"
    theirs = Person(person.home / "theirs")
    with theirs.keeps_running("naru serve --port 21434", f"{url}/readyz"):
        began = time.monotonic()
        line = lines_of("start/models.md", "## Ollama")[0]
        line = re.sub(r"--base-url \S+ --model \S+", f"--base-url {url}/v1 --model qwen2.5-coder-0.5b", line)
        with person.keeps_running(f"{line} --demo"):
            code = _blocks("start/clients.md", "## The openai package", "python")[0].text
            (person.home / "ask.py").write_text(code, encoding="utf-8")
            seen = _seen(person.gives("python ask.py"), r"\d+", "get_weather")
            person.seconds = time.monotonic() - began
            return seen


def claude_desktop(person: Person) -> str:
    """Say yes beforehand, as nobody is at a terminal."""
    settings = person.home / ".config" / "Claude" / "claude_desktop_config.json"
    settings.parent.mkdir(parents=True)
    (person.home / "data").mkdir()
    files = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", str(person.home / "data")]}
    settings.write_text(json.dumps({"mcpServers": {"files": files}}), encoding="utf-8")
    person.gives(*lines_of("start/clients.md", "## Claude Desktop"))
    return _seen(person.gives("naru import claude-desktop --yes"), "files")


def npm_server(person: Person) -> str:
    data = person.home / "data"
    data.mkdir()
    (data / "ferry.txt").write_text("08:40", encoding="utf-8")
    line = lines_of("start/tasks.md", "## Tools of others: MCP servers")[0].replace("/data", str(data))
    person.gives(line)
    return _seen(person.gives(f"naru tool run files__list_directory path={data}"), "ferry.txt")


def folder(person: Person) -> str:
    (person.home / "notes").mkdir()
    (person.home / "notes" / "ferry.md").write_text(_NOTES, encoding="utf-8")
    index, search, ask = lines_of("how-to/ask-a-folder.md")
    person.gives(index)
    _seen(person.gives(search), "08:40")
    return _seen(person.gives(ask), "0?8:40")


def database(person: Person) -> str:
    with sqlite3.connect(person.home / "shop.db") as shop:
        shop.execute("CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)")
        shop.executemany(
            "INSERT INTO products (name, price) VALUES (?, ?)", [("pen", 1200), ("cup", 900), ("bag", 9000)]
        )
    shop.close()
    check, ask = lines_of("how-to/ask-a-database.md")
    person.gives(check)
    return _seen(person.gives(ask), r"\b2\b|[Tt]wo")


def behind_nginx(person: Person) -> str:
    page = (ROOT / "docs" / "how-to" / "proxy.md").read_text(encoding="utf-8")
    settings = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert settings is not None
    place = person.home / ".config" / "naru" / "naru.yaml"
    place.parent.mkdir(parents=True)
    place.write_text("\n".join(line[3:] for line in settings[1].splitlines()), encoding="utf-8")
    with person.keeps_running("naru serve --demo"):
        name = "naru.example.com"
        person.environment["NARU_API_KEY"] = (
            (person.home / ".local/share/naru/admin.key").read_text(encoding="utf-8").strip()
        )
        certificates = make_certificates(person.home / "certificates", name)
        site = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8").replace("listen 443", "listen 21443")
        for kind, path in (("fullchain", certificates.certificate), ("privkey", certificates.key)):
            site = re.sub(rf"\S+/{kind}\.pem", str(path), site)
        command = nginx_command(person.home, site)
        subprocess.run([*command, "-t"], check=True, capture_output=True)
        with person.keeps_running(" ".join(command), "http://127.0.0.1:20006/readyz"):
            (line,) = re.findall(r"curl .*", page)
            there = f"--cacert {certificates.authority} --resolve {name}:21443:127.0.0.1"
            line = line.replace(f"https://{name}", f"https://{name}:21443")
            line = line.replace("curl ", f"curl -sSf --retry 9 --retry-connrefused {there} ")
            told = person.gives(line)
            person.lines = 5  # as they are numbered: settings, start, file, check and load, try
            return _seen(told, "qwen2.5-coder-0.5b")


def backup(person: Person) -> str:
    person.gives("naru servers add handbook https://handbook.example.com/mcp")
    person.lines = 0
    (line,) = lines_of("how-to/backup.md", "## Back up")
    person.gives(line)
    (kept,) = person.home.glob("naru-backup-*.tar.gz")
    shutil.rmtree(person.home / ".local/share/naru")
    (line,) = lines_of("how-to/backup.md", "## Put it back, or move to another machine")
    person.gives(re.sub(r"naru-backup-\S+", kept.name, line))
    seen = _seen(person.gives("naru servers list"), "handbook")
    person.lines = 2
    return seen


JOURNEYS: dict[str, Callable[[Person], str]] = {
    "demo": demo, "function": own_function, "endpoint": endpoint, "claude-desktop": claude_desktop, "npm": npm_server,
    "folder": folder, "database": database, "nginx": behind_nginx, "backup": backup,
}  # fmt: skip


def main() -> None:
    """Walk those that were named, and print what each took."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("journeys", nargs="*", choices=[*JOURNEYS, []])
    for name in arguments.parse_args().journeys or JOURNEYS:
        with tempfile.TemporaryDirectory(prefix="naru-first-hour-") as home:
            person = Person(Path(home))
            began = time.monotonic()
            seen = JOURNEYS[name](person)
            seconds = person.seconds or time.monotonic() - began
            print(f"{name:15} {person.lines} lines {seconds:6.1f} s   {seen}", flush=True)


if __name__ == "__main__":
    main()
