"""Families of dialects, as rows."""
