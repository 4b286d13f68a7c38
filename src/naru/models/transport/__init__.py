"""An endpoint over HTTP, without any wire's format: connections, JSON, server-sent events, failures by kind."""
