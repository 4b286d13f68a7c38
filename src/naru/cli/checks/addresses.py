"""Whether a text is the address of something on the web; what is typed or published may be anything."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?")


def is_http(url: str) -> bool:
    """Tell whether it is an http or https URL with a host, and a port that there is if it names one."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""  # one with colons stood in brackets, and is looked at already
        has_host = ":" in host or bool(_NAME.fullmatch(host))
        return parts.scheme in ("http", "https") and has_host and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
