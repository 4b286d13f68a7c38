"""Which store: Chroma when its host is set, else a file of our own."""

from __future__ import annotations

from naru.builtins.data.vectors.chroma import ChromaStore
from naru.builtins.data.vectors.local import LocalStore
from naru.builtins.data.vectors.store import VectorStore
from naru.config import DataSettings

FILE_NAME = "vectors.sqlite"


def choose_store(settings: DataSettings) -> VectorStore:
    """Return the store that the settings give; nothing is connected yet."""
    name = settings.chromadb_collection_name
    host = settings.chromadb_host
    if not host:
        return LocalStore(settings.naru_data_dir.expanduser() / FILE_NAME, name)
    url = host if "://" in host else f"http://{f'[{host}]' if ':' in host else host}:{settings.chromadb_port}"
    return ChromaStore(url, name, settings.chromadb_token.get_secret_value())
