"""Databases of any engine behind one seam: `database` says what they all do, `open` chooses by URL.

PostgreSQL has a room of its own (`postgresql`). Every engine is read by the same layers: its own grammar or
a parser, an allow-list, its own read-only mode, limits, a self-test when it is opened.
"""
