"""Installing: what the documents say works in a clean environment, and no text names somebody else's package (N24)."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from naru import extras
from naru.extras import DISTRIBUTION, install_command
from tests.deploy.environments import ROOT, clean_environment, run, serve, uv

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = sorted(PYPROJECT["project"]["optional-dependencies"])
TEXTS = sorted(
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "docs/**/*.yaml",
        "src/**/*.py",
        "deploy/**/*",
        "Dockerfile",
        "compose.yaml",
    )
    for path in ROOT.glob(pattern)
    if path.is_file()
)
INSTALL = re.compile(r"\b(?:pip|uv|pipx)3?(?: tool)? (?:install|inject|wheel)\b(?P<rest>[^`\n]*)")
FOREIGN = re.compile(r"(?<![\w./\\-])naru(?:\[|(?=['\"`\s;,]|$))")
"""`naru` as a requirement: not a path, not `naru-hub`."""


def documented() -> list[str]:
    """Return the install lines of the documents, each once, that install Naru from the clone."""
    pages = [path for path in TEXTS if path.suffix == ".md" and "decisions" not in path.parts]
    found = {one.group().strip() for path in pages for one in INSTALL.finditer(path.read_text(encoding="utf-8"))}
    return sorted(line for line in found if re.search(r"(?:^|[\s'])\.(?:\[|$|\s)", line) and "/" not in line)


def test_the_distribution_has_a_name_of_its_own() -> None:
    assert PYPROJECT["project"]["name"] == DISTRIBUTION != "naru"
    assert set(PYPROJECT["project"]["scripts"]) >= {"naru"}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_text_installs_somebody_elses_package(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wrong = [one.group() for one in INSTALL.finditer(text) if FOREIGN.search(one.group("rest"))]
    assert not wrong, f"`naru` on the index is a stranger's: say '.[extra]' or {DISTRIBUTION}"


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        ({"url": "file:///src/naru", "dir_info": {"editable": True}}, "-e '/src/naru[redis]'"),
        ({"url": "file:///src/my%20naru", "dir_info": {}}, "'/src/my naru[redis]'"),
        (
            {"url": "file:///d/naru_hub-1-py3-none-any.whl", "archive_info": {}},
            "'/d/naru_hub-1-py3-none-any.whl[redis]'",
        ),
        (
            {"url": "https://git.example/naru", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "'naru-hub[redis] @ git+https://git.example/naru@abc'",
        ),
        ({}, "'naru-hub[redis]'"),
    ],
    ids=["editable clone", "folder with a blank", "wheel", "repository", "index"],
)
def test_an_extra_is_installed_from_where_naru_came(
    origin: dict[str, object], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "_origin", lambda: origin)
    command = install_command("redis")
    assert command.endswith(wanted)
    assert shlex.split(command)[-1] == shlex.split(wanted)[-1]
    assert sys.executable in command


@pytest.mark.slow
@pytest.mark.parametrize("line", documented())
def test_a_documented_line_installs_a_naru_that_runs(line: str, tmp_path: Path) -> None:
    words = shlex.split(line)
    requirement = words[-1]
    if "wheel" in words:
        made = uv(tmp_path, "build", "--wheel", "--out-dir", str(tmp_path / "dist"), str(ROOT))
        assert made.returncode == 0, made.stderr
        assert [path.suffix for path in (tmp_path / "dist").glob("naru_hub-*")] == [".whl"]
        return
    from_here = str(ROOT) + requirement.removeprefix(".")
    dry = ["--dry-run"] if "1.5b" in line else []  # A gigabyte: `make model-1.5b` is what installs it here.
    folders = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    if words[:2] == ["uv", "tool"]:
        done = uv(tmp_path, "tool", "install", "--python", sys.executable, from_here, env=folders)
        program = tmp_path / "bin" / "naru"
    elif words[0] == "pipx":
        homes = {
            "PIPX_HOME": str(tmp_path / "pipx"),
            "PIPX_BIN_DIR": str(tmp_path / "bin"),
            "PIPX_DEFAULT_BACKEND": "uv",
        }
        run = ("tool", "run", "--with", "uv", "--from", "pipx", "pipx", "install", "--python", sys.executable)
        done = uv(tmp_path, *run, from_here, env=folders | homes)
        program = tmp_path / "bin" / "naru"
    else:
        uv(tmp_path, "venv", "--python", sys.executable, str(tmp_path / "venv"))
        done = uv(tmp_path, "pip", "install", *dry, "--python", str(tmp_path / "venv"), from_here)
        program = tmp_path / "venv" / "bin" / "naru"
    assert done.returncode == 0, done.stderr[-2000:]
    if not dry:
        said = subprocess.run([str(program), "--version"], capture_output=True, text=True, timeout=120, check=True)
        assert said.stdout.startswith("naru ")


WITHOUT_EXTRAS: list[tuple[str, ...]] = [
    ("data", "check"),
    ("data", "search", "x"),
    ("data", "index", "words.txt"),
    ("data", "index", "words.pdf"),
    ("data", "index", "--database", "duckdb:none.duckdb"),
    ("data", "index", "--database", "mysql://nobody@127.0.0.1:1/none"),
    ("data", "index", "--database", "postgresql://nobody@127.0.0.1:1/none"),
    ("data", "reader-sql"),
    ("serve", "data", "--port", "0"),
    ("tool", "run", "data__serialize_for_cell", '{"data": "x"}'),
    ("doctor",),
    ("tools",),
    ("servers", "list"),
    ("probe",),
    ("chat", "hello"),
    ("demo", "--questions", "1"),
    ("serve", "--port", "0"),
    ("serve", "--port", "0", "--base-url", "http://127.0.0.1:1/v1", "--config", "redis.yaml"),
    ("serve", "--port", "0", "--base-url", "http://127.0.0.1:1/v1", "--config", "postgres.yaml"),
    ("serve", "--port", "0", "--base-url", "http://127.0.0.1:1/v1", "--config", "traces.yaml"),
    ("serve", "--port", "0", "--base-url", "http://127.0.0.1:1/v1", "--config", "documents.yaml"),
    ("serve", "--port", "0", "--base-url", "http://127.0.0.1:1/v1", "--config", "gemini.yaml"),
]
SETTINGS = {
    "redis.yaml": "model: {limits: {requests_per_minute: 5, redis_url: 'redis://127.0.0.1:1/0'}}",
    "postgres.yaml": "hub: {store: 'postgresql://nobody@127.0.0.1:1/none'}",
    "traces.yaml": "telemetry: {traces: otlp, endpoint: 'http://127.0.0.1:1/v1/traces'}",
    "documents.yaml": "agent: {retrieved_documents: 3}",
    "gemini.yaml": "model: {api: gemini, api_key: made-up}",
}


OF_EXTRA = {
    "duckdb": "duckdb",
    "mysql": "mysql",
    "documents": "pdf",
    "redis": "redis",
    "telemetry": "traces",
    "gemini": "gemini",
    "local": "chat",
    "postgres": "postgres",
    "embedded-postgres": "check",
    "embed": "search",
}
"""Extra → what stands in the commands that use it; with none at all every command is run."""


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["", *(name for name in EXTRAS if not name.startswith("demo"))])
def test_each_extra_alone_is_enough_for_a_clear_line(extra: str, tmp_path: Path) -> None:
    """No command is a traceback for want of another extra; what one needs is named with the command that brings it."""
    folder = clean_environment(tmp_path, f"{ROOT}[{extra}]" if extra else str(ROOT))
    for name in ("words.txt", "words.pdf"):
        (folder / name).write_text("one\ntwo\n", encoding="utf-8")
    for name, text in SETTINGS.items():
        (folder / name).write_text(text, encoding="utf-8")
    own = OF_EXTRA.get(extra, "")
    for command in [one for one in WITHOUT_EXTRAS if own in " ".join(one)]:
        if command[0] == "serve":
            ended = serve(folder, *command[1:])
            code, told = ended.code, ended.told
        else:
            done = run(folder, "naru", *command)
            code, told = done.returncode, done.stdout + done.stderr
        shown = f"naru {' '.join(command)} with [{extra}]: {code}\n{told}"
        assert "Traceback" not in told, shown
        assert code in {0, 1, 2, 3, 4, 5}, shown
        if code:
            assert told.strip(), shown
        if "not installed" in told or "needs the" in told:
            assert re.search(rf"install .*{re.escape(str(ROOT))}\[[a-z0-9,.-]+\]", told), shown
