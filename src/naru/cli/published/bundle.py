"""MCPB bundles (`.mcpb`, earlier `.dxt`): a zip file with a manifest and a server in it.

A bundle comes from anywhere: every name in it stays below the folder it is laid into, links and devices are refused,
sizes are counted while they are unpacked, not believed, and nothing runs or is written before it was shown.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from naru.cli.published.inputs import Answers, Filling, Input
from naru.errors import ConfigError, NotFoundError
from naru.messages import JsonObject
from naru.stores.files.unusable import unusable

MAX_FILES = 20_000
MAX_BYTES = 1024 * 1024 * 1024
MAX_PACKED_BYTES = 512 * 1024 * 1024
MAX_MANIFEST_BYTES = 1024 * 1024
_PIECE = 1024 * 1024
_PLACEHOLDER = re.compile(r"\$\{(?:user_config\.)?([\w./-]+)\}")
_RESERVED = re.compile(r'[<>:"|?*\x00-\x1f\x7f]')
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What `zipfile` raises of a file that is cut, garbled, encrypted (RuntimeError) or packed in a way that it does not
know (NotImplementedError)."""
_RUNS = {"node": "node", "python": "python3"}


@dataclass(frozen=True, slots=True)
class Bundle:
    """An opened bundle: what its manifest says, and what the file is."""

    path: Path
    manifest: JsonObject
    sha256: str
    files: int
    bytes: int

    @property
    def title(self) -> str:
        """Return its name and version for a person."""
        return f"{self.manifest['name']} {self.manifest.get('version', '')}".strip()

    @property
    def folder_name(self) -> str:
        """Return the folder that it is laid into: of this very file and no other."""
        return f"{re.sub(r'[^a-z0-9-]+', '-', str(self.manifest['name']).lower())[:60]}-{self.sha256[:16]}"


def read_bundle(path: Path) -> Bundle:
    """Open a bundle and read its manifest; nothing is unpacked.

    Raises:
        NotFoundError: there is no such file.
        ConfigError: it is no bundle, or holds what no bundle may hold.
    """
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}.", remedy="Give the path of a .mcpb file.")
    if path.stat().st_size > MAX_PACKED_BYTES:
        raise _refused(path, f"it is larger than {MAX_PACKED_BYTES // 2**20} MiB")
    with _opened(path) as archive:
        members = archive.infolist()
        _check(path, members)
        try:
            with archive.open("manifest.json") as file:
                text = file.read(MAX_MANIFEST_BYTES + 1)
            manifest = json.loads(text) if len(text) <= MAX_MANIFEST_BYTES else None
        except KeyError:
            raise _refused(path, "it has no manifest.json") from None
        except (ValueError, RecursionError):
            manifest = None
    told = _checked(path, manifest)
    return Bundle(path, told, _digest(path), len(members), sum(one.file_size for one in members))


def inputs_of(bundle: Bundle) -> list[Input]:
    """Return what the manifest asks a person for (`user_config`)."""
    asked = bundle.manifest.get("user_config")
    found = []
    for name, one in asked.items() if isinstance(asked, dict) else ():
        if not isinstance(one, dict) or not re.fullmatch(r"[\w.-]{1,80}", name):
            continue
        default = one.get("default")
        told = [str(one[key]) for key in ("title", "description") if one.get(key)]
        found.append(
            Input(
                name,
                ": ".join(told),
                kind=str(one.get("type", "string")),
                is_required=bool(one.get("required")),
                is_secret=bool(one.get("sensitive")),
                is_repeated=bool(one.get("multiple")),
                default=() if default is None else _default(default),
            )
        )
    return found


def config_of(bundle: Bundle, answers: Answers, folder: Path) -> JsonObject:
    """Return the entry of the server as it will be registered, its files below `folder`. Raises ConfigError."""
    server = bundle.manifest["server"]
    launch = dict(server.get("mcp_config") or {})
    overrides = launch.get("platform_overrides")
    own = overrides.get(sys.platform) if isinstance(overrides, dict) else None
    launch |= own if isinstance(own, dict) else {}
    home = Path.home()
    places = {"__dirname": str(folder), "HOME": str(home), "pathSeparator": os.sep, "/": os.sep}
    places |= {name.upper(): str(home / name) for name in ("Desktop", "Documents", "Downloads")}
    filling = Filling(_PLACEHOLDER, answers, places)
    defaults = {
        name: [filling.text(text, f"user_config.{name}") for text in texts] for name, texts in answers.defaults.items()
    }
    filling = Filling(_PLACEHOLDER, Answers(answers.typed, defaults), places)
    if not launch.get("command"):
        launch = _usual(server)
    args = launch.get("args")
    config: JsonObject = {
        "command": filling.text(str(launch["command"]), "command"),
        "args": filling.arguments(args if isinstance(args, list) else [], "args"),
    }
    env = launch.get("env")
    if isinstance(env, dict) and env:
        filled = {str(name): filling.text(str(value), f"env.{name}") for name, value in env.items()}
        config["env"] = {name: value for name, value in filled.items() if value}
    return config


def unpack(bundle: Bundle, folder: Path) -> None:
    """Lay the bundle's files into a folder, whole or not at all; one that is there already is of the same file.

    Raises:
        ConfigError: the file is not what it says.
        StoreError: the folder cannot be written.
    """
    if folder.is_dir():
        return
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    except OSError as error:
        raise unusable(folder, error, what="The bundle cannot be unpacked") from error
    try:
        if _digest(bundle.path) != bundle.sha256:
            raise _refused(bundle.path, "it is not the file that was shown")
        with _opened(bundle.path) as archive:
            left = MAX_BYTES
            for member in archive.infolist():
                left = _lay(archive, member, fresh, left)
        fresh.rename(folder)
    except OSError as error:
        raise unusable(folder, error, what="The bundle cannot be unpacked") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _lay(archive: zipfile.ZipFile, member: zipfile.ZipInfo, fresh: Path, left: int) -> int:
    target = fresh / PurePosixPath(member.filename)
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        return left
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = 0o700 if (member.external_attr >> 16) & 0o100 else 0o600
    with archive.open(member) as source, target.open("xb") as file:
        left = _copy(source, file, left)
    target.chmod(mode)
    return left


def _copy(source: Any, file: BinaryIO, left: int) -> int:
    while piece := source.read(_PIECE):
        left -= len(piece)
        if left < 0:
            raise ConfigError(f"The bundle unpacks to more than {MAX_BYTES // 2**20} MiB.", remedy="Nothing was added.")
        file.write(piece)
    return left


def _check(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse names that lead elsewhere, what is no file, and more than a bundle can need."""
    if len(members) > MAX_FILES:
        raise _refused(path, f"it holds more than {MAX_FILES} files")
    if sum(one.file_size for one in members) > MAX_BYTES:
        raise _refused(path, f"it unpacks to more than {MAX_BYTES // 2**20} MiB")
    seen: set[str] = set()
    for one in members:
        name = one.filename
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts or name.startswith(("/", "\\")) or ".." in parts or "\\" in name or _RESERVED.search(name):
            raise _refused(path, f"a name in it leads elsewhere: {name[:120]!r}")
        kind = stat.S_IFMT(one.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _refused(path, f"{name[:120]!r} in it is a link or a device")
        if one.flag_bits & 0x1:
            raise _refused(path, f"{name[:120]!r} in it is encrypted")
        folded = "/".join(parts).casefold()
        if folded in seen:
            raise _refused(path, f"{name[:120]!r} is in it twice")
        seen.add(folded)


def _checked(path: Path, manifest: Any) -> JsonObject:
    if not isinstance(manifest, dict):
        raise _refused(path, "its manifest.json is no JSON object of a sensible size")
    server = manifest.get("server")
    if not isinstance(manifest.get("name"), str) or not manifest["name"] or not isinstance(server, dict):
        raise _refused(path, "its manifest names no server")
    launch = server.get("mcp_config")
    if launch is not None and not isinstance(launch, dict):
        raise _refused(path, "its manifest's mcp_config is no object")
    entry = str(server.get("entry_point") or "")
    if entry.startswith(("/", "\\", "-")) or ".." in PurePosixPath(entry).parts:
        raise _refused(path, f"its entry point leads elsewhere: {entry[:120]!r}")
    if not (launch or {}).get("command") and (server.get("type") not in (*_RUNS, "binary", "uv") or not entry):
        raise _refused(path, "its manifest does not say what to run")
    wanted = manifest.get("compatibility")
    platforms = wanted.get("platforms") if isinstance(wanted, dict) else None
    if isinstance(platforms, list) and platforms and sys.platform not in platforms:
        raise _refused(path, f"it is for {', '.join(map(str, platforms))}, and this is {sys.platform}")
    return manifest


def _usual(server: JsonObject) -> JsonObject:
    """Return how a kind of server is started where the manifest leaves it out."""
    entry = f"${{__dirname}}/{server['entry_point']}"
    if server["type"] == "binary":
        return {"command": entry}
    if server["type"] == "uv":
        return {"command": "uv", "args": ["run", "--directory", "${__dirname}", str(server["entry_point"])]}
    return {"command": _RUNS[str(server["type"])], "args": [entry]}


def _default(value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ("true" if value else "false",)
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise ConfigError(f"Tried to read {path}: {error.strerror or error}.", remedy="Check the file.") from error
    except _DAMAGED as error:
        raise _refused(path, f"it is no zip file: {error}") from error
    with archive:
        try:
            yield archive
        except _DAMAGED as error:
            raise _refused(path, f"it is damaged: {error}") from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refused(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{path} cannot be added: {why}.", remedy="Nothing was added. Get the file from its publisher anew."
    )
