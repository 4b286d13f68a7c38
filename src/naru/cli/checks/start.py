"""What keeps a hub from starting, or is passed over by it, though each setting by itself can be read."""

from __future__ import annotations

from collections.abc import Callable

from naru.cli.checks.problem import Level, Problem
from naru.cli.serve.listening import tls_of
from naru.config import Settings
from naru.connections.own_servers import own_records
from naru.errors import NaruError
from naru.models.transport.endpoint import Endpoint
from naru.web.face.profiles import check_profiles
from naru.web.gate.security import check_bind


def check_start(settings: Settings, file: str, *more: Callable[[], object]) -> list[Problem]:
    """Do what `naru serve` does before it opens anything; return what it would refuse, and names that mean nothing."""
    urls = [url for url in (settings.model.base_url, *(one.base_url for one in settings.model.endpoints)) if url]
    steps: list[Callable[[], object]] = [
        lambda: check_bind(settings.server),
        lambda: tls_of(settings.server),
        lambda: check_profiles(settings.chat),
        lambda: own_records(settings),
        lambda: [Endpoint.of(url) for url in urls],
        *more,
    ]
    found: list[Problem] = []
    for step in steps:
        try:
            step()
        except NaruError as error:
            found.append(Problem(Level.ERROR, file, "", error.message, error.remedy))
    return found
