"""Settings by section: defaults < naru.yaml < environment < flags.

Every setting is documented by its docstring; `docs/reference/settings.md` is generated from here.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from naru.config.mcp import McpSettings
from naru.config.model import ModelSettings
from naru.config.oauth import OAuthSettings
from naru.config.roles import RoleSettings
from naru.config.section import SECTION
from naru.config.switches import Switch
from naru.config.telemetry import ApprovalSettings, AuditSettings, TelemetrySettings
from naru.config.tools import ToolsSettings
from naru.errors import ConfigError
from naru.records import describe

BUILT_IN_ROLES = ("read", "user", "operator", "admin")


def _below(value: str) -> str:
    """Return a path as `/naru`, without a slash at its end; `/` is none."""
    path = f"/{value.strip('/')}" if value.strip("/") else ""
    if path and not re.fullmatch(r"(?:/[A-Za-z0-9._~-]+)+", path):
        raise ValueError(f"{value!r} is no path such as /naru/")
    return path


def _without_brackets(host: str) -> str:
    """Return `[::1]`, as URLs have it, as the address that is bound."""
    return host.removeprefix("[").removesuffix("]")


def _for_a_header(key: SecretStr) -> SecretStr:
    """Return a key without the blanks and line ends that files of variables leave around it."""
    bare = key.get_secret_value().strip()
    if not (bare.isascii() and bare.isprintable()):
        raise ValueError("a key is sent in a header, which holds letters, digits and marks of ASCII alone")
    return SecretStr(bare)


def _networks(values: list[str]) -> list[str]:
    return [str(ipaddress.ip_network(value, strict=False)) for value in values]


class Section(BaseModel):
    """A group of settings; unknown keys are refused."""

    model_config = SECTION


class ServerSettings(Section):
    """Where Naru listens."""

    host: Annotated[str, AfterValidator(_without_brackets)] = "127.0.0.1"
    """Address to bind; anything beyond loopback switches authentication on."""
    port: int = Field(20006, ge=0, le=65535)
    """Port to bind; 0 takes a free one."""
    ollama_port: int = Field(0, ge=0, le=65535)
    """A second port, for programs that know nothing but Ollama's (11434); the same server answers there. 0 is none."""
    workers: int = Field(1, ge=1, le=64)
    """Processes that serve on that port, for as many cores; each starts servers, and a local model, of its own."""
    auth: Switch = "auto"
    """Whether a key is asked for: `auto` asks once others than this machine may come, or a key was made."""
    api_key: Annotated[SecretStr, AfterValidator(_for_a_header)] = SecretStr("")
    """An admin key given from outside, beside those in the data folder; at least 32 characters."""
    allowed_hosts: list[str] = []
    """Further `Host` values that are answered: `tools.example.com`, `tools.example.com:8443`, `tools.example.com:*`."""
    allowed_origins: list[str] = []
    """Web pages that may call Naru, such as `http://localhost:6274`; they get CORS headers. None by default."""
    root_path: Annotated[str, AfterValidator(_below)] = ""
    """The path that Naru is served below, such as `/naru/`; the proxy before it may cut it off or pass it on."""
    trusted_proxies: Annotated[list[str], AfterValidator(_networks)] = []
    """Addresses or networks of proxies whose `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` are believed, such as
    `127.0.0.1` or `10.0.0.0/8`; from everybody else they mean nothing."""
    max_body_bytes: int = Field(4 * 1024 * 1024, gt=0)
    """Largest request body."""
    max_media_body_bytes: int = Field(32 * 1024 * 1024, gt=0)
    """Largest body of the APIs for models, whose turns hold screenshots and files; never less than the one above."""
    rate_limit_per_minute: int = Field(100, ge=0)
    """Requests a minute for each key; 0 is no limit. On an open loopback nothing is counted."""
    tls_certificate: Path | None = None
    """PEM file with the certificate and its chain; with it and `tls_key` Naru serves https alone."""
    tls_key: Path | None = None
    """PEM file with its private key, without a password."""
    oauth: OAuthSettings = OAuthSettings()
    """Access tokens of an authorization server, beside keys."""
    roles: dict[str, RoleSettings] = {}
    """Roles of your own beside `read`, `user`, `operator` and `admin`: name → what it may do, see and use."""
    dangerously_allow_open_bind: bool = False
    """Serve beyond loopback without any key. Everyone who reaches the port can then use every tool."""

    @model_validator(mode="after")
    def _roles_are_known(self) -> ServerSettings:
        if taken := sorted(set(BUILT_IN_ROLES) & set(self.roles)):
            raise ValueError(f"server.roles.{taken[0]} is one of Naru's own roles: choose another name")
        known = {*BUILT_IN_ROLES, *self.roles}
        for value, role in self.oauth.roles.items():
            if role not in known:
                raise ValueError(f"server.oauth.roles.{value} names {role!r}, and there is no such role")
        return self


class ChatSettings(Section):
    """What chat clients are given."""

    client: str = "openai"
    """Profile of a client that nothing else tells: `openai`, `strict`, `void`, `cline`, `roo`, `shell`, …"""
    client_by_key: dict[str, str] = {}
    """Key id → profile, for clients that can send nothing but their key."""
    aliases: dict[str, str] = {}
    """Further model names: alias → model."""
    steps: dict[str, Literal["", "reasoning", "text", "field"]] = {}
    """Profile → how its clients hear of a run's calls while they run: `reasoning`, `text`, `field`, or empty: not."""
    keep_responses_days: int = Field(30, ge=0, le=3650)
    """How long answers of `/v1/responses` are kept for `previous_response_id`; 0 keeps none."""
    keep_responses_mib: int = Field(256, ge=1)
    """MiB of such answers, with what was sent for them, that are kept for one key; its oldest give way."""
    keep_responses_mib_in_all: int = Field(4096, ge=1)
    """MiB of them that are kept for all keys together; the oldest give way."""
    plan_b: Literal["ticket", "inline", "posix"] = "ticket"
    """What a shell block holds: a ticket that runs once, a signed payload, or the tool's name with quoted JSON."""


class HubSettings(Section):
    """The MCP servers and how they are kept connected."""

    store: str = ""
    """`memory:`, `file:mcp.json`, `sqlite:PATH` or `postgresql://…`; empty takes SQLite in the data folder."""
    data_dir: Path = Path("~/.local/share/naru")
    """Where the SQLite store, keys, pins and runs are kept."""
    replica_address: str = ""
    """Where other hubs on the same PostgreSQL `store` reach this one, such as `http://10.0.0.5:20006`; `auto` takes the
    address by which the database is reached. With it they serve as one: keys, approvals, pins, runs, sessions."""
    vault_key: SecretStr = SecretStr("")
    """What sealed tokens and secrets of persons open with: 32 characters or more, `file:PATH`, or `keyring`; empty
    takes `vault.key` of the data folder, which is made when it is needed."""
    demo: bool = False
    """Register the HR server with its demo data."""


class GatewaySection(Section):
    """The hub as an MCP server."""

    flat_names: bool = False
    """Offer each server's own tool names without `server__`; for a hub with one server."""
    meta_tools: bool = False
    """List `search_tools`, `describe_tool` and `call_tool` instead of every tool, for models that drown in tools."""
    page_size: int = Field(1000, ge=1)
    """Items of a list in one answer; clients follow `nextCursor`, though some read the first page only."""
    keep_alive_seconds: float = Field(15.0, gt=0)
    """How often a silent stream gets a comment, so that proxies keep it open."""
    session_idle_seconds: float = Field(1800.0, gt=0)
    """How long a client of sessions may be away before its session ends."""
    max_sessions: int = Field(10_000, ge=1)
    """Sessions at a time; the longest idle one of whoever holds most gives way."""
    max_requests: int = Field(1000, ge=1)
    """MCP requests under way at a time; one more is answered 503 at once. One key gets no more of them than it leaves
    free: half where no other asks."""


class AgentSettings(Section):
    """Limits of the agent loop."""

    max_iterations: int = Field(5, ge=1, le=25)
    """Rounds of the loop before the last turn without tools."""
    tool_timeout_seconds: float = Field(30.0, gt=0)
    """Deadline of one tool call."""
    model_timeout_seconds: float = Field(120.0, gt=0)
    """Deadline of one model call."""
    model_failure: Literal["answer", "error"] = "answer"
    """What a model's failure in a later round gives: what the tools gave so far, marked as such, or an error."""
    page_characters: int = Field(0, ge=0)
    """Longer text results come page by page; 0 cuts only those that their share of the context cannot hold.

    What was cut can be read on, searched, or picked out of JSON by a tool that the model gets with it.
    """
    retrieved_documents: int = Field(0, ge=0, le=100)
    """Reference documents that the data search finds for each question, put before the model; 0 is off."""
    small: Switch = "auto"
    """Whether models are helped as small ones; `auto` goes by what a probe found, else by size: fewer than three
    billion parameters, as the endpoint says, else as the name does."""
    small_models: dict[str, Switch] = {}
    """The same for single models, by name with `*`: `{"llama3.2*": "on"}`; the first that fits counts."""
    keep_runs: bool = True
    """Keep what was asked, every step and the answer of each run in the data folder; a thousand
    stay, and then the oldest of whoever has most goes."""
    keep_runs_days: int = Field(0, ge=0)
    """Forget runs that are older than so many days; 0 goes by their number alone."""


def _upper(value: object) -> object:
    """Read `info` as `INFO`."""
    return value.upper() if isinstance(value, str) else value


class Settings(BaseSettings):
    """All settings. Environment: `NARU_SERVER__PORT=20006`; file: `naru.yaml` with the same names."""

    model_config = SettingsConfigDict(env_prefix="NARU_", env_nested_delimiter="__", extra="ignore")

    server: ServerSettings = ServerSettings()
    chat: ChatSettings = ChatSettings()
    model: ModelSettings = ModelSettings()
    hub: HubSettings = HubSettings()
    agent: AgentSettings = AgentSettings()
    gateway: GatewaySection = GatewaySection()
    mcp: McpSettings = McpSettings()
    tools: ToolsSettings = ToolsSettings()
    audit: AuditSettings = AuditSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)] = "INFO"
    """Least severe log lines that are written."""
    log_format: Literal["text", "json"] = "text"
    """Log lines for people, or one JSON object each; secrets are taken out of both."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: flags, environment; `load_settings` puts the file after them."""
        return (init_settings, env_settings)


class DataSettings(BaseSettings):
    """The data search server's settings, under the names that its users know; also read from `.env`."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore")

    text_embedding_model_url: str = ""
    """OpenAI-compatible embeddings endpoint, such as `http://localhost:8080/v1/embeddings`; empty embeds here."""
    text_embedding_model_name: str = "bge-m3-ko"
    """Model name sent to that endpoint."""
    text_embedding_api_key: SecretStr = SecretStr("")
    """Bearer token for that endpoint."""
    text_embedding_query_prefix: str = ""
    """Put before a query's text, for models that tell queries from passages."""
    text_embedding_passage_prefix: str = ""
    """Put before an indexed text."""
    text_embedding_batch_size: int = Field(100, ge=1, le=2048)
    """Texts per request; an endpoint that refuses so many gets fewer."""

    chromadb_host: str = ""
    """Host of a Chroma server, or its whole URL; empty keeps vectors in a local file."""
    chromadb_port: int = Field(8000, ge=1, le=65535)
    """Port of that server."""
    chromadb_collection_name: str = "column_metadata"
    """Collection that is searched: 3 to 512 of `a-z A-Z 0-9 . _ -`."""
    chromadb_token: SecretStr = SecretStr("")
    """Token for a Chroma server that wants one."""

    postgresql_db_user: str = ""
    """Role that only reads; `naru data reader-sql` prints how to create one."""
    postgresql_db_pass: SecretStr = SecretStr("")
    """Its password."""
    postgresql_db_name: str = ""
    """Database."""
    postgresql_db_host: str = ""
    """Host, or the folder of a socket; with no host and no name a PostgreSQL of our own is started, with demo data."""
    postgresql_db_port: int = Field(5432, ge=1, le=65535)
    """Port."""
    postgresql_db_statement_timeout_seconds: float = Field(10.0, gt=0, le=600)
    """Time of one query; the role's own limit wins when it is shorter."""
    postgresql_db_max_rows: int = Field(1_000, ge=1, le=100_000)
    """Rows of one result; more are cut and the result says so."""
    postgresql_db_max_bytes: int = Field(1_048_576, ge=1_024, le=67_108_864)
    """Bytes of one result."""
    postgresql_db_pool_wait_seconds: float = Field(5.0, gt=0, le=60)
    """Wait for a free connection."""
    postgresql_db_allow_functions: str = ""
    """Functions, comma-separated, that may be called although the catalog does not call them harmless."""
    postgresql_db_allow_superuser: bool = False
    """Run although the role is a superuser or may read server files: only for databases of no worth."""

    naru_database_url: str = ""
    """Another database than that of POSTGRESQL_DB_…: `sqlite:///file.db`, `duckdb:///file.duckdb`, a CSV, JSON or
    Parquet file or a folder of them, `mysql://user:password@host/name`, `postgresql://…`."""
    naru_data_dir: Path = Path("~/.local/share/naru")
    """Where the local vector store is kept."""

    def __init__(self, **given: Any) -> None:
        """Read environment and `.env`. Raises ConfigError: a value cannot be used."""
        try:
            super().__init__(**given)
        except ValueError as error:
            lines = describe(error) if isinstance(error, ValidationError) else [f".env: {error}"]
            raise ConfigError(
                f"The data search settings cannot be used: {'; '.join(lines)}.",
                remedy="Correct them in the environment or in .env; see docs/reference/settings.md.",
            ) from error

    @property
    def is_database_configured(self) -> bool:
        """Whether a database is named; without one, a PostgreSQL of our own is started with demo data."""
        return bool(self.naru_database_url or self.postgresql_db_host or self.postgresql_db_name)

    @property
    def documents_file(self) -> Path:
        """Where documents and their vectors are kept, without a Chroma server."""
        return self.naru_data_dir.expanduser() / "vectors.sqlite"
