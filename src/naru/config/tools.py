"""The section `tools`: one's own functions, beside servers."""

from __future__ import annotations

from pydantic import BaseModel

from naru.config.section import SECTION


class ToolsSettings(BaseModel):
    """One's own Python functions as tools."""

    model_config = SECTION

    modules: list[str] = []
    """Files (`company.py`) or modules (`my_package.tools`) whose functions are tools: each a server by its own name, in
    its own process, read anew when it changes."""
    environment: list[str] = []
    """Names of variables of Naru's environment that those functions get, such as `DATABASE_URL`; none otherwise, but
    where things are and how the network is reached."""
