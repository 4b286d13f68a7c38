"""Options that several commands share, and settings made from them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from naru.cli.terminal.output import print_note
from naru.config import Settings, environment, load_settings, settings_path
from naru.stores.shared.open import share_folder
from naru.telemetry.logs import configure_logging

Model = Annotated[
    str,
    typer.Option("--model", "-m", help="qwen2.5-coder-0.5b, qwen2.5-coder-1.5b, a GGUF file, or the endpoint's name."),
]
BaseUrl = Annotated[
    str, typer.Option("--base-url", help="Any OpenAI-compatible endpoint; without it the local engine.")
]


class Transport(StrEnum):
    """How MCP clients come."""

    STDIO = "stdio"
    SSE = "sse"
    HTTP = "http"


Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="Settings file; else NARU_CONFIG, else ~/.config/naru/naru.yaml.")
]


def settings_from(config: Path | None = None, /, *, is_service: bool = False, **flags: Any) -> Settings:
    """Read settings with flags on top, given as `section__name=value`; None and empty text mean not given.

    A command that is done in a moment tells by itself what is wrong: without a `log_level` it logs nothing.

    Raises:
        ConfigError: a file, variable or flag holds something that cannot be used.
    """
    sections: dict[str, dict[str, Any]] = {}
    for key, value in flags.items():
        if value not in (None, ""):
            section, _, name = key.partition("__")
            sections.setdefault(section, {})[name] = value
    settings = load_settings(config, **sections)
    if is_service:
        _tell_of_what_is_not_read(config)
    is_chosen = is_service or "log_level" in settings.model_fields_set
    configure_logging(settings if is_chosen else settings.model_copy(update={"log_level": "CRITICAL"}))
    if not is_service:
        share_folder(settings.hub)
    return settings


def _tell_of_what_is_not_read(config: Path | None) -> None:
    """Say so where somebody may think that a setting holds: a hub could be open without it (S-24).

    That is the folder's own file, and a variable of a section that there is not; one without a section may be
    somebody else's, as those that Kubernetes sets for a service of the name `naru`.
    """
    for name in sorted(name for name in environment() if name.startswith("NARU_")):
        section, below, _ = name.removeprefix("NARU_").partition("__")
        if below and section.lower() not in Settings.model_fields and not section.startswith("INPUT_"):
            print_note(f"{name} is read by no setting: there is no section {section.lower()}. See: naru validate")
    here, chosen = Path("naru.yaml"), settings_path()
    if config is None and here.is_file() and not (chosen and chosen.exists() and here.samefile(chosen)):
        print_note(
            "naru.yaml in this folder is not read by itself: say --config naru.yaml, or move it to ~/.config/naru/"
        )


class JoinProgress:
    """Shows how far the joining of a model's parts has come, on stderr; nothing when it takes no time."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._task: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note of `done` of `total` bytes of what is being done."""
        if not self._console.is_terminal:  # a bar that nobody sees still ends its line
            return
        if self._progress is None:
            self._progress = Progress(
                TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=self._console, transient=True
            )
            self._progress.start()
            self._task = self._progress.add_task(what, total=total)
        self._progress.update(self._task, completed=done)
        if done >= total:
            self._progress.stop()
