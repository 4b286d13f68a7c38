"""What of a server's entry Naru does not use, so that no configuration is passed over in silence (N10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from naru.records import ServerRecord, TransportType
from naru.stores.formats.spellings import COMMON_KEYS, PROGRAM_KEYS, URL_KEYS
from naru.stores.secrets.values import says_secret

_KNOWN = PROGRAM_KEYS | URL_KEYS | COMMON_KEYS


@dataclass(frozen=True, slots=True)
class Unused:
    """A key of an entry that has no effect."""

    key: str
    message: str
    remedy: str = ""
    """What was likely meant; empty when nothing need be done, since it is another product's business."""

    def __str__(self) -> str:
        """Return it in a line."""
        return f"config.{self.key}: {self.message} {self.remedy}".rstrip()


def unused_keys(record: ServerRecord) -> Iterator[Unused]:
    """Yield the keys of an entry that have no effect, and what was likely meant by them."""
    is_program = record.transport_type is TransportType.STDIO
    for key in record.config:
        if is_program and key in URL_KEYS:
            remedy = (
                "Leave out the command to reach the url." if key == "url" else "Give it what it needs in env or args."
            )
            yield Unused(key, f"A server with a command is started; its {key} is not used.", remedy)
        elif not is_program and key in PROGRAM_KEYS:
            remedy = (
                "Leave out the url to start the command." if key == "command" else "Give it what it needs in headers."
            )
            yield Unused(key, f"A server with a url is called; its {key} is not used.", remedy)
        elif key not in _KNOWN:
            near = get_close_matches(key, sorted(_KNOWN), n=1)
            if near:
                yield Unused(key, "Naru does not know this key.", f"Did you mean {near[0]}?")
            elif says_secret(key):
                yield Unused(key, "Naru does not use this key.", "A credential belongs into headers, auth or env.")
            else:
                yield Unused(key, "Naru does not use this key; it is kept.")
