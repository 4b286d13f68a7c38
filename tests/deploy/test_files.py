"""Dockerfile, compose file and systemd unit: checked by what reads them, or by structure where nothing here does."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from naru.config import DataSettings, Settings

ROOT = Path(__file__).parent.parent.parent
SETTING = re.compile(r"NARU_[A-Z0-9_]+")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    joined = re.sub(r"\\\n\s*", "", text)
    lines = [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def is_setting(variable: str) -> bool:
    """Tell whether an environment variable is one that settings are read from."""
    if variable.lower() in DataSettings.model_fields:
        return True
    model: Any = Settings
    for part in variable.removeprefix("NARU_").lower().split("__"):
        fields = getattr(model, "model_fields", {})
        if part not in fields:
            return False
        model = fields[part].annotation
    return True


def test_every_source_that_the_image_copies_exists_and_is_not_ignored() -> None:
    allowed = [
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    ]
    for name, rest in instructions():
        if name != "COPY" or "--from" in rest:
            continue
        for source in shlex.split(rest)[:-1]:
            assert (ROOT / source).exists(), source
            assert any(fnmatch.fnmatch(source.removeprefix("./"), pattern) for pattern in allowed), source


def test_the_image_is_built_from_hashed_pins_in_two_stages_and_runs_without_rights() -> None:
    found = instructions()
    assert next(rest for name, rest in found if name == "FROM").endswith("AS build")
    assert all("/" not in rest.split()[0] for name, rest in found if name == "FROM"), "no registry host"
    installs = [rest for name, rest in found if name == "RUN" and "pip install" in rest]
    assert installs
    assert all("--require-hashes" in rest or "--no-deps" in rest for rest in installs)
    last = len(found) - 1 - [name for name, _ in reversed(found)].index("FROM")
    names = [name for name, _ in found[last:]]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert dict(found)["USER"] == "naru"
    assert not any(name == "ADD" for name, _ in found)


def test_what_is_run_as_json_is_json() -> None:
    for name, rest in instructions():
        if name in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(rest), list)
        if name == "HEALTHCHECK":
            assert isinstance(json.loads(rest[rest.index("[") :]), list)


@pytest.mark.parametrize("file", ["Dockerfile", "compose.yaml", "deploy/naru.service"])
def test_every_setting_that_a_file_sets_is_one(file: str) -> None:
    found = set(SETTING.findall((ROOT / file).read_text(encoding="utf-8")))
    assert found
    assert [name for name in found if not is_setting(name)] == []


def test_the_image_s_lock_has_the_versions_of_the_lock_that_is_tested() -> None:
    def pins(name: str) -> dict[str, str]:
        return dict(
            re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        )

    image, tested = pins("requirements-image.lock"), pins("requirements.lock")
    assert {name: version for name, version in image.items() if tested.get(name) != version} == {}
    assert {"mcp", "uvicorn", "hatchling", "psycopg"} <= image.keys()
    assert not any("pandas-sns" in name or "pytest" in name for name in image)


def test_the_compose_file_builds_this_image_on_loopback_without_rights() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    naru = services["naru"]
    assert (ROOT / naru["build"] / "Dockerfile").exists()
    assert all(port.startswith("127.0.0.1:") for port in naru["ports"])
    assert naru["read_only"] is True
    assert naru["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in naru["security_opt"]
    volumes = {volume.split(":")[0] for service in services.values() for volume in service["volumes"]}
    assert volumes == set(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["volumes"])


def test_a_container_engine_s_own_reader_takes_the_compose_file() -> None:
    if shutil.which("docker") is not None and _run(["docker", "compose", "version"]).returncode == 0:
        reader = ["docker", "compose"]
    elif shutil.which("docker-compose") is not None:
        reader = ["docker-compose"]
    else:
        pytest.skip("docker compose is not installed: apt-get install docker-compose")
    done = _run([*reader, "--profile", "postgres", "config", "--quiet"])
    assert done.returncode == 0, done.stderr


def test_the_unit_s_command_is_one_that_naru_has() -> None:
    (command,) = re.findall(
        r"^ExecStart=(.+)$", (ROOT / "deploy" / "naru.service").read_text(encoding="utf-8"), re.MULTILINE
    )
    words = shlex.split(command)
    assert words[1] == "serve"
    assert (
        "`--config" in (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8").split("## `naru serve`")[1]
    )


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    text = (ROOT / "deploy" / "naru.service").read_text(encoding="utf-8")
    unit = tmp_path / "naru.service"
    unit.write_text(text.replace("/opt/naru/bin/naru", str(Path(sys.executable).with_name("naru"))), encoding="utf-8")
    done = _run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)])
    complaints = [line for line in done.stderr.splitlines() if "naru.service" in line]
    assert complaints == []
    assert done.returncode == 0, done.stderr


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HOME": os.environ.get("HOME", "/")}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT, env=env)
