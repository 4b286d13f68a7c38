"""The JSON-RPC host: models and tools by method, and its own way to manage servers."""
