"""OpenAI's Responses API: what Codex and the newer clients speak, with a store of what was answered."""
