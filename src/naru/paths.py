"""What a path names, told also of paths that the system takes for none: too long a name, the home of nobody."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Literal


def found_at(path: Path) -> Literal["", "file", "folder"]:
    """Return what stands there; nothing where nothing can."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file"


def at_home(path: str) -> Path:
    """Return a path with its `~` replaced, if that is somebody's home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
