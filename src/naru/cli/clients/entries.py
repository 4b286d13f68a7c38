"""What each client needs to use Naru, as rows: the entry of its settings file, or what to type, and what to do then."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

KEY_VARIABLE = "NARU_API_KEY"
"""Where clients are told to find the key; Naru writes no secret into another product's file."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where Naru is, and how it is asked."""

    url: str
    """Base URL of the hub."""
    program: tuple[str, ...]
    """Command line of `naru` for clients that start programs, by its whole path: they do not know this PATH."""
    model: str
    asks_for_key: bool = False


@dataclass(frozen=True, slots=True)
class ClientRow:
    """A client that can be connected."""

    name: str
    title: str
    kind: str
    """`json`, `toml` or `yaml`: how its file is written; empty when it has none that may be written."""
    path: tuple[str, ...] = ()
    """Where the entry belongs in the file, without its name."""
    entry: Callable[[Address], dict[str, Any]] | None = None
    steps: Sequence[str] = ()
    """What to do by hand: `{url}`, `{model}`, `{key}` are filled in."""
    then: Sequence[str] = ()
    """What to do next."""
    tested: str = ""
    """What asks Naru in its tests, unchanged, with its version; other rows are from the client's documentation."""

    @property
    def checked(self) -> str:
        """How it is known that this is what the client needs."""
        return f"tested with {self.tested}" if self.tested else "by its documentation"


def _bearer(address: Address, reference: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {reference}"}} if address.asks_for_key else {}


def _program(address: Address) -> dict[str, Any]:
    return {"command": address.program[0], "args": [*address.program[1:], "serve", "--stdio"]}


def _http(
    url_key: str = "url", *, kind: str = "", key: str = f"${{{KEY_VARIABLE}}}"
) -> Callable[[Address], dict[str, Any]]:
    def make(address: Address) -> dict[str, Any]:
        made: dict[str, Any] = {"type": kind} if kind else {}
        return made | {url_key: f"{address.url}/mcp"} | _bearer(address, key)

    return make


def _codex(address: Address) -> dict[str, Any]:
    made = {"url": f"{address.url}/mcp"}
    return made | ({"bearer_token_env_var": KEY_VARIABLE} if address.asks_for_key else {})


def _continue(address: Address) -> dict[str, Any]:
    return {
        "name": "Naru",
        "provider": "openai",
        "model": f"{address.model}+tools",
        "apiBase": f"{address.url}/v1",
        "apiKey": f"${{{{ secrets.{KEY_VARIABLE} }}}}" if address.asks_for_key else "none",
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use"],
    }


_SERVE = "Keep Naru running: naru serve"
_MCP = ("mcpServers",)
CLIENTS = (
    ClientRow(
        "claude-desktop",
        "Claude Desktop",
        "json",
        _MCP,
        _program,
        then=("Quit Claude Desktop, from its menu, and start it again; it starts Naru by itself.",),
    ),
    ClientRow(
        "claude-code", "Claude Code", "json", _MCP, _http(kind="http"),
        steps=(
            "To have it ask Naru's model as well, in the terminal that starts it:",
            "  export ANTHROPIC_BASE_URL={url} ANTHROPIC_AUTH_TOKEN={key}",
            "  export ANTHROPIC_MODEL={model} ANTHROPIC_SMALL_FAST_MODEL={model}",
        ),
        then=(_SERVE, "In Claude Code: /mcp"),
        tested="2.1.197",
    ),
    ClientRow(
        "cursor", "Cursor", "json", _MCP, _http(key=f"${{env:{KEY_VARIABLE}}}"),
        then=(_SERVE, "In Cursor: Settings, MCP; switch naru on."),
    ),
    ClientRow(
        "vscode", "VS Code", "json", ("servers",), _http(kind="http", key=f"${{env:{KEY_VARIABLE}}}"),
        then=(_SERVE, "In VS Code: MCP: List Servers, naru, Start; then open the chat in agent mode."),
    ),
    ClientRow(
        "codex", "Codex", "toml", ("mcp_servers",), _codex,
        steps=(
            "To have it ask Naru's model as well, at the top of the same file:",
            '  model = "{model}"',
            '  model_provider = "naru"',
            "and at its end:",
            "  [model_providers.naru]",
            '  name = "Naru"',
            '  base_url = "{url}/v1"',
            '  wire_api = "responses"',
            '  env_key = "NARU_API_KEY"  # any text, where no key is asked for',
        ),
        then=(_SERVE, "In Codex: /mcp"),
        tested="0.171.0",
    ),
    ClientRow(
        "windsurf", "Windsurf", "json", _MCP, _http("serverUrl"),
        then=(_SERVE, "In Windsurf: the plug in the Cascade panel, Refresh."),
    ),
    ClientRow("cline", "Cline", "json", _MCP, _http(kind="streamableHttp"), then=(_SERVE, "Cline sees it by itself.")),
    ClientRow(
        "gemini", "Gemini CLI", "json", _MCP, _http("httpUrl"),
        then=(_SERVE, "In Gemini CLI: /mcp"),
        tested="0.61.0",
    ),
    ClientRow(
        "continue", "Continue", "yaml", ("models",), _continue,
        then=(_SERVE, "In Continue: choose the model naru; its answers use the hub's tools."),
        tested="1.5.47",
    ),
    ClientRow(
        "void", "Void", "json", _MCP, _http(),
        steps=(
            "In Void: Settings, Models, OpenAI-Compatible",
            "  baseURL  {url}/clients/void/v1",
            "  API key  {key}",
            "Add a model there: {model}-4o  (its name tells Void to use tool calls)",
        ),
        then=(_SERVE,),
    ),
    ClientRow(
        "opencode", "opencode", "",
        steps=(
            "In opencode.json (of the project, or in ~/.config/opencode):",
            '  "provider": {{"naru": {{"npm": "@ai-sdk/openai-compatible", "name": "Naru",',
            '    "options": {{"baseURL": "{url}/v1", "apiKey": "{key}"}},',
            '    "models": {{"{model}": {{}}}}',
            "  }}}}",
        ),
        then=(_SERVE, "In opencode: /models, then Naru."),
        tested="1.18.33",
    ),
    ClientRow(
        "qwen-code", "Qwen Code", "",
        steps=("export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key} OPENAI_MODEL={model}", "qwen --auth-type openai"),
        then=(_SERVE,),
        tested="0.15.10",
    ),
    ClientRow(
        "crush", "Crush", "",
        steps=(
            "In crush.json (of the project, or in ~/.config/crush):",
            '  "providers": {{"naru": {{"type": "openai-compat", "base_url": "{url}/v1", "api_key": "{key}",',
            '    "models": [{{"id": "{model}", "name": "Naru", "context_window": 32768, "default_max_tokens": 4096}}]',
            "  }}}}",
        ),
        then=(_SERVE, "In Crush: Ctrl+P, Switch Model, Naru."),
    ),
    ClientRow(
        "goose", "Goose", "",
        steps=(
            "In ~/.config/goose/custom_providers/naru.json:",
            "{{",
            '  "name": "naru", "engine": "openai", "display_name": "Naru", "api_key_env": "NARU_API_KEY",',
            '  "base_url": "{url}/v1", "models": [{{"name": "{model}", "context_limit": 32768}}]',
            "}}",
            "and where it is started:",
            "export GOOSE_PROVIDER=naru GOOSE_MODEL={model} NARU_API_KEY={key}",
            "goose session",
        ),
        then=(_SERVE,),
        tested="its makers' goose-sdk 0.1.0a13",
    ),
    ClientRow(
        "aider", "aider", "",
        steps=("export OPENAI_API_BASE={url}/v1 OPENAI_API_KEY={key}", "aider --model openai/{model}"),
        then=(_SERVE,),
        tested="0.86.2",
    ),
    ClientRow(
        "llm", "llm", "",
        steps=(
            "In extra-openai-models.yaml, in the folder that this names: dirname \"$(llm logs path)\"",
            "  - model_id: naru",
            "    model_name: {model}",
            "    api_base: {url}/v1",
            "    supports_tools: true",
            "llm keys set openai  (give it {key}, or any text where no key is asked for)",
        ),
        then=(_SERVE, 'llm -m naru "…"'),
        tested="0.36",
    ),
    ClientRow(
        "zed", "Zed", "",
        steps=(
            "In Zed's settings.json:",
            '  "language_models": {{"openai_compatible": {{"Naru": {{',
            '    "api_url": "{url}/v1",',
            '    "available_models": [{{"name": "{model}", "max_tokens": 32768}}]',
            "  }}}}}}",
            "and for its key: NARU_API_KEY={key}",
        ),
        then=(_SERVE, "In Zed: the agent panel, the model naru."),
    ),
    ClientRow(
        "jetbrains", "JetBrains AI Assistant", "",
        steps=(
            "Settings, Tools, AI Assistant, Models: Third-party AI providers",
            "  Provider  OpenAI API compatible",
            "  URL       {url}/v1",
            "  API key   {key}",
        ),
        then=(_SERVE,),
    ),
    ClientRow(
        "ollama", "programs that know Ollama only", "",
        steps=(
            "Start Naru on Ollama's port as well:",
            "  NARU_SERVER__OLLAMA_PORT=11434 naru serve",
        ),
        then=("They find its models at http://localhost:11434.",),
    ),
    ClientRow(
        "anthropic", "the anthropic package", "",
        steps=(
            "export ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY={key}",
            "",
            "from anthropic import Anthropic",
            "answer = Anthropic().messages.create(",
            '    model="{model}+tools", max_tokens=1000, messages=[{{"role": "user", "content": "…"}}]',
            ")",
        ),
        then=(_SERVE,),
        tested="the package itself",
    ),
    ClientRow(
        "open-webui", "Open WebUI", "",
        steps=(
            "Start it with",
            "  OPENAI_API_BASE_URLS={url}/v1 OPENAI_API_KEYS={key} open-webui serve",
            "or, while it runs: Admin Panel, Settings, Connections, OpenAI API, +",
            "  URL  {url}/v1",
            "  Key  {key}",
            "In Docker the host is host.docker.internal, a name that Naru must be told of. Start it so:",
            "  NARU_SERVER__ALLOWED_HOSTS='[\"host.docker.internal:{port}\"]' naru serve",
        ),
        then=(_SERVE, "Choose the model {model}+tools."),
        tested="0.12.4",
    ),
    ClientRow(
        "openai", "the openai package", "",
        steps=(
            "export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key}",
            "",
            "from openai import OpenAI",
            "answer = OpenAI().chat.completions.create(",
            '    model="{model}+tools", messages=[{{"role": "user", "content": "…"}}]',
            ")",
        ),
        then=(_SERVE,),
        tested="the package itself",
    ),
)  # fmt: skip
"""In the order that `naru connect` lists them."""


def filled(lines: Sequence[str], address: Address) -> list[str]:
    """Return lines with what they leave open filled in."""
    key = f"${KEY_VARIABLE}" if address.asks_for_key else "none"
    port = urlsplit(address.url).port or (443 if address.url.startswith("https:") else 80)
    return [line.format(url=address.url, model=address.model, key=key, port=port) for line in lines]


def snippet(row: ClientRow, name: str, entry: dict[str, Any]) -> str:
    """Return the entry as it would stand in an otherwise empty file."""
    if row.kind == "toml":
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
        return "\n".join([f"[{toml_table(row, name)}]", *lines])
    if row.kind == "yaml":
        return "\n".join([f"{row.path[0]}:", yaml_item(entry)])
    for key in (name, *reversed(row.path)):
        entry = {key: entry}
    return json.dumps(entry, ensure_ascii=False, indent=2)


def toml_table(row: ClientRow, name: str) -> str:
    """Return the name of the entry's table; what TOML takes for more than one key is quoted."""
    return ".".join((*row.path, name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)))


def yaml_item(entry: dict[str, Any], indent: str = "  ") -> str:
    """Return an entry as an item of a YAML list."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    return f"{indent}- " + f"\n{indent}  ".join(lines)
