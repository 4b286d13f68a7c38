"""`naru data`: index, search, ask."""
