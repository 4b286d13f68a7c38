"""Where settings come from: flags before the environment before a file; the one place that reads the environment."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_settings import InitSettingsSource, PydanticBaseSettingsSource, SettingsError

from naru.config.settings import Settings
from naru.config.yaml_text import Scalar, decode_yaml, what_failed
from naru.errors import ConfigError
from naru.records import describe

_SECTIONS = f"Sections: {', '.join(Settings.model_fields)}."


def environment() -> Mapping[str, str]:
    """Return the process's environment; the only way to it."""
    return os.environ  # noqa: TID251  # this is naru.config


def load_settings(path: Path | None = None, **sections: Any) -> Settings:
    """Read settings: `sections` (flags) before the environment before the file.

    Args:
        path: the file; None takes the one that `NARU_CONFIG` names, else `~/.config/naru/naru.yaml` if there is one.
            A `naru.yaml` in the working directory is never read by itself: it may name programs to start (S-24).
        sections: `server={"port": 1}` and the like.

    Raises:
        ConfigError: the file cannot be read, may be written by others, or holds something that cannot be used.
    """
    chosen = path or settings_path()
    kept = _read_yaml(chosen) if chosen else {}

    class Loaded(Settings):
        @classmethod
        def settings_customise_sources(cls, *given: Any, **sources: Any) -> tuple[PydanticBaseSettingsSource, ...]:
            first = super().settings_customise_sources(*given, **sources)
            return (*first, InitSettingsSource(cls, init_kwargs=kept))

    try:
        return Loaded(**sections)
    except (ValidationError, SettingsError) as error:
        lines = describe(error) if isinstance(error, ValidationError) else [_no_json(error)]
        raise ConfigError(
            f"The settings{f' with {chosen}' if chosen else ''} cannot be used: "
            f"{'; '.join(_by_variable(line, sections) for line in lines)}.",
            remedy=f"What each may mean: naru validate{f' -c {path}' if path else ''}; see docs/reference/settings.md.",
        ) from error


def _no_json(error: SettingsError) -> str:
    """Name the variable of a list or a table that holds something else than JSON; it may hold a secret."""
    written = getattr(error.__cause__, "doc", None)
    named = [name for name, value in environment().items() if name.startswith("NARU_") and value == written]
    if not named:
        return str(error).splitlines()[0]
    return f'{" or ".join(named)} is no JSON, as a variable has lists and tables: ["a", "b"], {{"a": "b"}}'


def _by_variable(line: str, flags: Mapping[str, Any]) -> str:
    """Name the environment's variable that a setting came from, if it did; it wins over the file, and flags over it."""
    place, colon, said = line.partition(": ")
    section, _, name = place.partition(".")
    if name in flags.get(section, ()):
        return line
    parts = place.upper().split(".")
    names = ["__".join(["NARU_" + parts[0], *parts[1:length]]) for length in range(len(parts), 0, -1)]
    named = next((name for name in names if name in environment()), "")
    return f"{place} (of the variable {named}){colon}{said}" if named else line


def settings_path() -> Path | None:
    """Return the settings file that is read when none is named; None when there is none."""
    named = environment().get("NARU_CONFIG")
    if named:
        return Path(named).expanduser()
    home = Path(environment().get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "naru" / "naru.yaml"
    return home if home.exists() else None


def check_private(path: Path) -> None:
    """Refuse a file that others could have written, since it names programs to start (S-24).

    Raises:
        ConfigError: it belongs to someone else, or its group or all may write it.
    """
    info = path.stat()
    if not hasattr(os, "geteuid"):  # Windows has neither owners by number nor these bits.
        return
    if info.st_uid not in (os.geteuid(), 0):
        raise ConfigError(f"{path} belongs to another user (uid {info.st_uid}).", remedy=f"Run: chown $USER {path}")
    if stat.S_IMODE(info.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigError(f"{path} may be written by others.", remedy=f"Run: chmod go-w {path}")


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        check_private(path)
        data = decode_yaml(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(
            f"Cannot read {path}: {error.strerror}.", remedy="Name another file with --config or NARU_CONFIG."
        ) from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} is not YAML: {what_failed(error)}.", remedy=f"See: naru validate {path}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path} holds no sections such as `server:` and `mcp:`.", remedy=_SECTIONS)
    arc = data.get("arc")
    if isinstance(arc, dict):  # application.yml of the "MCP integration guide": arc.reactor.mcp
        reactor = arc.get("reactor")
        data = {"mcp": (reactor if isinstance(reactor, dict) else {}).get("mcp") or {}}
    unknown = sorted(str(key) for key in data if str(key).replace("-", "_") not in Settings.model_fields)
    if unknown:
        raise ConfigError(
            f"{path}: there is no section {', '.join(unknown)}.",
            remedy=_SECTIONS,
        )
    sections: dict[str, Any] = underscored({key: value for key, value in data.items() if value is not None}, Settings)
    return sections


def underscored(value: Any, kind: Any) -> Any:
    """Write `max-attempts` as `max_attempts`, so that file and environment name a setting alike; values as meant.

    A table's keys are names of its owner's own: roles, profiles, models, headers.

    Args:
        value: as a file has it.
        kind: the section, or what a setting is annotated with.
    """
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if isinstance(value, Scalar):
        return _meant(value, get_args(kind) or (kind,))
    inner = (kind, *get_args(kind))[-1]
    if isinstance(value, list):
        return [underscored(item, inner) for item in value]
    if not isinstance(value, dict):
        return value
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return {str(key): underscored(item, inner) for key, item in value.items()}
    changed: dict[str, Any] = {}
    for key, item in value.items():
        name = str(key).replace("-", "_")
        field = kind.model_fields.get(name)
        changed[name] = underscored(item, field.annotation if field else BaseModel)
    return changed


def _meant(value: Scalar, kinds: Sequence[Any]) -> Any:
    """Return how it was written where that is one of a setting's words, or a text is wanted; else what it is."""
    is_text = value.written in kinds or (str in kinds and type(value.value) not in kinds)
    return value.written if is_text else value.value
