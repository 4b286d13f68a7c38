"""Test doubles for users' own tests: what Naru's tests use too."""

from naru.stores.memory import MemoryStore

__all__ = ["MemoryStore"]
