"""Naru (나루, a ferry crossing): any model, any MCP server, any client.

Kept free of imports, so that `naru.dialects` stays a standard-library-only package.
"""

__version__ = "0.1.0"
