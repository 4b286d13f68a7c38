"""Environment variables in a server's text fields, in every syntax that MCP configurations use.

`${VAR}` `${VAR:-default}` (which may hold placeholders) `${VAR:?message}` `${VAR:+if set}` `${env:VAR}`
`${env://VAR:-default}` `{env:VAR}` `$VAR` (upper case), and as a whole value `os.environ/VAR` and `env.VAR`;
`${userHome}`, `${workspaceFolder}`, `${pathSeparator}`, `${input:id}` of VS Code; `$$` is a plain `$`.
Stored records keep the placeholders; values appear only while connecting.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from naru.config import environment
from naru.errors import ConfigError
from naru.stores.formats.inputs import variable_of

EXPANDED_FIELDS = ("command", "args", "env", "cwd", "url", "headers", "auth", "caFile", "envFile")

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
PLACEHOLDER = re.compile(
    r"(?P<escape>\$\$)"
    r"|\$\{(?P<special>userHome|workspaceFolder(?:Basename)?|cwd|pathSeparator|/"
    r"|(?:input|keyring|command|config):[^}]+)\}"
    rf"|\$\{{(?:env:(?://)?)?(?P<braced>{_NAME})(?::?(?P<operator>[-?+])(?P<word>(?:[^{{}}]|\$\{{[^{{}}]*\}})*))?\}}"
    rf"|(?<!\$)\{{env:(?P<opencode>{_NAME})\}}"
    r"|\$(?P<bare>[A-Z_][A-Z0-9_]*)"
)
_WHOLE = re.compile(rf"(?:os\.environ/|env\.)(?P<name>{_NAME})")


class MissingVariableError(ConfigError):
    """A variable that a server's configuration names is not set; only that server is stopped."""

    code = "variable_not_set"


def expand(
    config: Mapping[str, Any], *, server: str, variables: Mapping[str, str] | None = None, folder: Path | None = None
) -> dict[str, Any]:
    """Return the config with all placeholders replaced; keys that are no text fields of ours stay as they are.

    Args:
        config: a record's `config`.
        server: the server's name, for the message.
        variables: the environment; None takes the process's own.
        folder: what `${workspaceFolder}` means; None takes the working directory.

    Raises:
        MissingVariableError: names each variable that is not set and the field that wants it.
    """
    expander = _Expander(environment() if variables is None else variables, folder or Path.cwd())
    expanded = {
        key: expander.value(value, f"mcpServers.{server}.{key}") if key in EXPANDED_FIELDS else value
        for key, value in config.items()
    }
    if expander.missing:
        raise MissingVariableError(
            "; ".join(expander.missing) + ".",
            remedy="Set it in the environment of Naru, or give a default: ${NAME:-value}. A plain $ is written $$.",
        )
    if isinstance(expanded.get("envFile"), str):
        expanded["env"] = {**_read_env_file(Path(expanded["envFile"]), server), **(expanded.get("env") or {})}
    return expanded


def is_placeholder(text: str) -> bool:
    """Tell whether a text is one placeholder as a whole, without a default that might be a secret."""
    match = PLACEHOLDER.fullmatch(text)
    return bool(_WHOLE.fullmatch(text)) or (match is not None and not match["word"] and not match["escape"])


def names_variable(text: str) -> bool:
    """Tell whether expanding a text would read a variable, a folder, or anything else of this machine."""
    return bool(_WHOLE.fullmatch(text)) or any(not match["escape"] for match in PLACEHOLDER.finditer(text))


def variables_of(config: Mapping[str, Any]) -> set[str]:
    """Return the names of all variables that expanding a config may read, also those in defaults."""
    return {name for field in EXPANDED_FIELDS for name in _variables(config.get(field))}


def _variables(value: Any) -> Iterator[str]:
    if isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _variables(one)
    if not isinstance(value, str):
        return
    if whole := _WHOLE.fullmatch(value):
        yield whole["name"]
    for match in PLACEHOLDER.finditer(value):
        kind, _, identifier = (match["special"] or "").partition(":")
        if kind == "input":
            yield variable_of(identifier)
        if name := match["braced"] or match["opencode"] or match["bare"]:
            yield name
        yield from _variables(match["word"])


class _Expander:
    def __init__(self, variables: Mapping[str, str], folder: Path) -> None:
        self.variables = variables
        self.folder = folder
        self.missing: list[str] = []

    def value(self, value: Any, place: str) -> Any:
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, list):
            return [self.value(item, f"{place}[{position}]") for position, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self.value(item, f"{place}.{key}") for key, item in value.items()}
        return value

    def text(self, text: str, place: str) -> str:
        whole = _WHOLE.fullmatch(text)
        if whole:
            return self._look_up(whole["name"], place)

        def replace(match: re.Match[str]) -> str:
            if match["escape"]:
                return "$"
            if match["special"]:
                return self._special(match["special"], place)
            name = match["braced"] or match["opencode"] or match["bare"]
            return self._substitute(name, match["operator"], match["word"], place)

        return PLACEHOLDER.sub(replace, text)

    def _substitute(self, name: str, operator: str | None, word: str | None, place: str) -> str:
        if operator == "+":
            return self.text(word or "", place) if self.variables.get(name) else ""
        if operator == "?" and not self.variables.get(name):
            self.missing.append(f"{name} not set ({place}): {word}" if word else f"{name} not set ({place})")
            return ""
        if operator == "-" and not self.variables.get(name):
            return self.text(word or "", place)
        return self._look_up(name, place)

    def _look_up(self, name: str, place: str) -> str:
        found = self.variables.get(name)
        if found is not None:
            return found
        self.missing.append(f"{name} not set ({place})")
        return ""

    def _special(self, special: str, place: str) -> str:
        if special == "userHome":
            return str(Path.home())
        if special in ("workspaceFolder", "cwd"):
            return str(self.folder)
        if special == "workspaceFolderBasename":
            return self.folder.name
        if special in ("pathSeparator", "/"):
            return os.sep
        kind, _, identifier = special.partition(":")
        if kind == "input":
            return self._look_up(variable_of(identifier), place)
        what = "keyring entry" if kind == "keyring" else f"VS Code's ${{{kind}:…}}"
        self.missing.append(f"{what} {identifier} not readable ({place}), use an environment variable")
        return ""


def _read_env_file(path: Path, server: str) -> dict[str, str]:
    try:
        lines = path.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"Cannot read {path} (mcpServers.{server}.envFile): {error}.",
            remedy="Make it a readable text of NAME=value lines, mend the path, or take `envFile` out.",
        ) from error
    found: dict[str, str] = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and re.fullmatch(_NAME, name.strip()):
            found[name.strip()] = value.strip().strip("'\"")
    return found
