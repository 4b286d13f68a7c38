"""Which store: Chroma when its host is set, else a file of our own."""

from __future__ import annotations

import re

from naru.builtins.data.vectors.chroma import ChromaStore
from naru.builtins.data.vectors.local import LocalStore
from naru.builtins.data.vectors.store import VectorStore
from naru.config import DataSettings


def choose_store(settings: DataSettings, *, database: str = "") -> VectorStore:
    """Return the store that the settings give, or that of a database's columns; nothing is connected yet."""
    name = collection_name(settings, database)
    host = settings.chromadb_host
    if not host:
        return LocalStore(settings.documents_file, name)
    url = host if "://" in host else f"http://{f'[{host}]' if ':' in host else host}:{settings.chromadb_port}"
    return ChromaStore(url, name, settings.chromadb_token.get_secret_value())


def collection_name(settings: DataSettings, database: str = "") -> str:
    """Return the collection's name; each database has its own: `column_metadata.sales`."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", database).strip("-") or "database"
    return f"{settings.chromadb_collection_name}.{plain}" if database else settings.chromadb_collection_name
