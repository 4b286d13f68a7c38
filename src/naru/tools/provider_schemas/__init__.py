"""A tool's schema in the form that a provider accepts; may be wider than the original, never narrower."""
