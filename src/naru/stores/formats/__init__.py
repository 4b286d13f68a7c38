"""Configuration files of MCP servers in every shape that products write: read and written back, variables put in."""
