"""Naru's own tool servers, as plain functions with @register_tool: HR over SQLite, data search."""
