"""One's own functions as an MCP server, from Python: `from naru.serve import serve`."""

from naru.cli.tool.serve import serve

__all__ = ["serve"]
