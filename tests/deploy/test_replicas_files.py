"""What runs several hubs: compose and Kubernetes files, checked by what reads them (issue 21 line 5)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from naru.config import Settings, load_settings
from tests.deploy.test_files import is_setting

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
COMPOSE = ROOT / "deploy" / "replicas" / "compose.yaml"
PAGE = ROOT / "docs" / "how-to" / "replicas.md"


def manifest(name: str) -> dict[str, Any]:
    found = yaml.safe_load((KUBERNETES / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


RESOURCES = [name for name in manifest("kustomization.yaml")["resources"] if isinstance(name, str)]


@pytest.mark.parametrize("version", ["1.31", "1.37"])
@pytest.mark.parametrize("name", RESOURCES)
def test_every_resource_is_what_kubernetes_schemas_say_and_nothing_more(name: str, version: str) -> None:
    kubernetes_validate.validate(manifest(name), version, strict=True)


def test_the_kustomization_names_every_file_and_no_other() -> None:
    there = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml", "naru.yaml"}
    assert there == set(RESOURCES)
    generated = manifest("kustomization.yaml")
    assert generated["configMapGenerator"][0]["files"] == ["naru.yaml"]
    assert generated["secretGenerator"][0]["envs"] == ["secrets.env"]


def test_hubs_run_without_rights_and_each_knows_when_it_may_be_asked() -> None:
    pod = manifest("deployment.yaml")["spec"]["template"]["spec"]
    hub = pod["containers"][0]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert hub["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    probes = {kind: hub[kind]["httpGet"]["path"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert probes == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    assert pod["terminationGracePeriodSeconds"] > 30 + 3, "requests under way get 30 seconds"


def test_the_parts_select_the_same_hubs() -> None:
    labels = manifest("deployment.yaml")["spec"]["template"]["metadata"]["labels"]
    assert manifest("service.yaml")["spec"]["selector"] == labels
    assert manifest("disruption.yaml")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("network.yaml")["spec"]["podSelector"]["matchLabels"] == labels
    assert manifest("scaling.yaml")["spec"]["scaleTargetRef"]["name"] == manifest("deployment.yaml")["metadata"]["name"]


def test_its_settings_are_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in (KUBERNETES / "secrets.env.example").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        assert is_setting(name), name
        monkeypatch.setenv(name, value)
    given = tmp_path / "naru.yaml"
    given.write_text((KUBERNETES / "naru.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    given.chmod(0o600)
    settings = load_settings(given)
    assert settings.hub.replica_address == "auto"
    assert settings.hub.store.startswith("postgresql://")


def compose() -> dict[str, Any]:
    command = shutil.which("docker-compose")
    if command is None:
        pytest.skip("docker-compose is missing: apt-get install docker-compose")
    secrets = {"POSTGRES_PASSWORD": "p", "NARU_SERVER__API_KEY": "k" * 40}
    done = subprocess.run(
        [command, "-f", str(COMPOSE), "config"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **secrets},
    )
    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_compose_reads_the_file_of_three_hubs() -> None:
    hub = compose()["services"]["naru"]
    assert hub["deploy"]["replicas"] == 3
    names = list(hub["environment"])
    assert all(is_setting(name) for name in names), names
    assert hub["environment"]["NARU_HUB__REPLICA_ADDRESS"] == "auto"
    assert hub["read_only"] is True
    values = {
        name.removeprefix("NARU_").lower(): value for name, value in hub["environment"].items() if value is not None
    }
    nested: dict[str, Any] = {}
    for name, value in values.items():
        section, _, field = name.partition("__")
        nested.setdefault(section, {})[field] = yaml.safe_load(value) if str(value).startswith("[") else value
    Settings.model_validate(nested)


@pytest.mark.slow
def test_nginx_takes_the_file_before_several_hubs(tmp_path: Path) -> None:
    nginx = shutil.which("nginx")
    if nginx is None:
        pytest.skip("nginx is missing: apt-get install nginx")
    site = (
        (ROOT / "deploy" / "replicas" / "nginx.conf")
        .read_text(encoding="utf-8")
        .replace("server naru:20006", "server 127.0.0.1:1")
    )
    (tmp_path / "site.conf").write_text(site, encoding="utf-8")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"pid {tmp_path}/pid; events {{}}\nhttp {{ {temporary} include {tmp_path}/site.conf; }}\n", encoding="utf-8"
    )
    done = subprocess.run(
        [nginx, "-t", "-c", str(config), "-p", str(tmp_path), "-e", str(tmp_path / "errors")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    body = re.search(r"return 502 '(.*)';", site)
    assert body is not None
    assert yaml.safe_load(body[1])["code"] == "hub_gone"


def test_the_page_names_the_files_that_there_are() -> None:
    for name in re.findall(r"\(\.\./\.\./(deploy/[^)]+)\)", PAGE.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name
