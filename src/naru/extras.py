"""How an extra of Naru's is installed: into the environment that runs, from where Naru itself came.

The distribution is `naru-hub`; `naru` on the index is somebody else's package and must never be named in an `install`.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "naru-hub"


def install_command(extra: str, *, anew: bool = False) -> str:
    """Return the command that adds `extra` to the environment that runs this.

    Args:
        extra: a name of `[project.optional-dependencies]`, or several with commas between.
        anew: install again what is there but damaged.
    """
    again = (" --force-reinstall" if find_spec("pip") else " --reinstall") if anew else ""
    python = shlex.quote(sys.executable or "python")
    # Environments of uv hold no pip.
    tool = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{tool}{again} {_requirement(extra, _origin())}"


def _origin() -> dict[str, Any]:
    """Return what the installer noted of where Naru came from (PEP 610); empty for an index, or no installation."""
    try:
        noted = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        found = json.loads(noted or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _requirement(extra: str, origin: dict[str, Any]) -> str:
    url = str(origin.get("url", ""))
    named = f"{DISTRIBUTION}[{extra}]"
    if not url:
        return shlex.quote(named)
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        return shlex.quote(f"{named} @ {vcs.get('vcs', 'git')}+{url}@{vcs.get('commit_id', '')}".rstrip("@"))
    split = urlsplit(url)
    if split.scheme != "file":
        return shlex.quote(f"{named} @ {url}")
    path = f"{Path(unquote(split.path))}[{extra}]"
    return f"{'-e ' if origin.get('dir_info', {}).get('editable') else ''}{shlex.quote(path)}"
