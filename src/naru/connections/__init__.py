"""One supervised link per MCP server: lifecycle, transports, manager."""
