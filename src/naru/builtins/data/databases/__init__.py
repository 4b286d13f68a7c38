"""Databases of any engine behind one seam: `database` says what they all do, `open` chooses by URL.

PostgreSQL, MySQL and DuckDB have rooms of their own. Every engine is read by the same layers: its own grammar or
a parser, an allow-list, its own read-only mode, limits, a self-test when it is opened.
"""
