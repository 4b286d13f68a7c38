"""How frames travel: stdio child, Streamable HTTP, legacy HTTP+SSE."""
