"""Which programs may be registered over HTTP (S-20 to S-23): known launchers of packages, judged by their arguments.

Nothing here applies to files and the command line: who may write those may start programs anyway.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from naru.errors import PolicyError

_SHELLS = frozenset(
    "sh bash dash ash zsh fish ksh mksh csh tcsh rbash busybox toybox pwsh powershell cmd env xargs sudo su doas nohup "
    "setsid timeout time nice ionice chroot unshare nsenter setarch stdbuf script expect ssh scp socat nc ncat netcat "
    "telnet curl wget perl ruby php lua tclsh wish awk gawk mawk sed find vim vi ex nano emacs less more man make "
    "gmake cmake gdb lldb strace ltrace ld ld.so ld-linux-x86-64.so.2 osascript git tar rsync crontab at systemd-run"
    " eval exec".split()
)
"""Programs that run whatever their arguments say."""

UNSAFE_ENV = re.compile(
    r"LD_.*|DYLD_.*|NODE_(?!ENV$|NO_WARNINGS$).*|PYTHON(?!UNBUFFERED$|IOENCODING$|UTF8$|DONTWRITEBYTECODE$|WARNINGS$).*"
    r"|BASH_.*|ENV|PATH|PERL.*|RUBY.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GIT_.*|NPM_CONFIG_.*|UV_.*|PIP_.*"
    r"|DENO_.*|BUN_.*|DOCKER_.*|GCONV_PATH|LOCPATH|HOSTALIASES|IFS|PS4|PROMPT_COMMAND|SHELLOPTS|EDITOR|VISUAL|PAGER"
    r"|OPENSSL_.*|SSL_CERT_.*|SSLKEYLOGFILE",
    re.IGNORECASE,
)
"""Variables that load code, change what is found, or where packages come from."""

_REGISTRY_NPM = re.compile(r"(?:@[a-z0-9~][\w.~-]*/)?[a-z0-9~][\w.~-]*(?P<version>@[\w.^~<>=*+-]+)?", re.IGNORECASE)
_REGISTRY_PYPI = re.compile(
    r"[a-z0-9](?:[\w.-]*[a-z0-9])?(?:\[[\w,.-]+\])?(?P<version>(?:@|[=~<>!]=?=?)[\w.*,<>=!~+-]+)?", re.IGNORECASE
)
_EXACT = re.compile(r"(?:@|===?)v?\d+(?:\.\d+)+[\w.+-]*")
_PLAIN_PROGRAM = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class Launch:
    """A judged program: where it was found, and what a person should know."""

    path: str
    warnings: tuple[str, ...] = ()


def judge_launch(
    command: str, args: Sequence[str], env: Mapping[str, str], *, allowed: Sequence[str] = (), unsafe_env: bool = False
) -> Launch:
    """Judge a command line that came over HTTP.

    Args:
        command: the program, a bare name or an absolute path.
        args: its arguments.
        env: the variables it asks for.
        allowed: absolute paths that are allowed with any arguments.
        unsafe_env: variables that load code are allowed.

    Raises:
        PolicyError: it may not be started; says which rule forbids it.
    """
    for text in (command, *args, *env, *env.values()):
        if "\0" in text:
            raise PolicyError("The command, an argument or a variable holds a NUL character.")
    if not unsafe_env:
        for name in env:
            if UNSAFE_ENV.fullmatch(name):
                raise PolicyError(
                    f"The variable {name} can make a program load other code.",
                    remedy="Leave it out, or switch on mcp.security.allow-unsafe-env.",
                )
    if command in allowed and Path(command).is_absolute():
        return Launch(command)
    name = Path(command).name
    found = shutil.which(name)
    if command not in (name, found):
        raise _refused(command, "it is neither a launcher on the PATH of Naru nor listed")
    real = Path(found).resolve().name if found else name
    if name in _SHELLS or real in _SHELLS:
        raise _refused(command, f"{real if real in _SHELLS else name} runs whatever its arguments say")
    for pattern, judge in _JUDGES:
        if pattern.fullmatch(name):
            return Launch(found or name, tuple(judge(name, list(args))))
    raise _refused(command, "it is no launcher that Naru knows")


def package_warnings(command: str, args: Sequence[str]) -> tuple[str, ...]:
    """Return a warning for a package that is not pinned to a version (S-70), wherever the entry came from."""
    name = Path(command).name.removesuffix(".cmd")
    if name not in ("npx", "bunx", "uvx"):
        return ()
    shape = _REGISTRY_PYPI if name == "uvx" else _REGISTRY_NPM
    values = {"--from", "--with", "--python", "-p", "--package"}
    position = 0
    while position < len(args):
        arg = args[position]
        if arg in ("--from", "--package") or not arg.startswith("-"):
            spec = args[position + 1] if arg.startswith("-") and position + 1 < len(args) else arg
            match = shape.fullmatch(spec)
            if match and not (match["version"] and _EXACT.fullmatch(match["version"])):
                return (f"{spec} is not pinned to a version: another one may run at the next start.",)
            return ()
        position += 2 if arg in values else 1
    return ()


def _refused(command: str, why: str) -> PolicyError:
    return PolicyError(
        f"{command!r} may not be registered over HTTP: {why}.",
        remedy="Declare the server in a configuration file, or list the program in mcp.security.allowed-commands.",
    )


def _options(name: str, args: list[str], flags: frozenset[str], with_value: Mapping[str, Callable[[str], None]]) -> int:
    """Return the position of the first argument that is no option; every option must be known."""
    position = 0
    while position < len(args):
        arg = args[position]
        if arg == "--":
            return position + 1
        if not arg.startswith("-") or arg == "-":
            return position
        key, equals, value = arg.partition("=")
        if key in with_value:
            if not equals:
                position += 1
                value = args[position] if position < len(args) else ""
            with_value[key](value)
        elif arg not in flags:
            raise _refused(name, f"its option {key} is not on the list")
        position += 1
    return position


def _anything(_: str) -> None:
    return


def _spec(shape: re.Pattern[str], program: str) -> Callable[[str], None]:
    def check(spec: str) -> None:
        if not shape.fullmatch(spec):
            raise _refused(program, f"{spec!r} is no package of a registry")

    return check


def _npx(name: str, args: list[str]) -> Sequence[str]:
    check = _spec(_REGISTRY_NPM, name)
    flags = frozenset({"-y", "--yes", "-q", "--quiet", "--silent", "--no", "--offline", "--prefer-offline", "--bun"})
    start = _options(name, args, flags, {"-p": check, "--package": check})
    _target(name, args, start, check, has_package=any(arg.startswith(("-p", "--package")) for arg in args[:start]))
    return package_warnings("npx", args)


def _uvx(name: str, args: list[str]) -> Sequence[str]:
    if name == "uv":
        if args[:2] != ["tool", "run"]:
            raise _refused(name, "only `uv tool run` is on the list")
        args = args[2:]
    check = _spec(_REGISTRY_PYPI, name)
    flags = frozenset({"-q", "--quiet", "-v", "--verbose", "--offline", "--isolated", "--no-cache", "-n", "--refresh"})
    valued = {"--from": check, "--with": check, "-w": check, "--python": _python_version, "-p": _python_version}
    start = _options(name, args, flags, valued)
    _target(name, args, start, check, has_package=any(arg.startswith("--from") for arg in args[:start]))
    return package_warnings("uvx", args)


def _python_version(value: str) -> None:
    if not re.fullmatch(r"(?:cpython@?|python)?3(?:\.\d+){0,2}", value):
        raise _refused("uvx", f"{value!r} is no Python version")


def _target(name: str, args: list[str], start: int, check: Callable[[str], None], *, has_package: bool) -> None:
    """Judge the package to run, or the program out of the package that an option named."""
    if start >= len(args):
        raise _refused(name, "no package is named")
    target = args[start]
    if has_package and not _PLAIN_PROGRAM.fullmatch(target):
        raise _refused(name, f"{target!r} is no program's name")
    if not has_package:
        check(target)
    bare = re.split(r"[@=<>~!\[]", target.lstrip("@"))[0].rpartition("/")[2]
    if bare in _SHELLS or re.fullmatch(r"python[\d.]*|node|nodejs|npm|npx|uv|uvx|pip|deno|bun", bare):
        raise _refused(name, f"{target} runs whatever its arguments say")


def _python(name: str, args: list[str]) -> Sequence[str]:
    flags = frozenset({"-u", "-B", "-s", "-S", "-I", "-E", "-O", "-OO", "-q", "-P"})
    position = args.index("-m") if "-m" in args else len(args)
    start = _options(name, args[:position], flags, {"-X": _anything, "-W": _anything})
    if start == position < len(args):
        module = args[position + 1] if position + 1 < len(args) else ""
        denied = "timeit pdb profile cProfile trace code runpy pip ensurepip venv zipapp http idlelib doctest pydoc"
        if module.split(".")[0] in denied.split() or not re.fullmatch(r"[A-Za-z_][\w.]*", module):
            raise _refused(name, f"-m {module} runs whatever its arguments say")
    elif start >= len(args) or args[start] == "-" or not args[start].endswith((".py", ".pyz")):
        raise _refused(name, "it would run code from its arguments or its input")
    return ()


def _node(name: str, args: list[str]) -> Sequence[str]:
    flags = frozenset({"--no-warnings", "--enable-source-maps", "--trace-warnings"})
    start = _options(name, args, flags, {"--max-old-space-size": _anything})
    if start >= len(args) or not args[start].endswith((".js", ".mjs", ".cjs", ".ts")) or "://" in args[start]:
        raise _refused(name, "it would run code from its arguments or its input")
    return ()


def _deno(name: str, args: list[str]) -> Sequence[str]:
    if args[:1] != ["run"]:
        raise _refused(name, "only `deno run` is on the list")
    rest = [arg for arg in args[1:] if not re.fullmatch(r"-A|-q|--quiet|--no-prompt|--allow-(?!run|ffi|all).*", arg)]
    if (
        not rest
        or rest[0].startswith("-")
        or not re.fullmatch(r"(?:jsr|npm):[@\w./~^-]+|[^:]+\.(?:js|mjs|ts)", rest[0])
    ):
        raise _refused(
            name, f"{rest[0] if rest else 'nothing'!r} is neither an option on the list nor a package or file"
        )
    return ()


def _docker(name: str, args: list[str]) -> Sequence[str]:
    if args[:1] != ["run"]:
        raise _refused(name, "only `run` is on the list")
    args = args[1:]

    def network(value: str) -> None:
        if value == "host" or value.startswith(("container:", "ns:")):
            raise _refused(name, f"--network {value} shares the network of others")

    def volume(value: str) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*:/[^:]*(?::ro|:rw)?", value):
            raise _refused(name, f"the volume {value!r} is a folder of this machine")

    def mount(value: str) -> None:
        parts = dict(part.partition("=")[::2] for part in value.split(","))
        if parts.get("type") not in ("volume", "tmpfs") or "volume-opt" in value:
            raise _refused(name, f"the mount {value!r} is a folder of this machine")

    def variable(value: str) -> None:
        if not re.fullmatch(r"[A-Za-z_]\w*(?:=.*)?", value, re.DOTALL):
            raise _refused(name, f"{value!r} is no variable")

    flags = frozenset(
        {"-i", "-t", "-it", "-ti", "--interactive", "--tty", "--rm", "--init", "-q", "--quiet", "--read-only"}
    )
    plain = ("--name", "--platform", "--memory", "-m", "--cpus", "-u", "--user", "-l", "--label", "-w", "--workdir")
    valued: dict[str, Callable[[str], None]] = dict.fromkeys((*plain, "--pids-limit", "--tmpfs", "--pull"), _anything)
    valued |= {"-e": variable, "--env": variable, "--network": network, "--net": network, "--mount": mount}
    valued |= {"-v": volume, "--volume": volume}
    start = _options(name, args, flags, valued)
    if start >= len(args) or not re.fullmatch(r"[a-z0-9][\w./:@-]*", args[start]):
        raise _refused(name, "no image is named")
    return ()


_JUDGES: tuple[tuple[re.Pattern[str], Callable[[str, list[str]], Sequence[str]]], ...] = (
    (re.compile(r"npx|bunx"), _npx),
    (re.compile(r"uvx|uv"), _uvx),
    (re.compile(r"python(?:3(?:\.\d+)?)?"), _python),
    (re.compile(r"node|nodejs"), _node),
    (re.compile(r"deno"), _deno),
    (re.compile(r"docker|podman"), _docker),
)
