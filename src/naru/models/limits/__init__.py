"""Rates and turns before a model endpoint: windows, the queue, the backend behind it."""
