"""A text as the readers see it: patterns, tokens, how much has arrived, the literals in it."""
