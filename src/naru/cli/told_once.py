"""What is wrong with a server, for a command that tries it once and ends: no "since when", no "next try"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naru.errors import StoreUnavailableError
from naru.records import ServerStatus
from naru.stores.redact import REDACTOR

if TYPE_CHECKING:  # heavy, and there already where these are called
    from naru.connections.explain import Explanation
    from naru.connections.manager import Manager


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


def unusable(manager: Manager) -> dict[str, str]:
    """Return, by name, what is wrong with each server that is switched on and cannot be used, with its remedy."""
    found = {name: manager.explain(name) for name in sorted(manager.connections)}
    return {
        name: " ".join(told_once(one)).strip()
        for name, one in found.items()
        if not one.is_usable and (one.failure is not None or one.status is ServerStatus.CONNECTING)
    }
