"""One conversation, many rounds: the loop between models and tools."""
