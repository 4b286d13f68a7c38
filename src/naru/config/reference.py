"""The reference of all settings as Markdown, made from their docstrings, so that it cannot age."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from naru.config.live import LIVE
from naru.config.settings import DataSettings, Settings

_HEAD = """# Settings

Flags win over the environment, that over the settings file, that over the defaults. The file is the one that `--config`
or `NARU_CONFIG` names, else `~/.config/naru/naru.yaml`; a file in the working directory is never read by itself.
`server.port` is `server: {port: …}` in the file and `NARU_SERVER__PORT` in the environment.

A running hub reads its file again when it changes: settings marked *Live.* hold at once. The others hold from the next
start on, and the hub names them in its log and at `/readyz`.

Made from the docstrings in `src/naru/config`: `make reference`.
"""


def markdown() -> str:
    """Return the whole page."""
    lines, said = [_HEAD], _docstrings(Settings)
    for name, field in Settings.model_fields.items():
        model = _model_of(field.annotation)
        if model is None:
            lines += [f"## `{name}`\n", _row_head(), _row(name, field, said[name], prefix="NARU_"), ""]
            continue
        lines += [f"## `{name}`\n", f"{_first_line(model)}\n", _row_head()]
        lines += [_row(path, inner, text, prefix="NARU_") for path, inner, text in _fields(model, name)]
        lines.append("")
    lines += ["## The data search server\n", f"{_first_line(DataSettings)}\n", _row_head()]
    said = _docstrings(DataSettings)
    lines += [_row(name, field, said[name], prefix="") for name, field in DataSettings.model_fields.items()]
    return "\n".join(lines) + "\n"


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return what stands below each field; pydantic could read it too, but would at each start of the program."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if one.__module__.startswith("naru."):
            body = ast.parse(inspect.getsource(one)).body[0]
            assert isinstance(body, ast.ClassDef)
            for field, below in pairwise(body.body):
                match field, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[name] = " ".join(text.split())
    return found


def _fields(model: type[BaseModel], path: str) -> Iterator[tuple[str, FieldInfo, str]]:
    said = _docstrings(model)
    for name, field in model.model_fields.items():
        inner = _model_of(field.annotation)
        if inner is not None and get_origin(field.annotation) is None:
            yield from _fields(inner, f"{path}.{name}")
            continue
        yield f"{path}.{name}", field, said[name]
        if inner is not None:  # a list of tables
            yield from _fields(inner, f"{path}.{name}[]")


def _model_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for found in map(_model_of, get_args(annotation)) if found), None)


def _row_head() -> str:
    return "| setting | default | what it does | environment |\n|---|---|---|---|"


def _row(path: str, field: FieldInfo, said: str, *, prefix: str) -> str:
    described = said.replace("|", "\\|")
    variable = "" if "[]" in path else f"`{prefix}{path.replace('.', '__').upper()}`"
    if path in LIVE:
        described += " *Live.*"
    return f"| `{path}` | {_default(field)} | {described} | {variable} |"


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if field.is_required() or value in ("", None, [], {}):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _first_line(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201  # the page is the program's output
