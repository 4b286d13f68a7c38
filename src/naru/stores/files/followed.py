"""A file that several processes write: read again when it is another one than last time."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from naru.config import check_private
from naru.errors import StoreError
from naru.stores.files.watch import version_of

Content = TypeVar("Content")


class FollowedFile(Generic[Content]):
    """One JSON file, and which version of it was read last. Safe to look at from several threads."""

    def __init__(
        self, path: Path, read: Callable[[Any], Content], take: Callable[[Content], None], *, what: str, remedy: str
    ) -> None:
        """Name a file, what makes its content of the decoded document, who takes that, and words for a failure."""
        self.path = path
        self._read, self._take = read, take
        self._what, self._remedy = what, remedy
        self._signature: object = None
        self._looking = threading.Lock()
        """Held until what was read is taken: an older content must not be taken after a newer one."""

    def look(self, missing: Content) -> None:
        """Have the content taken if the file is another one than last time; `missing` where there is no file.

        Raises:
            StoreError: it cannot be read.
            ConfigError: others could have written it.
        """
        with self._looking:
            self._look(missing)

    def _look(self, missing: Content) -> None:
        try:
            info = self.path.stat()
            signature = version_of(info)
            if signature == self._signature:
                return
            check_private(self.path)
            content = self._read(json.loads(self.path.read_bytes()))
        except FileNotFoundError:
            self._signature = None
            self._take(missing)
            return
        except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise StoreError(
                f"{self._what} in {self.path} cannot be read: {type(error).__name__}.", remedy=self._remedy
            ) from error
        self._take(content)
        self._signature = signature

    def read_again(self) -> None:
        """Take the file for another one at the next look."""
        self._signature = None
