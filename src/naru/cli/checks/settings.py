"""Problems of a settings file and of the environment: all of them, not the first, each with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from naru.cli.checks.problem import Level, Problem, meant, unreadable
from naru.config import Settings, check_private, decode_yaml, underscored
from naru.errors import NaruError

_OTHER_VARIABLES = ("NARU_CONFIG", "NARU_DATA_DIR", "NARU_API_KEY", "NARU_SUPERVISOR")
"""Variables of ours that are no settings."""
_FREE_VARIABLES = ("NARU_INPUT_", "NARU_TEST_")


def check_settings_file(path: Path) -> list[Problem]:
    """Return what is wrong with a settings file."""
    try:
        check_private(path)
        text = path.read_text(encoding="utf-8-sig")
        data = decode_yaml(text)
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        return [unreadable(path, error)]
    except NaruError as error:
        return [Problem(Level.ERROR, str(path), "", error.message, error.remedy)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or " ".join(str(error).split())
        return [Problem(Level.ERROR, str(path), "", f"It is not YAML: {said}.", line=mark.line + 1 if mark else None)]
    if data is None:
        return []
    if not isinstance(data, dict):
        return [
            Problem(
                Level.ERROR, str(path), "", f"It holds {_kind(data)}, not sections.",
                f"Write sections: {', '.join(Settings.model_fields)}.", 1,
            )
        ]  # fmt: skip
    if isinstance(data.get("arc"), dict):  # application.yml of the "MCP integration guide"
        reactor = data["arc"].get("reactor")
        inner = reactor.get("mcp") if isinstance(reactor, dict) else None
        return list(_section(path, tree, ("arc", "reactor", "mcp"), "mcp", inner or {}))
    found: list[Problem] = []
    for key, value in data.items():
        section = str(key).replace("-", "_")
        if section not in Settings.model_fields:
            line = _line(tree, (str(key),))
            found.append(
                Problem(
                    Level.ERROR, str(path), str(key), f"There is no section {key}.",
                    meant(section, Settings.model_fields), line,
                )
            )  # fmt: skip
        elif value is not None:
            found += _section(path, tree, (str(key),), section, value)
    return found


def _section(path: Path, tree: yaml.Node | None, place: tuple[str, ...], section: str, value: Any) -> Iterator[Problem]:
    annotation: Any = Settings.model_fields[section].annotation
    try:
        TypeAdapter(annotation).validate_python(underscored(value, annotation))
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            where = tuple(str(part) for part in fault["loc"])
            message, remedy = _said(fault, annotation, where)
            yield Problem(
                Level.ERROR, str(path), ".".join((*place, *where)), message, remedy, _line(tree, (*place, *where))
            )


def _said(fault: Any, annotation: Any, where: Sequence[str]) -> tuple[str, str]:
    if fault["type"] == "extra_forbidden":
        model = _model_at(annotation, where[:-1])
        known = model.model_fields if model else {}
        return f"There is no setting {where[-1]}.", meant(where[-1].replace("-", "_"), known)
    return f"{fault['msg'].removeprefix('Value error, ')}.", "See docs/reference/settings.md."


def _model_at(annotation: Any, where: Sequence[str]) -> type[BaseModel] | None:
    model = _model_of(annotation)
    for part in where:
        if model is None:
            return None
        field = model.model_fields.get(part.replace("-", "_"))
        if field is not None:
            model = _model_of(field.annotation)
    return model


def _model_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for found in map(_model_of, get_args(annotation)) if found), None)


def check_variables(variables: Mapping[str, str]) -> list[Problem]:
    """Return the `NARU_…` variables that no setting reads: below a section they are refused, else ignored."""
    known = dict(_variables())
    found = []
    for name in sorted(variables):
        ours = name.startswith("NARU_") and name not in known and name not in _OTHER_VARIABLES
        if not ours or name.startswith(_FREE_VARIABLES):
            continue
        if any(name.startswith(f"{one}__") and not is_section for one, is_section in known.items()):
            continue  # an entry of a table
        near = meant(name, known)
        remedy = near if near.startswith("Did") else "See docs/reference/settings.md."
        refused = any(name.startswith(f"{one}__") for one in known)
        level = Level.ERROR if refused else Level.WARNING
        found.append(Problem(level, "environment", name, "No setting reads this variable.", remedy))
    return found


def _variables(model: type[BaseModel] = Settings, before: str = "NARU_") -> Iterator[tuple[str, bool]]:
    """Yield each variable's name, and whether it is a section that holds others."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        is_section = isinstance(inner, type) and issubclass(inner, BaseModel)
        yield f"{before}{name.upper()}", is_section
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _variables(inner, f"{before}{name.upper()}__")


def _line(tree: yaml.Node | None, path: Sequence[str]) -> int | None:
    """Return the line of the deepest key of the path that the file has."""
    line: int | None = None
    node = tree
    for part in path:
        if isinstance(node, yaml.MappingNode):
            pair = next((p for p in node.value if str(p[0].value).replace("-", "_") == part.replace("-", "_")), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _kind(data: Any) -> str:
    return "a list" if isinstance(data, list) else "a single value"
