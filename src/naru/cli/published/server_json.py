"""The registry's `server.json`: packages of npm, PyPI and OCI, and servers that run elsewhere.

Earlier forms wrote their keys with underscores; both are read. A package's name and version are checked, so that none
of them is an option of the program that starts it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from naru.cli.checks.addresses import is_http
from naru.cli.published.inputs import Answers, Filling, Input
from naru.errors import ConfigError
from naru.messages import JsonObject

_PLACEHOLDER = re.compile(r"\{([\w.-]{1,80})\}")
_NAMES = {
    "npm": re.compile(r"(?:@[a-z0-9~][\w.~-]*/)?[a-z0-9~][\w.~-]*", re.IGNORECASE),
    "pypi": re.compile(r"[a-z0-9][\w.-]*", re.IGNORECASE),
    "oci": re.compile(r"[a-z0-9][\w./:@-]*", re.IGNORECASE),
}
_VERSION = re.compile(r"[a-z0-9][\w.+-]{0,80}", re.IGNORECASE)
_PROGRAMS = {"npm": "npx", "pypi": "uvx", "oci": "docker"}
_REMOTE = {"streamable-http": "http", "http": "http", "sse": "sse"}


@dataclass
class Way:
    """One way to have the server: a package that runs here, or an address."""

    kind: str
    """npm, pypi, oci or remote."""
    about: str
    inputs: list[Input] = field(default_factory=list)
    make: Callable[[Answers], JsonObject] = lambda _: {}
    """Returns the entry, its `type` among it where the transport is known."""

    @property
    def can_run(self) -> bool:
        """Whether the program that starts it is on the PATH."""
        return self.kind == "remote" or shutil.which(_PROGRAMS[self.kind]) is not None


@dataclass
class Published:
    """What a `server.json` offers."""

    name: str
    version: str
    description: str
    ways: list[Way]
    left_out: list[str]
    """What it offers besides and cannot be used here, with the reason."""

    def choose(self, kind: str) -> Way:
        """Return the way of that kind, or the first whose program is here. Raises ConfigError."""
        fitting = [way for way in self.ways if kind in ("", way.kind)]
        if not fitting:
            offered = ", ".join(dict.fromkeys(way.kind for way in self.ways)) or "nothing that is run here"
            besides = f" ({'; '.join(self.left_out)})" if self.left_out else ""
            raise ConfigError(f"{self.name} offers {offered}{besides}.", remedy="Choose one of these with --way.")
        return next((way for way in fitting if way.can_run), fitting[0])


def read_server_json(document: Any, where: str) -> Published:
    """Read a decoded `server.json`, or a registry's answer around one. Raises ConfigError."""
    document = _camel(document)
    if isinstance(document, dict) and isinstance(document.get("server"), dict):
        document = document["server"]
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise ConfigError(f"{where} is no server.json: it has no name.", remedy="Nothing was added.")
    version = str(document.get("version") or (document.get("versionDetail") or {}).get("version") or "")
    found = Published(document["name"], version, str(document.get("description") or ""), [], [])
    for package in _objects(document.get("packages")):
        kind = str(package.get("registryType") or package.get("registryName") or "")
        kind = {"docker": "oci"}.get(kind, kind)
        if kind not in _PROGRAMS:
            found.left_out.append(f"{kind or 'a package of no kind'} is not started here")
            continue
        transport = package.get("transport") or {}
        if transport.get("type", "stdio") != "stdio":
            found.left_out.append(f"the {kind} package wants to be started by hand and reached over HTTP")
            continue
        found.ways.append(_package(kind, package, version))
    for remote in _objects(document.get("remotes")):
        kind = str(remote.get("type") or remote.get("transportType") or "")
        if kind not in _REMOTE or not is_http(_PLACEHOLDER.sub("1", str(remote.get("url") or ""))):
            found.left_out.append(f"a remote of type {kind or 'none'} is not read")
            continue
        found.ways.append(_remote(_REMOTE[kind], remote))
    return found


def _package(kind: str, package: JsonObject, of_server: str) -> Way:
    name = str(package.get("identifier") or package.get("name") or "")
    version = str(package.get("version") or of_server)
    if not _NAMES[kind].fullmatch(name) or (version and not _VERSION.fullmatch(version)):
        raise ConfigError(f"{name[:120]!r} {version[:80]!r} is no package of {kind}.", remedy="Nothing was added.")
    before, after = _objects(package.get("runtimeArguments")), _objects(package.get("packageArguments"))
    variables = _objects(package.get("environmentVariables"))
    way = Way(kind, f"{kind} package {name}{f' {version}' if version else ''}")
    for one in (*before, *after, *variables):
        way.inputs += _inputs_of(one)

    def make(answers: Answers) -> JsonObject:
        filling = Filling(_PLACEHOLDER, answers)
        env = {str(one["name"]): value for one in variables if (value := _value(one, filling))}
        first = [word for one in before for word in _words(one, filling)]
        last = [word for one in after for word in _words(one, filling)]
        config: JsonObject = {"command": _PROGRAMS[kind], "args": [*_start(kind, name, version, first, env), *last]}
        return {**config, "env": env} if env else config

    way.make = make
    return way


def _start(kind: str, name: str, version: str, first: list[str], env: JsonObject) -> list[str]:
    if kind == "npm":
        return [*(first if "-y" in first or "--yes" in first else ["-y", *first]), f"{name}@{version or 'latest'}"]
    if kind == "pypi":
        return [*first, f"{name}@{version}" if version else name]
    is_tagged = "@" in name or ":" in name.rpartition("/")[2]
    passed = [word for variable in env for word in ("-e", variable)]
    begun = first if first[:1] == ["run"] else ["run", "-i", "--rm", *first]
    return [*begun, *passed, name if is_tagged or not version else f"{name}:{version}"]


def _remote(transport: str, remote: JsonObject) -> Way:
    headers, variables = _objects(remote.get("headers")), remote.get("variables")
    way = Way("remote", f"{transport} at {remote['url']}")
    for name, one in variables.items() if isinstance(variables, dict) else ():
        way.inputs.append(_input(str(name), one if isinstance(one, dict) else {}))
    for one in headers:
        way.inputs += _inputs_of(one)

    def make(answers: Answers) -> JsonObject:
        filling = Filling(_PLACEHOLDER, answers)
        sent = {str(one["name"]): value for one in headers if (value := _value(one, filling))}
        entry: JsonObject = {"type": transport, "url": filling.text(str(remote["url"]), "url")}
        return {**entry, "headers": sent} if sent else entry

    way.make = make
    return way


def _inputs_of(one: JsonObject) -> list[Input]:
    """Return what an argument, a variable or a header asks for: itself, or the variables in its value."""
    variables = one.get("variables")
    if isinstance(variables, dict) and variables:
        return [_input(str(name), said if isinstance(said, dict) else {}) for name, said in variables.items()]
    return [] if one.get("value") is not None else [_input(_name_of(one), one)]


def _input(name: str, said: JsonObject) -> Input:
    choices = said.get("choices")
    default = said.get("default")
    return Input(
        name,
        str(said.get("description") or said.get("valueHint") or ""),
        kind={"number": "number", "boolean": "boolean"}.get(str(said.get("format")), "string"),
        is_required=bool(said.get("isRequired")),
        is_secret=bool(said.get("isSecret")),
        is_repeated=bool(said.get("isRepeated")),
        default=() if default is None else (str(default),),
        choices=tuple(map(str, choices)) if isinstance(choices, list) else (),
    )


def _name_of(one: JsonObject) -> str:
    return str(one.get("name") or one.get("valueHint") or "argument").lstrip("-")


def _value(one: JsonObject, filling: Filling) -> str:
    if one.get("value") is not None:
        return filling.text(str(one["value"]), str(one.get("name")))
    name = _name_of(one)
    return ",".join(_given(name, filling))


def _given(name: str, filling: Filling) -> list[str]:
    """Return what was typed, as it is, or the publisher's default, which is not trusted."""
    typed = filling.answers.typed.get(name)
    return typed or [filling.text(text, name) for text in filling.answers.defaults.get(name, [])]


def _words(one: JsonObject, filling: Filling) -> list[str]:
    """Return the words of an argument on a command line; none where it has no value and needs none."""
    values = _given(_name_of(one), filling) if one.get("value") is None else [_value(one, filling)]
    if one.get("type") != "named":
        return values
    flag = filling.text(str(one.get("name") or ""), "name")
    if not flag.startswith("-"):
        raise ConfigError(f"{flag[:80]!r} is no name of an argument.", remedy="Nothing was added.")
    is_alone = not values and bool(one.get("isRequired")) and one.get("value") is None
    return [flag] if is_alone else [word for value in values for word in (flag, value)]


def _objects(value: Any) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _camel(value: Any, depth: int = 0) -> Any:
    """Return a document with the keys of today's form; names of variables stay as they are."""
    if depth > 12:
        return None
    if isinstance(value, list):
        return [_camel(one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    renamed = {re.sub(r"_([a-z])", lambda match: match[1].upper(), str(key)): one for key, one in value.items()}
    return {
        key: {name: _camel(one, depth + 1) for name, one in inner.items()}
        if key == "variables" and isinstance(inner, dict)
        else _camel(inner, depth + 1)
        for key, inner in renamed.items()
    }
