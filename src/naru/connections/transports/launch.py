"""What a stdio server is started with: command, environment, limits, parent-death signal; never a shell (S-23)."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from naru.config import environment as own_environment
from naru.connections.state.faults import Failure, LinkError
from naru.stores.secrets.values import secrets_of

if sys.platform != "win32":
    import resource

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_ELSEWHERE = (
    *("~/.local/bin", "~/.cargo/bin", "~/.volta/bin", "~/.asdf/shims", "~/.bun/bin", "~/.deno/bin", "~/.docker/bin"),
    *("~/.local/share/mise/shims", "~/.local/share/pnpm", "~/Library/pnpm", "~/.nix-profile/bin", "~/n/bin"),
    *("/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin"),
    "/Applications/Docker.app/Contents/Resources/bin",
)
"""Where user installs put programs that a desktop start or a service does not see."""
_VERSION_MANAGERS = (
    "~/.nvm/versions/node/*/bin",
    "~/.local/share/fnm/node-versions/*/installation/bin",
    "~/.pyenv/shims",
)
_SHELL_CHARACTERS = frozenset('"&|<>^%!\r\n')


_INHERITED = (
    *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "NARU_DATA_DIR", "DOCKER_HOST", "NVM_DIR", "VOLTA_HOME"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"),
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "PIP_TRUSTED_HOST", "UV_INDEX", "UV_DEFAULT_INDEX"),
    *("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_CONFIG_FILE", "UV_CACHE_DIR", "UV_OFFLINE", "UV_NATIVE_TLS"),
    *("UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_PYTHON", "NPM_CONFIG_REGISTRY", "npm_config_registry"),
    *("NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "NPM_CONFIG_CACHE", "npm_config_cache", "NPM_CONFIG_CAFILE"),
    *("npm_config_cafile", "npm_config_offline", "BUN_CONFIG_REGISTRY", "DENO_CERT", "DENO_TLS_CA_STORE"),
)
"""What a child gets of Naru's own environment: where things are and how the network is reached, never a key (S-33).

An index or a proxy may have a password in its address: without it the child could not be installed. It is masked in
what the server says like the server's own secrets.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the kernel holds a child to (S-25); None leaves it as it is for Naru."""

    open_files: int | None = 4096
    memory_bytes: int | None = None
    """Address space; not set by default, since engines such as V8 reserve far more than they use."""
    cpu_seconds: int | None = None
    core_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """A stdio server's command, ready to be started."""

    argv: tuple[str, ...]
    """The first is an absolute path."""
    environment: Mapping[str, str]
    cwd: str | None = None
    limits: Limits = field(default_factory=Limits)


def prepare(config: Mapping[str, Any], *, platform: str = sys.platform) -> Launch:
    """Read a record's config.

    Raises:
        LinkError: the command or its folder does not exist; says which, where it was looked for and what to do (f09).
    """
    declared = {str(name): str(value) for name, value in (config.get("env") or {}).items()}
    environment = {**_inherited(), **declared}
    cwd = config.get("cwd") or None
    if cwd is not None:
        cwd = str(Path(cwd).expanduser())
        if not Path(cwd).is_dir():
            raise _refusal("cwd_not_found", f"the folder {cwd!r} does not exist.", "Create it, or correct `cwd`.")
    command, arguments = _command_line(config, platform)
    if any("\0" in text for text in (command, *arguments, *environment.values())):
        raise _refusal("bad_argument", "the command, an argument or a variable contains a NUL.", "Remove it.")
    found = find_command(command, environment.get("PATH", ""), cwd=cwd)
    folder, path = str(Path(found).parent), environment.get("PATH", "")
    if os.sep not in command and folder not in path.split(os.pathsep):
        environment["PATH"] = os.pathsep.join(filter(None, (path, folder)))  # npx wants the node beside it
    argv = _windows_argv(found, arguments, environment) if platform == "win32" else (found, *arguments)
    return Launch(tuple(argv), environment, cwd, _limits(config.get("limits") or {}))


def _command_line(config: Mapping[str, Any], platform: str) -> tuple[str, list[str]]:
    """Return program and arguments; `cmd /c`, which guides for Windows put before them, is left out elsewhere."""
    command = str(config["command"])
    arguments = [str(argument) for argument in config.get("args") or ()]
    is_shell = command.lower() in ("cmd", "cmd.exe") and len(arguments) > 1 and arguments[0].lower() == "/c"
    if is_shell and platform != "win32":
        return arguments[1], arguments[2:]
    return command, arguments


def _inherited() -> dict[str, str]:
    own = own_environment()
    # Without one, the system's own folders, where every shell looks then.
    return {"PATH": os.defpath, **{name: own[name] for name in _INHERITED if name in own}}


def inherited_secrets() -> set[str]:
    """Return the passwords in what a child inherits: of a proxy, of a package index."""
    return secrets_of({"env": _inherited()})


def find_command(command: str, path: str, *, cwd: str | None = None) -> str:
    """Return the absolute path of a command, also from the usual folders of user installs that a PATH may lack.

    Raises:
        LinkError: names the PATH and the folders that were searched.
    """
    expanded = os.path.expanduser(command)  # noqa: PTH111 - a bare command name must stay bare
    if os.sep in expanded or (os.altsep and os.altsep in expanded):
        # A relative path is meant from the folder that the server runs in.
        full = Path(cwd or ".", expanded).absolute()
        found = shutil.which(str(full))
        if found:
            return found
        why = "exists but is not executable" if full.exists() else "does not exist"
        raise _refusal("command_not_found", f"the command {str(full)!r} {why}.", "Correct `command`.")
    elsewhere = _elsewhere()
    found = shutil.which(expanded, path=path) or shutil.which(expanded, path=os.pathsep.join(elsewhere))
    if found:
        return str(Path(found).absolute())
    searched = f"{path or '(empty)'}, then {', '.join(elsewhere) or 'nowhere else'}"
    remedy = "Install it, write its full path as `command`, or set `env.PATH` of the server."
    program, _, rest = command.strip().partition(" ")
    if rest and shutil.which(program, path=path):
        remedy = f"Write {program!r} alone as `command`, and {rest!r} as `args`, one text for each argument."
    raise _refusal("command_not_found", f"the command {command!r} was not found; PATH searched: {searched}.", remedy)


def _elsewhere() -> list[str]:
    """Return the folders of user installs and version managers that are there; the newest version first."""
    folders = [Path(folder).expanduser() for folder in _ELSEWHERE]
    for pattern in _VERSION_MANAGERS:
        root = Path(pattern).expanduser()
        anchor = Path(root.anchor)
        folders += sorted(anchor.glob(str(root.relative_to(anchor))), key=_version, reverse=True)
    return [str(folder) for folder in folders if folder.is_dir()]


def _version(folder: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(folder))]


def _windows_argv(found: str, arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Run batch files through cmd.exe, which cannot be told apart what it would read as its own syntax (f10)."""
    if not found.lower().endswith((".cmd", ".bat")):
        return (found, *arguments)
    for argument in (found, *arguments):
        bad = sorted(_SHELL_CHARACTERS & set(argument))
        if bad:
            raise _refusal(
                "bad_argument",
                f"{found!r} is a batch file and the argument {argument!r} contains {' '.join(map(repr, bad))}, "
                "which cmd.exe would interpret.",
                "Use the program behind the batch file as `command` (for npx: node and the script's path).",
            )
    return (environment.get("COMSPEC", "cmd.exe"), "/d", "/c", found, *arguments)


def _limits(config: Mapping[str, Any]) -> Limits:
    memory = config.get("memoryMb")
    cpu = config.get("cpuSeconds")
    return Limits(
        open_files=int(config.get("openFiles", 4096)),
        memory_bytes=int(memory) * 1024 * 1024 if memory else None,
        cpu_seconds=int(cpu) if cpu else None,
    )


def _refusal(code: str, message: str, remedy: str) -> LinkError:
    return LinkError(Failure("launch", code, message, remedy))


def in_child(limits: Limits) -> Callable[[], None] | None:
    """Return what the child does between fork and exec: nothing there may allocate much, lock or log.

    The kernel kills the child when the thread that started it dies (R-17): that is the event loop's own thread.
    """
    if sys.platform == "win32":
        return None
    parent = os.getpid()
    wanted = [
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_CORE, limits.core_bytes),
    ]
    settings = [(what, _lowered(what, value)) for what, value in wanted if value is not None]

    def prepare_child() -> None:
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)  # the parent died before the signal was set
        os.umask(0o077)
        for what, value in settings:
            resource.setrlimit(what, value)

    return prepare_child


def _lowered(what: int, value: int) -> tuple[int, int]:
    """Return a limit that is never above the one Naru has itself."""
    hard = resource.getrlimit(what)[1]
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return bound, bound
