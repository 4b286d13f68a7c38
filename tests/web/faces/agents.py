"""Coding agents and terminal clients as their makers ship them, as rows: how each is installed, told of Naru, asked."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SAID = "own-tool-said-this"
_SECONDS = 180
_LLM_TOOL = f'def bash(command: str, description: str = "") -> str:\n    "Run a command."\n    return "{SAID}"\n'


@dataclass(frozen=True)
class Agent:
    package: str
    version: str
    program: str
    arguments: Callable[[str, str], Sequence[str]]
    """Of the model and the question."""
    variables: Callable[[str, str], Mapping[str, str]] = lambda url, model: {}
    """Of the hub's URL and the model."""
    prepare: Callable[[Path, str, str], None] = lambda home, url, model: None
    """Writes its settings into an empty home folder, whose `work` is where it starts."""
    is_python: bool = False
    has_tools: bool = True
    """One without edits files by what the model writes."""


async def words_of(program: str, *arguments: str, home: Path, variables: Mapping[str, str]) -> str:
    """Run a program in `work` of a home folder; return all that it wrote."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        cwd=home / "work",
        env={"PATH": os.environ["PATH"], "HOME": str(home), **variables},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return out.decode(errors="replace")


def _codex(home: Path, url: str, model: str) -> None:
    provider = f'[model_providers.naru]\nname = "Naru"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
    limits = 'env_key = "NARU_API_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
    (home / ".codex").mkdir()
    text = f'model = "{model}"\nmodel_provider = "naru"\n{provider}{limits}'
    (home / ".codex" / "config.toml").write_text(text, encoding="utf-8")


def _opencode(home: Path, url: str, model: str) -> None:
    options = {"baseURL": f"{url}/v1", "apiKey": "made-up"}
    naru = {"npm": "@ai-sdk/openai-compatible", "name": "Naru", "options": options, "models": {model: {}}}
    (home / "work" / "opencode.json").write_text(json.dumps({"provider": {"naru": naru}}), encoding="utf-8")


def _continue(home: Path, url: str, model: str) -> None:
    asked = {"name": "naru", "provider": "openai", "model": model, "apiBase": f"{url}/v1", "apiKey": "none"}
    made = {"name": "Naru", "version": "1.0.0", "schema": "v1"}
    made["models"] = [{**asked, "roles": ["chat", "edit", "apply"], "capabilities": ["tool_use"]}]  # type: ignore[assignment]
    (home / "continue.yaml").write_text(json.dumps(made), encoding="utf-8")  # JSON is YAML


def _llm(home: Path, url: str, model: str) -> None:
    row = {"model_id": "naru", "model_name": model, "api_base": f"{url}/v1", "supports_tools": True}
    (home / "extra-openai-models.yaml").write_text(json.dumps([row]), encoding="utf-8")


AGENTS = {
    "codex": Agent(
        "@openai/codex",
        "0.171.0",
        "codex",
        lambda model, asked: ["exec", "--skip-git-repo-check", "-s", "danger-full-access", asked],
        lambda url, model: {"NARU_API_KEY": "made-up"},
        _codex,
    ),
    "claude-code": Agent(
        "@anthropic-ai/claude-code",
        "2.1.197",
        "claude",
        lambda model, asked: ["-p", asked, "--allowedTools", "Bash"],
        lambda url, model: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_AUTH_TOKEN": "made-up",
            "ANTHROPIC_MODEL": model,
            "ANTHROPIC_SMALL_FAST_MODEL": model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        },
    ),
    "qwen-code": Agent(
        "@qwen-code/qwen-code",
        "0.15.10",
        "qwen",
        lambda model, asked: ["--auth-type", "openai", "--yolo", "-p", asked],
        lambda url, model: {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "made-up", "OPENAI_MODEL": model},
    ),
    "opencode": Agent(
        "opencode-ai",
        "1.18.33",
        "opencode",
        lambda model, asked: ["run", "-m", f"naru/{model}", asked],
        lambda url, model: {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        _opencode,
    ),
    "continue": Agent(
        "@continuedev/cli",
        "1.5.47",
        "cn",
        lambda model, asked: ["-p", "--auto", "--config", "../continue.yaml", asked],
        lambda url, model: {"CONTINUE_TELEMETRY_ENABLED": "0"},
        _continue,
    ),
    "aider": Agent(
        "aider-chat",
        "0.86.2",
        "aider",
        lambda model, asked: [
            *("--model", f"openai/{model}", "--no-check-update", "--analytics-disable", "--no-show-model-warnings"),
            *("--yes-always", "--no-git", "--no-show-release-notes", "--message", asked, "a.txt"),
        ],
        lambda url, model: {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "made-up"},
        is_python=True,
        has_tools=False,
    ),
    "llm": Agent(
        "llm",
        "0.36",
        "llm",
        lambda model, asked: ["-m", "naru", *(["--functions", _LLM_TOOL] if "your own" in asked else []), asked],
        lambda url, model: {"LLM_USER_PATH": "..", "OPENAI_API_KEY": "made-up"},
        _llm,
        is_python=True,
    ),
}
