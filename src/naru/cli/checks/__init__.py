"""What `naru validate` finds: problems of settings (`settings`) and of MCP configuration files (`servers`), as data."""
