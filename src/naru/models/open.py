"""From settings to a backend: the one place that decides which wire and which engine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from naru.config import AgentSettings, EndpointSettings, LimitSettings, ModelSettings, Settings
from naru.models.backend import Backend
from naru.models.fallback import FallingBack
from naru.models.known.families import profile_for
from naru.models.known.knowledge import Findings, Knowledge
from naru.models.limits.queue import RequestQueue
from naru.models.limits.queued import QueuedBackend
from naru.models.limits.rate import RateLimits
from naru.models.limits.shared_rate import SharedRate
from naru.models.local.engine import EngineOptions, LocalEngine
from naru.models.local.weights import DEFAULT_MODEL, WEIGHTS, Progress, locate_model
from naru.models.router import Route, Router
from naru.models.traced import Target, TracedBackend
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.gemini import DEFAULT_BASE_URL, GeminiBackend
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_http import OpenAIBackend
from naru.models.wires.responses import ResponsesBackend
from naru.stores.secrets.redact import REDACTOR
from naru.telemetry.figures import Figures
from naru.telemetry.tracing import active

_OLLAMA_PORT = 11434
_GEMINI_VERSION = re.compile(r"/v1(?:beta\d*|alpha)?(?:/(?:models|openai)\b.*)?$")
"""Of an address: Google's SDK puts its own there; a path before it, of a proxy, stays."""
_MAIN = "default"
_ANTHROPIC_HOST = "api.anthropic.com"
WireBackend = OpenAIBackend | OllamaBackend | GeminiBackend | AnthropicBackend | ResponsesBackend


async def open_backend(
    settings: Settings, *, progress: Progress | None = None, figures: Figures | None = None
) -> Backend:
    """Open the backend that the settings name; starts the local engine when there is no base URL.

    Args:
        settings: all settings; `model`, `agent`, `chat.aliases` and `hub.data_dir` are read.
        progress: told about the joining of a demo model's parts.
        figures: told of every model call.

    Raises:
        ConfigError: no model, not a GGUF, an extra is missing, or a base URL is no URL.
        ModelError: the local engine could not load the model.
    """
    findings = Findings(findings_path(settings))
    # What cannot be used is told before an engine is started, which nobody would stop then.
    routes = []
    for given in settings.model.endpoints:
        wire = open_wire(given, settings, findings)
        routes.append(Route(given.name, _queued(wire, given.name, given.limits, figures), tuple(given.models)))
    backend = await _open_main(settings, findings, progress, figures)
    if routes:
        backend = Router([Route(_MAIN, backend), *routes], settings.chat.aliases)
    if settings.model.fallbacks:
        backend = FallingBack(backend, settings.model.fallbacks, model=settings.model.model)
    return backend


def findings_path(settings: Settings) -> Path:
    """Return where `naru probe` keeps what it measured."""
    return settings.hub.data_dir / "probes.json"


def main_endpoint(settings: ModelSettings) -> EndpointSettings:
    """Return the endpoint of `model.base_url` in the form of the others."""
    base_url = settings.base_url or (DEFAULT_BASE_URL if settings.api == "gemini" else "")
    return EndpointSettings(
        name=_MAIN, base_url=base_url, api_key=settings.api_key, api=settings.api, limits=settings.limits
    )


async def open_measurable(settings: Settings, *, progress: Progress | None = None) -> tuple[Backend, Knowledge, str]:
    """Open the main endpoint for a probe: as nothing had been measured, without a queue.

    Returns:
        The backend, what it knows of its models, and the name of the model to ask for.
    """
    nothing = Findings()
    given = main_endpoint(settings.model)
    wire = (
        open_wire(given, settings, nothing, model=settings.model.model)
        if given.base_url
        else await _open_local(settings, nothing, progress)
    )
    return wire, wire.knowledge, wire.model


async def _open_main(
    settings: Settings, findings: Findings, progress: Progress | None, figures: Figures | None
) -> Backend:
    endpoint = main_endpoint(settings.model)
    if endpoint.base_url:
        wire = open_wire(endpoint, settings, findings, model=settings.model.model)
        return _queued(wire, endpoint.name, endpoint.limits, figures)
    local = await _open_local(settings, findings, progress)
    # The engine's own queue knows neither turns nor places.
    side_by_side = endpoint.limits.max_concurrent or EngineOptions().parallel
    return _queued(local, endpoint.name, endpoint.limits.model_copy(update={"max_concurrent": side_by_side}), figures)


def open_wire(given: EndpointSettings, settings: Settings, findings: Findings, *, model: str = "") -> WireBackend:
    """Return a backend for one endpoint; nothing is sent yet."""
    key = given.api_key.get_secret_value()
    REDACTOR.learn([key, *given.headers.values()])
    endpoint = Endpoint.of(given.base_url, key, given.headers)
    knowledge = Knowledge(
        default_model=model,
        endpoint=endpoint.shown,
        findings=findings,
        given=_given(settings.model, takes_form=_wire(given) == "openai"),
        small=_wants_help(settings.agent),
    )
    timeout = settings.agent.model_timeout_seconds
    match _wire(given):
        case "ollama":
            context = settings.model.context_tokens
            return OllamaBackend(endpoint, knowledge, model=model, context_tokens=context, timeout_seconds=timeout)
        case "anthropic":
            return AnthropicBackend(endpoint, knowledge, model=model, timeout_seconds=timeout)
        case "responses":
            return ResponsesBackend(endpoint, knowledge, model=model, timeout_seconds=timeout)
        case "gemini":
            bare = _GEMINI_VERSION.sub("", endpoint.base_url)
            endpoint = Endpoint(bare, endpoint.api_key, endpoint.extra_headers)
            return GeminiBackend(endpoint, knowledge, model=model, timeout_seconds=timeout)
        case _:
            return OpenAIBackend(endpoint, knowledge, model=model, timeout_seconds=timeout)


def _wants_help(settings: AgentSettings) -> Callable[[str], bool | None]:
    """Return what the user says of helping a model as a small one; None of it leaves that to its size."""

    def wants(model: str) -> bool | None:
        rules = [rule for name, rule in settings.small_models.items() if fnmatchcase(model, name)]
        return {"on": True, "off": False}.get((rules or [settings.small])[0])

    return wants


def _given(settings: ModelSettings, *, takes_form: bool = True) -> dict[str, object]:
    """Return what of a model's profile the user has set; the form of schemas is for OpenAI's wire alone."""
    names = ("strategy", "context_tokens", "reasoning", *(["schema_form"] if takes_form else []))
    return {name: getattr(settings, name) for name in names}


def _wire(given: EndpointSettings) -> str:
    """Tell the wire where it is not said: Ollama by its port, Gemini by its host unless it is its OpenAI path."""
    if given.api != "auto":
        return given.api
    parts = urlsplit(given.base_url)
    if parts.port == _OLLAMA_PORT:
        return "ollama"
    if parts.hostname == urlsplit(DEFAULT_BASE_URL).hostname and "openai" not in parts.path:
        return "gemini"
    if parts.hostname == _ANTHROPIC_HOST and not parts.path.endswith("/chat/completions"):
        return "anthropic"
    return "openai"


def _queued(backend: Backend, name: str, limits: LimitSettings, figures: Figures | None) -> Backend:
    """Put the key's queue before a backend: without limits it still waits out refusals."""
    rates = RateLimits(
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
        requests_per_day=limits.requests_per_day,
        tokens_per_day=limits.tokens_per_day,
        max_concurrent=limits.max_concurrent,
    )
    queue = RequestQueue(rates, max_waiting=limits.max_waiting, max_wait_seconds=limits.max_wait_seconds)
    if figures is not None:
        queue.figures = figures
        figures.queues[name] = queue.load
    shared = SharedRate(limits.redis_url, name, rates) if limits.redis_url else None
    tracing = active()
    return QueuedBackend(TracedBackend(backend, tracing, _target(backend)) if tracing else backend, queue, shared)


def _target(backend: Backend) -> Target:
    """Name an endpoint as spans do: the provider, the host, the port."""
    match backend:
        case OllamaBackend(endpoint=endpoint):
            provider = "ollama"
        case AnthropicBackend(endpoint=endpoint):
            provider = "anthropic"
        case GeminiBackend(endpoint=endpoint):
            provider = "gcp.gemini"
        case ResponsesBackend(endpoint=endpoint):
            provider = "openai"
        case OpenAIBackend(endpoint=endpoint):
            hosted = urlsplit(endpoint.base_url).hostname == "api.openai.com"
            provider = "openai" if hosted else "llama.cpp" if backend.is_local else "openai_compatible"
        case _:
            return Target("naru")
    parts = urlsplit(endpoint.base_url)
    return Target(provider, parts.hostname or "", parts.port)


async def _open_local(settings: Settings, findings: Findings, progress: Progress | None) -> WireBackend:
    asked = settings.model.model
    path = await asyncio.to_thread(locate_model, asked, settings.model.cache_dir, progress=progress)
    name = _served_name(asked, path)
    context = settings.model.context_tokens or EngineOptions().context_tokens
    options = EngineOptions(context_tokens=context, threads=settings.model.threads)
    engine = LocalEngine(path, alias=name, options=options)
    await engine.start()
    knowledge = Knowledge(
        replace(profile_for(name), images="none"),  # It is started without what models see with.
        default_model=name,
        endpoint="local",
        findings=findings,
        given={**_given(settings.model), "context_tokens": context},
        small=_wants_help(settings.agent),
    )
    return OpenAIBackend(
        Endpoint(engine.base_url, engine.api_key, keep_alive=False),
        knowledge,
        model=name,
        schemas="llama.cpp",
        timeout_seconds=settings.agent.model_timeout_seconds,
        engine=engine,
    )


def _served_name(asked: str, path: Path) -> str:
    name = asked or DEFAULT_MODEL
    return name if name in WEIGHTS else path.stem
