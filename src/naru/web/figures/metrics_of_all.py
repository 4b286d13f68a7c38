"""`/metrics` of a hub with several workers: whoever is asked adds up what all of them counted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence

import aiohttp
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from naru.gateway.sessions.owners import HOP
from naru.stores.shared.commons import socket_of

logger = logging.getLogger(__name__)

_SECONDS = 3.0
_SENT = ("host", "authorization", "x-api-key", "cookie")
"""Headers that say who asks: each worker judges by itself."""


async def of_all(own: bytes, others: Mapping[str, str], headers: Mapping[str, str]) -> bytes:
    """Return this worker's page with those of the others added; one that does not answer is left out."""
    sockets = [found for found in map(socket_of, others.values()) if found[0]]
    if not sockets or HOP.decode() in headers:
        return own
    sent = {name: headers[name] for name in _SENT if name in headers} | {HOP.decode(): "1"}
    pages = await asyncio.gather(*(_page(path, scheme, sent) for path, scheme in sockets))
    return added([own.decode(), *(page for page in pages if page)])


async def _page(path: str, scheme: str, headers: Mapping[str, str]) -> str:
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(path), timeout=timeout) as http,
            http.get(f"{scheme}://hub/metrics", headers=headers, ssl=False) as answer,
        ):
            return await answer.text() if answer.status == 200 else ""
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        logger.warning("the figures of a worker are missing: %s", type(error).__name__)
        return ""


def added(pages: Sequence[str]) -> bytes:
    """Return pages of Prometheus' text form as one: counts are added up, of other figures the largest is taken."""
    families: dict[str, Metric] = {}
    values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
    for page in pages:
        for family in text_string_to_metric_families(page):
            families.setdefault(family.name, family)
            known = values.setdefault(family.name, {})
            join = max if family.type in ("gauge", "unknown", "info") else _sum
            for sample in family.samples:
                key = (sample.name, tuple(sorted(sample.labels.items())))
                known[key] = join(known[key], sample.value) if key in known else sample.value
    registry = CollectorRegistry()
    registry.register(_Fixed(families.values(), values))
    return generate_latest(registry)


def _sum(one: float, other: float) -> float:
    return one + other


class _Fixed(Collector):
    """Families as they are."""

    def __init__(
        self,
        families: Iterable[Metric],
        values: Mapping[str, Mapping[tuple[str, tuple[tuple[str, str], ...]], float]],
    ) -> None:
        self._families = list(families)
        self._values = values

    def collect(self) -> Iterator[Metric]:
        """Yield them with their joined values."""
        for family in self._families:
            joined = Metric(family.name, family.documentation, family.type)
            joined.samples = [
                Sample(name, dict(labels), value) for (name, labels), value in self._values[family.name].items()
            ]
            yield joined
