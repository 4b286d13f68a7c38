"""Naru (나루, a ferry crossing): any model, any MCP server, any client.

Kept free of imports, so that `naru.dialects` stays a standard-library-only package.
`naru.serve` loads at its first use.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from naru.cli.tool_serve import serve as serve

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load `serve`, which makes an MCP server of one's own functions."""
    if name != "serve":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415  # see above

    return importlib.import_module("naru.cli.tool_serve").serve
