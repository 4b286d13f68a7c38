"""What is wrong with a server, for a command that tries it once and ends: no "since when", no "next try"."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from naru.errors import StoreError, StoreUnavailableError
from naru.records import ServerStatus
from naru.stores.files.atomic import replace_file
from naru.stores.secrets.redact import REDACTOR

if TYPE_CHECKING:  # heavy, and there already where these are called
    from naru.connections.explain import Explanation
    from naru.connections.manager import Manager

_TOLD_SECONDS = 86_400
_DIGITS = re.compile(r"\d+")
"""Counts of tries and seconds change while the problem is the same."""


def told_once(found: Explanation) -> tuple[str, str]:
    """Return what happened and what to do."""
    failure = found.failure
    if failure is None or found.is_usable or found.status is ServerStatus.CONNECTING:
        return REDACTOR.clean(found.summary), REDACTOR.clean(found.remedy)
    return REDACTOR.clean(f"At stage {failure.stage}: {failure.message}"), REDACTOR.clean(failure.remedy)


def check_store(manager: Manager) -> None:
    """Raise StoreUnavailableError when the servers cannot be read just now: a hub would wait, a command ends."""
    if manager.store_trouble:
        raise StoreUnavailableError(REDACTOR.clean(manager.store_trouble))


def news_of(problems: dict[str, str], folder: Path) -> dict[str, str]:
    """Return what of the servers' problems was not told within the last day, and take note that it is told now.

    A server that is well again, or fails for another reason, is told anew. Where nothing can be kept all is told.
    """
    path, now = folder.expanduser() / "told.json", int(time.time())
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = {}
    kept = {name: one for name, one in told.items() if isinstance(one, list)} if isinstance(told, dict) else {}
    fresh = {
        name: what
        for name, what in problems.items()
        if _DIGITS.sub("", kept.get(name, [""])[0]) != _DIGITS.sub("", what) or now - kept[name][1] > _TOLD_SECONDS
    }
    left = {name: [what, now] if name in fresh else kept[name] for name, what in problems.items()}
    if left != kept:
        with suppress(OSError, StoreError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(path, json.dumps(left, ensure_ascii=False).encode(), backup=False)
    return fresh


def unreadable(manager: Manager) -> dict[str, str]:
    """Return, by place, what is wrong with each entry of the store that cannot be used."""
    return {one.place: REDACTOR.clean(one.reason.removeprefix(one.place).lstrip(": ")) for one in manager.problems()}


def unusable(manager: Manager) -> dict[str, str]:
    """Return, by name, what is wrong with each server that is switched on and cannot be used, with its remedy."""
    found = {name: manager.explain(name) for name in sorted(manager.connections)}
    return {
        name: " ".join(told_once(one)).strip()
        for name, one in found.items()
        if not one.is_usable and (one.failure is not None or one.status is ServerStatus.CONNECTING)
    }
