"""Text to vectors (D1): an OpenAI-compatible endpoint, the embedded multilingual encoder, or hashed letters."""
