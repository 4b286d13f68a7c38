"""What users install: the wheel, built and run in a fresh environment without `src`."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from naru.web.console.pages import FILES
from tests.deploy.environments import ROOT, clean_environment, run


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_console_the_migrations_and_the_types_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"naru/web/console/static/{name}" for name in FILES} | {"naru/py.typed"}
    wanted |= {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "naru").rglob("*.sql")}
    wanted |= {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "naru").rglob("*.py")}
    assert wanted <= names
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"naru", "naru_hub"}
    assert not [name for name in names if "__pycache__" in name]
    metadata = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "any model" in metadata.lower()


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and the locked versions of what it needs."""
    return clean_environment(tmp_path_factory.mktemp("fresh"), str(wheel))


@pytest.mark.slow
def test_the_installed_commands_run_without_the_source(installed: Path) -> None:
    where = run(installed, "python", "-c", "import naru; print(naru.__file__)")
    assert where.stdout.startswith(str(installed / "venv")), where.stderr
    assert run(installed, "naru", "--version").stdout.startswith("naru ")
    assert "serve" in run(installed, "naru", "--help").stdout
    read = run(installed, "naru", "parse", "--tools", "f", text='{"name": "f", "arguments": {"x": 1}}')
    assert '"x"' in read.stdout, read.stderr
    added = run(installed, "naru", "servers", "add", "docs", "https://host/mcp")
    assert added.returncode == 0, added.stderr
    assert "docs" in run(installed, "naru", "servers", "list").stdout
    assert run(installed, "naru", "audit", "verify").returncode == 0


@pytest.mark.slow
def test_the_installed_package_serves_its_console_and_its_own_tools(installed: Path) -> None:
    program = """
import asyncio, pathlib, tempfile
from naru.config import Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app

async def get(app, path):
    sent = []
    async def send(message): sent.append(message)
    async def receive(): return {"type": "http.request"}
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
             "headers": [(b"host", b"127.0.0.1:20006")], "server": ("127.0.0.1", 20006), "client": ("127.0.0.1", 1)}
    await app(scope, receive, send)
    return sent[0]["status"], b"".join(one.get("body", b"") for one in sent)

async def main():
    settings = Settings.model_validate({"hub": {"demo": True}})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        status, page = await get(app.asgi, "/")
        assert status == 200 and b"<script" in page, page[:200]
        assert await hub.manager.connect("hr"), hub.manager.explain("hr")
        print(len(hub.manager.tools("hr")), "tools")

asyncio.run(main())
"""
    done = run(installed, "python", "-c", program)
    assert "4 tools" in done.stdout, done.stderr[-2000:]
