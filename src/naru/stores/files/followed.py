"""A file that several processes write: read again when it is another one than last time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from naru.config import check_private
from naru.errors import StoreError

Content = TypeVar("Content")


class FollowedFile(Generic[Content]):
    """One JSON file, and which version of it was read last."""

    def __init__(self, path: Path, read: Callable[[Any], Content], *, what: str, remedy: str) -> None:
        """Name a file, what makes its content of the decoded document, and the words for one that cannot be read."""
        self.path = path
        self._read = read
        self._what, self._remedy = what, remedy
        self._signature: object = None

    def news(self, missing: Content) -> Content | None:
        """Return the content if the file is another one than last time, else None; `missing` where there is no file.

        Raises:
            StoreError: it cannot be read.
            ConfigError: others could have written it.
        """
        try:
            info = self.path.stat()
            signature = (info.st_ino, info.st_mtime_ns, info.st_size)
            if signature == self._signature:
                return None
            check_private(self.path)
            content = self._read(json.loads(self.path.read_bytes()))
        except FileNotFoundError:
            self._signature = None
            return missing
        except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
            raise StoreError(
                f"{self._what} in {self.path} cannot be read: {type(error).__name__}.", remedy=self._remedy
            ) from error
        self._signature = signature
        return content

    def read_again(self) -> None:
        """Take the file for another one at the next look."""
        self._signature = None
