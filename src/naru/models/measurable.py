"""The way to one model of a running hub for measuring it: as if nothing had been measured, behind its queue."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from naru.errors import UserError
from naru.messages import JsonObject
from naru.models.backend import Backend
from naru.models.known.knowledge import Knowledge
from naru.models.limits.queued import QueuedBackend
from naru.models.router import Router


@dataclass(frozen=True, slots=True)
class Measurable:
    """What `probe` takes, with the knowledge that requests go by and that learns what was found."""

    backend: Backend
    fresh: Knowledge
    live: Knowledge
    model: str
    """The name by which the endpoint knows it."""


def measurable(backend: Backend, model: str) -> Measurable:
    """Return a model of a hub as a probe wants it: the same endpoint and queue, and nothing known but its family.

    Raises:
        NotFoundError: no endpoint serves it.
        UserError: it is no model of an endpoint, and nothing about it can be measured.
    """
    wire, queued, name = _wire(backend, model)
    live = getattr(wire, "knowledge", None)
    if not isinstance(live, Knowledge):
        raise UserError(f"{model[:200]!r} cannot be measured.", remedy="Name a model of an endpoint: GET /v1/models.")
    twin = copy.copy(wire)
    fresh = live.unmeasured()
    twin.knowledge = fresh  # type: ignore[attr-defined]  # every wire has it, as was just seen
    asked: Backend = twin if queued is None else QueuedBackend(twin, queued.queue, queued.shared)
    return Measurable(asked, fresh, live, name or live.default_model)


def measured(backend: Backend, model: str) -> JsonObject | None:
    """Return what the last probe of a model found, or None."""
    wire, _, name = _wire(backend, model)
    known = getattr(wire, "knowledge", None)
    return known.probed(name) if isinstance(known, Knowledge) else None


def _wire(backend: Backend, model: str) -> tuple[Backend, QueuedBackend | None, str]:
    queued, name = None, model
    while True:
        if isinstance(backend, Router):
            route, name = backend.choose(name)
            backend = route.backend
            continue
        if isinstance(backend, QueuedBackend):
            queued = backend
        inner = getattr(backend, "backend", None)
        if inner is None:
            return backend, queued, name
        backend = inner
