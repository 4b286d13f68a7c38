"""The data search server (D1 to D7): embeddings, similarity search, read-only SQL."""
