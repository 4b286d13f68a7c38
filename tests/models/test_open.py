"""From settings to backends."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.models.fake_endpoint import Reply, serve

from naru.config import Settings
from naru.errors import ConfigError
from naru.messages import ChatRequest, Message, Notice, Text
from naru.models.backend import for_model
from naru.models.known.knowledge import Findings, Knowledge
from naru.models.known.profile import Profile
from naru.models.limits.queued import QueuedBackend
from naru.models.local.engine import LocalEngine
from naru.models.open import open_backend
from naru.models.router import Router
from naru.models.wires.gemini import GeminiBackend
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_http import OpenAIBackend


@pytest.mark.parametrize(
    ("model", "wire"),
    [
        ({"base_url": "http://127.0.0.1:1234/v1"}, OpenAIBackend),
        ({"base_url": "http://127.0.0.1:11434"}, OllamaBackend),
        ({"base_url": "http://127.0.0.1:11434/v1", "api": "openai"}, OpenAIBackend),
        ({"base_url": "https://generativelanguage.googleapis.com/v1beta/openai"}, OpenAIBackend),
        ({"base_url": "https://generativelanguage.googleapis.com"}, GeminiBackend),
        ({"api": "gemini", "model": "gemma-3-12b-it"}, GeminiBackend),
    ],
)
async def test_the_wire_follows_from_the_endpoint(model: dict[str, str], wire: type, tmp_path: Path) -> None:
    backend = await open_backend(Settings(model=model, hub={"data_dir": tmp_path}))
    assert isinstance(backend, QueuedBackend)
    assert isinstance(backend.backend, wire)
    await backend.close()


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://h", "https://h"),
        ("https://h/v1beta", "https://h"),
        ("https://h/v1beta/models", "https://h"),
        ("https://gateway.example/v1/team/google-ai-studio", "https://gateway.example/v1/team/google-ai-studio"),
    ],
)
async def test_a_gateways_path_before_geminis_api_stays(given: str, used: str, tmp_path: Path) -> None:
    backend = await open_backend(Settings(model={"base_url": given, "api": "gemini"}, hub={"data_dir": tmp_path}))
    assert backend.backend.endpoint.base_url == used  # type: ignore[attr-defined]
    await backend.close()


async def test_limits_and_strategy_are_taken_from_the_settings(tmp_path: Path) -> None:
    model = {
        "base_url": "http://127.0.0.1:1/v1",
        "model": "gemma-3-12b-it",
        "strategy": "prompted",
        "limits": {"requests_per_minute": 15},
    }
    backend = await open_backend(Settings(model=model, hub={"data_dir": tmp_path}))
    assert isinstance(backend, QueuedBackend)
    assert backend.queue.limits.requests_per_minute == 15
    assert backend.profile.strategy == "prompted"
    assert for_model(backend, "gpt-4o").profile.family == "openai"
    await backend.close()


async def test_several_endpoints_make_a_router_with_the_chat_aliases(tmp_path: Path) -> None:
    endpoints = [{"name": "cloud", "base_url": "https://cloud.example/v1", "models": ["big-*"]}]
    settings = Settings(
        model={"base_url": "http://127.0.0.1:1/v1", "endpoints": endpoints},
        chat={"aliases": {"mine": "cloud/big-1"}},
        hub={"data_dir": tmp_path},
    )
    backend = await open_backend(settings)
    assert isinstance(backend, Router)
    assert backend.choose("mine")[0].name == "cloud"
    assert backend.choose("big-9")[0].name == "cloud"
    assert backend.choose("anything")[0].name == "default"
    await backend.close()


async def test_the_settings_fallbacks_are_asked_when_a_model_is_away(tmp_path: Path) -> None:
    said = b'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    async with serve([Reply([said])]) as endpoint:
        settings = Settings(
            model={
                "base_url": "http://127.0.0.1:9/v1",
                "model": "away",
                "fallbacks": ["other/there"],
                "endpoints": [{"name": "other", "base_url": endpoint.base_url}],
            },
            hub={"data_dir": tmp_path},
        )
        backend = await open_backend(settings)
        events = [event async for event in backend.stream(ChatRequest("", [Message("user", "hi")]))]
        await backend.close()
    assert "".join(one.text for one in events if isinstance(one, Text)) == "hello"
    assert any(isinstance(one, Notice) and "other/there answered in place of away" in one.text for one in events)


async def test_an_endpoint_that_cannot_be_used_is_told_before_an_engine_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: LocalEngine) -> None:
        raise AssertionError("the engine was started")

    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(2000))
    monkeypatch.setattr(LocalEngine, "start", never)
    model = {"model": str(path), "endpoints": [{"name": "cloud", "base_url": "cloud.example:1"}]}
    with pytest.raises(ConfigError, match="not an http"):
        await open_backend(Settings(model=model, hub={"data_dir": tmp_path}))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:8000", "not an http"),
        ("http://host:99999/v1", "not an http"),
        ("http://[::1/v1", "not an http"),
        ("http://\u00ad.example/v1", "cannot be sent"),
    ],
)
async def test_a_base_url_that_is_none_is_refused(url: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        await open_backend(Settings(model={"base_url": url}, hub={"data_dir": tmp_path}))


async def test_a_file_that_is_no_model_is_refused_before_an_engine_starts(tmp_path: Path) -> None:
    path = tmp_path / "notes.gguf"
    path.write_text("hello " * 500, encoding="utf-8")
    with pytest.raises(ConfigError, match="not a GGUF model"):
        await open_backend(Settings(model={"model": str(path)}, hub={"data_dir": tmp_path}))


def test_findings_are_laid_over_the_family_and_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "probes.json"
    Findings(path).keep("http://h/v1", "gemma-3-4b", Profile(native_tools=True, strategy="guided", guided="grammar"))
    knowledge = Knowledge(default_model="gemma-3-4b", endpoint="http://h/v1", findings=Findings(path))
    profile = knowledge.of("").profile
    assert (profile.native_tools, profile.strategy, profile.guided) == (True, "guided", "grammar")
    assert profile.family == "gemma"
    assert knowledge.of("gemma-3-12b").profile.strategy == "prompted", "another model is not touched"


def test_a_broken_findings_file_is_put_up_with(tmp_path: Path) -> None:
    path = tmp_path / "probes.json"
    path.write_text("{nonsense", encoding="utf-8")
    assert Findings(path).apply("e", "m", Profile()) == Profile()


def test_two_probes_side_by_side_keep_what_both_found(tmp_path: Path) -> None:
    """A probe takes minutes: what it read at its start is old when it saves (issue 23, line 2)."""
    path = tmp_path / "probes.json"
    first, second = Findings(path), Findings(path)
    first.keep("e", "one", Profile(strategy="guided"))
    second.keep("e", "two", Profile(strategy="prompted"))
    found = Findings(path)
    assert found.apply("e", "one", Profile()).strategy == "guided"
    assert found.apply("e", "two", Profile()).strategy == "prompted"


async def test_the_local_engine_is_known_to_see_no_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ollama's clients are told so by /api/show, and what a tool drew is told as not shown."""

    async def started(self: LocalEngine) -> None:
        self.base_url = "http://127.0.0.1:9/v1"

    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(2000))
    monkeypatch.setattr(LocalEngine, "start", started)
    backend = await open_backend(Settings(model={"model": str(path)}, hub={"data_dir": tmp_path}))
    assert for_model(backend, "").profile.images == "none"
    await backend.close()
