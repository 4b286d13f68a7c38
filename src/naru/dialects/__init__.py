"""Text ⇄ tool calls: the universal adapter's reader and writers.

A library of its own: standard library only, no I/O, no clock, no logging. Readers turn text of any dialect
into events (`events.py`); writers turn events into the form that a client or a model understands.
"""
