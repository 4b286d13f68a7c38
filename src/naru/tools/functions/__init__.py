"""Python functions as tools: read from their signature, given what they depend on, run."""
