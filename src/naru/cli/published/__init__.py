"""Servers as people publish them: MCPB bundles, the registry's `server.json`, a registry."""
