"""The sections `audit`, `approvals` and `telemetry`: what is written down, what waits for a person, what is traced."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from naru.config.section import SECTION
from naru.config.switches import AS_WORD


class AuditSettings(BaseModel):
    """Who did what and what came of it: one line of JSON each, chained by hash, in the data folder."""

    model_config = SECTION

    enabled: bool = True
    """Keep `audit.jsonl`; `naru audit verify` tells whether a line was changed or taken out."""
    calls: Annotated[Literal["written", "queued", "off"], AS_WORD] = "written"
    """Tool calls: their line is written before the answer goes out, or soon after it, or not at all."""
    arguments: Literal["shape", "values"] = "shape"
    """Of a call's arguments keep names, types and a keyed digest, or the values as well, secrets redacted."""
    when_it_fails: Literal["refuse_changes", "refuse_all", "go_on"] = "refuse_changes"
    """A full disk stops changes by admins, or every tool call too, or nothing."""
    max_file_bytes: int = Field(16 * 1024 * 1024, ge=4096)
    """A file this long is put aside as `audit-NUMBER.jsonl`; the chain goes on in the next."""
    keep_files: int = Field(10, ge=1)
    """Files put aside that stay; older ones are removed."""


class ApprovalSettings(BaseModel):
    """Tool calls that wait for a person's yes.

    Patterns are `server/tool`, or `KEY@server/tool` for the calls of one key by its id, with `*` and `?`.
    """

    model_config = SECTION

    ask: list[str] = []
    """Calls that wait until someone answers: in the console, by `naru approvals`, or over REST."""
    allow: list[str] = []
    """Calls that never wait, whatever else is said here."""
    deny: list[str] = []
    """Calls that are refused at once; stronger than the others."""
    destructive: Literal["auto", "ask", "allow"] = "auto"
    """Tools that call themselves destructive: `auto` asks whenever keys are asked for."""
    wait_seconds: float = Field(120.0, gt=0, le=3600)
    """How long a call waits for an answer; the tool's own deadline begins after it."""
    on_timeout: Literal["deny", "allow"] = "deny"
    """What silence means."""
    ask_client: bool = False
    """Let the person at the MCP client that called answer as well (elicitation); else only operators do."""
    max_waiting: int = Field(100, ge=1)
    """Calls that may wait at a time; at one more the newest of whoever has most of them waiting is refused."""


class TelemetrySettings(BaseModel):
    """OpenTelemetry traces by the GenAI and MCP conventions; needs the extra `telemetry`."""

    model_config = SECTION

    traces: Annotated[Literal["off", "otlp", "stderr"], AS_WORD] = "off"
    """Send spans to a collector over OTLP/HTTP, or print them. The SDK's own `OTEL_*` variables are heeded."""
    endpoint: str = ""
    """The collector's traces URL; empty leaves it to `OTEL_EXPORTER_OTLP_ENDPOINT`."""
    service_name: str = "naru"
    """`service.name` of the spans."""
    content: bool = False
    """Put messages, arguments and results into spans, redacted; else only names, counts and times."""
