"""Options that several commands share, and settings made from them."""

from __future__ import annotations

import logging
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from naru.config import Settings
from naru.errors import ConfigError

Model = Annotated[
    str,
    typer.Option("--model", "-m", help="qwen2.5-coder-0.5b, qwen2.5-coder-1.5b, a GGUF file, or the endpoint's name."),
]
BaseUrl = Annotated[
    str, typer.Option("--base-url", help="Any OpenAI-compatible endpoint; without it the local engine.")
]


def settings_from(**flags: Any) -> Settings:
    """Read settings with flags on top, given as `section__name=value`; None and empty text mean not given.

    Raises:
        ConfigError: a file, variable or flag holds something that cannot be used.
    """
    sections: dict[str, dict[str, Any]] = {}
    for key, value in flags.items():
        if value not in (None, ""):
            section, _, name = key.partition("__")
            sections.setdefault(section, {})[name] = value
    try:
        settings = Settings(**sections)  # type: ignore[arg-type]  # pydantic reads each section from a dict
    except (ValidationError, SettingsError) as error:
        raise ConfigError(
            f"The settings cannot be used: {_first_line(error)}", remedy="See docs/reference/settings.md."
        ) from error
    logging.basicConfig(level=settings.log_level, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("uvicorn").setLevel("WARNING")
    return settings


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}."
    return str(error).splitlines()[0]


class JoinProgress:
    """Shows how far the joining of a model's parts has come, on stderr; nothing when it takes no time."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._task: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note of `done` of `total` bytes of what is being done."""
        if self._progress is None:
            self._progress = Progress(
                TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=self._console, transient=True
            )
            self._progress.start()
            self._task = self._progress.add_task(what, total=total)
        self._progress.update(self._task, completed=done)
        if done >= total:
            self._progress.stop()
