"""Dialects out: events to the form that a client or a model understands."""
