"""MCP servers as an outsider writes them: each file runs over stdio."""
