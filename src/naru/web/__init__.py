"""HTTP faces: OpenAI chat, JSON-RPC, admin, console. They only render what lies below."""
