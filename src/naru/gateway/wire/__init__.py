"""MCP's words as the gateway speaks them: frames, headers, events, and ids that are sealed."""
