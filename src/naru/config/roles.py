"""The section `server.roles`: roles of the installation's own, which keys and tokens may have beside ours."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from naru.config.section import SECTION
from naru.persons import Bounds


class RoleSettings(BaseModel):
    """What a role may do, see and use. Names are globs; `!name` takes away."""

    model_config = SECTION

    access: Literal["read", "user", "operator", "admin"] = "user"
    """What it may do."""
    servers: list[str] | None = None
    """Servers that it sees; all without it."""
    tools: list[str] | None = None
    """Tools that it sees: `server/tool`, or a tool's own name at any server; all without it."""
    models: list[str] | None = None
    """Models that it sees, by the names under which they are listed; all without it."""
    read_only: bool = False
    """Only tools that say of themselves that they change nothing (`readOnlyHint`)."""
    requests_per_day: int | None = Field(None, ge=0)
    """Requests of one person in a day (UTC)."""
    tokens_per_day: int | None = Field(None, ge=0)
    """Tokens of models, question and answer, of one person in a day (UTC)."""

    def bounds(self) -> Bounds:
        """Return its limits."""
        return Bounds(
            servers=_names(self.servers),
            tools=_names(self.tools),
            models=_names(self.models),
            read_only=self.read_only,
            requests_per_day=self.requests_per_day,
            tokens_per_day=self.tokens_per_day,
        )


def _names(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)
