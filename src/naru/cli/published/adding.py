"""`naru servers add NAME weather.mcpb`, `… server.json`, `… registry:someone/weather`: shown, then registered."""

from __future__ import annotations

import json
import re
import shlex
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from naru.cli.checks.addresses import is_http
from naru.cli.published.bundle import config_of, inputs_of, read_bundle, unpack
from naru.cli.published.inputs import answer
from naru.cli.published.server_json import Published, read_server_json
from naru.cli.terminal.output import confirmed, plain, print_note
from naru.config import Settings
from naru.errors import ConfigError, ConnectionFailedError, NotFoundError
from naru.messages import JsonObject
from naru.stores.secrets.redact import masked_config

MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
_REGISTRY = "registry:"
_PUBLISHED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9._-]+")
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What was typed besides the name."""

    target: str
    given: Sequence[str]
    """`--set NAME=VALUE`."""
    way: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Found:
    """An entry to register, and what has to be done just before."""

    config: JsonObject
    description: str
    prepare: Callable[[], None]


def is_published(target: Sequence[str]) -> bool:
    """Tell whether what is to be added is a bundle, a `server.json`, or a name of a registry."""
    if len(target) != 1 or "://" in target[0]:
        return False
    return target[0].startswith(_REGISTRY) or Path(target[0]).suffix in (".mcpb", ".dxt", ".json")


def find(asked: Asked, settings: Settings) -> Found | None:
    """Return the entry of what was published, once the person has seen what will run; None when they said no.

    Raises:
        ConfigError: it cannot be used, or no registry is set.
        UserError: it needs something that was not given.
        NotFoundError: there is no such file, or the registry has no such server.
    """
    path = Path(asked.target).expanduser()
    if path.suffix in (".mcpb", ".dxt") and not asked.target.startswith(_REGISTRY):
        return _of_bundle(path, asked, settings)
    if asked.target.startswith(_REGISTRY):
        published = _of_registry(asked.target.removeprefix(_REGISTRY), settings.mcp.registry_url)
    else:
        published = _of_file(path)
    way = published.choose(asked.way)
    config = way.make(answer(way.inputs, asked.given))
    _show(f"{published.name} {published.version}".strip(), published.description, way.about, config)
    return Found(config, published.description, lambda: None) if confirmed("Add it?", yes=asked.is_sure) else None


def _of_bundle(path: Path, asked: Asked, settings: Settings) -> Found | None:
    bundle = read_bundle(path)
    folder = settings.hub.data_dir.expanduser().absolute() / "bundles" / bundle.folder_name
    config = config_of(bundle, answer(inputs_of(bundle), asked.given), folder)
    size = f"{bundle.files} files, {bundle.bytes / 1e6:.1f} MB, sha256 {bundle.sha256}"
    about = str(bundle.manifest.get("description") or "")
    _show(bundle.title, about, f"bundle {path} ({size})", config)
    if not confirmed("Add it?", yes=asked.is_sure):
        return None
    return Found(config, about, lambda: unpack(bundle, folder))


def _show(title: str, description: str, source: str, config: JsonObject) -> None:
    """Say what it is and what it would do; secrets are masked, foreign text steers no terminal."""
    shown = masked_config(config)
    lines = [f"{title}: {description[:300]}" if description else title, f"From: {source}"]
    if "url" in shown:
        lines.append(f"It is reached at {shown['url']}")
        lines += [f"  sends {name}: {value}" for name, value in shown.get("headers", {}).items()]
    else:
        lines.append("It runs on this machine, with your rights:")
        lines.append(f"  {shlex.join([str(shown['command']), *map(str, shown.get('args', []))])}")
        lines += [f"  with {name}={value}" for name, value in shown.get("env", {}).items()]
    print_note("\n".join(plain(line) for line in lines))


def _of_file(path: Path) -> Published:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_DOCUMENT_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.", remedy="Give the path of a server.json.") from None
    except OSError as error:
        raise ConfigError(f"Tried to read {path}: {error.strerror or error}.", remedy="Check the file.") from error
    document = _decoded(text, str(path))
    if isinstance(document, dict) and ("mcpServers" in document or "servers" in document):
        raise ConfigError(f"{path} is another product's list of servers.", remedy=f"Take it over: naru import {path}")
    return read_server_json(document, str(path))


def _of_registry(name: str, base: str) -> Published:
    if not _PUBLISHED_NAME.fullmatch(name):
        raise ConfigError(
            f"{name[:120]!r} is no name of a registry.", remedy="Such as registry:io.github.someone/weather."
        )
    if not base:
        raise ConfigError(
            f"No registry is set, so none was asked for {name}.",
            remedy="Set mcp.registry_url (NARU_MCP__REGISTRY_URL) to a registry's address.",
        )
    if not is_http(base):
        raise ConfigError(f"mcp.registry_url {base!r} is no http or https address.", remedy="Such as https://host.")
    url = f"{base.rstrip('/')}/v0.1/servers/{quote(name, safe='')}/versions/latest"
    request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310 - checked just above
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as reply:  # noqa: S310
            text = reply.read(MAX_DOCUMENT_BYTES + 1)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise NotFoundError(f"The registry {base} has no server {name}.", remedy="Check its name there.") from None
        raise ConnectionFailedError(f"The registry answered {error.code} at {url}.", remedy="Try later.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        raise ConnectionFailedError(
            f"No registry answers at {base}: {why}.", remedy="Check mcp.registry_url."
        ) from error
    return read_server_json(_decoded(text, url), url)


def _decoded(text: bytes, where: str) -> Any:
    if len(text) > MAX_DOCUMENT_BYTES:
        raise ConfigError(f"{where} is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB.", remedy="Nothing was added.")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where} is no JSON: {error}.", remedy="Nothing was added.") from error
