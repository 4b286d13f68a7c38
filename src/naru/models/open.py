"""From settings to a backend: the one place that decides which wire and which engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from naru.config import Settings
from naru.models.backend import Backend
from naru.models.families import profile_for
from naru.models.local import EngineOptions, LocalEngine
from naru.models.openai_http import Endpoint, OpenAIBackend
from naru.models.weights import DEFAULT_MODEL, WEIGHTS, Progress, locate_model


async def open_backend(settings: Settings, *, progress: Progress | None = None) -> Backend:
    """Open the backend that the settings name; starts the local engine when there is no base URL.

    Args:
        settings: all settings; `model` and `agent` are read.
        progress: told about the joining of a demo model's parts.

    Raises:
        ConfigError: no model, not a GGUF, an extra is missing, or the base URL is no URL.
        ModelError: the local engine could not load the model.
    """
    if settings.model.base_url:
        endpoint = Endpoint.of(settings.model.base_url, settings.model.api_key.get_secret_value())
        return OpenAIBackend(
            endpoint,
            profile_for(settings.model.model),
            model=settings.model.model,
            timeout_seconds=settings.agent.model_timeout_seconds,
        )
    return await _open_local(settings, progress)


async def _open_local(settings: Settings, progress: Progress | None) -> Backend:
    asked = settings.model.model
    path = await asyncio.to_thread(locate_model, asked, settings.model.cache_dir, progress=progress)
    name = _served_name(asked, path)
    options = EngineOptions(context_tokens=settings.model.context_tokens, threads=settings.model.threads)
    engine = LocalEngine(path, alias=name, options=options)
    await engine.start()
    return OpenAIBackend(
        Endpoint(engine.base_url, engine.api_key, keep_alive=False),
        profile_for(name),
        model=name,
        timeout_seconds=settings.agent.model_timeout_seconds,
        on_close=engine.stop,
    )


def _served_name(asked: str, path: Path) -> str:
    name = asked or DEFAULT_MODEL
    return name if name in WEIGHTS else path.stem
