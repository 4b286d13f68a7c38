"""How clients reach the engine: Streamable HTTP, legacy SSE, stdio."""
