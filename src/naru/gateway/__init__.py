"""The hub as an MCP server, for every client and protocol version."""
