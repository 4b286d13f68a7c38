"""The body readers: each decodes one notation of calls, for every dialect that uses it.

A reader is a generator over a `Source` (see `source.py`) that writes what it finds to a `CallWriter`; it leaves the
source after what it read, and raises `NotACall` when that was no call of an offered tool.
"""
