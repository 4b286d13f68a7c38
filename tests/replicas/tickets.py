"""Mints a ticket as a hub does, into a folder that hubs share."""

from __future__ import annotations

from pathlib import Path

from naru.config import HubSettings
from naru.dialects import ParsedCall
from naru.messages import ToolDefinition
from naru.stores.files.atomic import share
from naru.stores.shared.open import share_folder
from naru.tools.supervision.calls import definition_hash
from naru.web.face.tickets import Tickets

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "seconds": {"type": "number"}}}
ECHO = ToolDefinition("asking__echo", "", SCHEMA, annotations={"destructiveHint": False}, server="asking")


def mint(folder: Path, store: str) -> str:
    """Return a ticket for a call of the test server's echo."""
    share_folder(HubSettings(store=store, data_dir=folder, replica_address="auto"))
    try:
        call = ParsedCall("", "asking__echo", {"text": "hi"})
        return Tickets(folder / "tickets").mint("configured", call, definition_hash(ECHO))
    finally:
        share(folder, None)
