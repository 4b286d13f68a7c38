"""A Toolset as an MCP server of its own over stdio."""

from __future__ import annotations

import importlib

from naru.tools.toolset import Toolset


def run_stdio(toolset: Toolset, *, name: str, instructions: str = "") -> None:
    """Serve a Toolset on standard input and output until the client closes them, Ctrl-C or SIGTERM; then leave."""
    # A program stands above all layers, though the tools that it serves do not: it alone loads the gateway.
    importlib.import_module("naru.gateway.alone").run_alone(toolset, name=name, instructions=instructions)
