"""Facts and forms of the MCP wire, pure: messages, versions, results, and slips of a server's lists put right."""
