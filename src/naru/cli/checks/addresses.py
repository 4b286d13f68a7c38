"""Whether a text is the address of something on the web; what is typed or published may be anything."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_http(url: str) -> bool:
    """Tell whether it is an http or https URL with a host, and a port that there is if it names one."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
