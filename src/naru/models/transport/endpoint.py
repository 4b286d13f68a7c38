"""An endpoint over HTTP: where it is, and what to show at the door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from naru.errors import ConfigError

ERROR_BODY_BYTES = 64 << 10
WHOLE_BODY_BYTES = 64 << 20
_AZURE, _DOTS_OF_TOKEN = "api-version=", 2


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served, and what to show at the door."""

    base_url: str
    """With its version, such as `http://127.0.0.1:11434/v1`."""
    api_key: str = field(default="", repr=False)
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    keep_alive: bool = True
    """False for llama.cpp, which closes each connection after a stream though it announces the contrary."""
    query: str = field(default="", repr=False)
    """Sent with every request: Azure's `api-version`."""

    @classmethod
    def of(cls, base_url: str, api_key: str = "", extra_headers: Mapping[str, str] | None = None) -> Endpoint:
        """Check and complete a base URL as people write it: a missing path becomes /v1.

        Raises:
            ConfigError: it is not an http(s) URL.
        """
        try:
            parts = urlsplit(base_url.strip())
            is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:  # A port or a bracket that is none.
            is_one = False
        if not is_one:
            raise ConfigError(
                f"The base URL {base_url!r} is not an http or https address.",
                remedy="Give one such as http://127.0.0.1:11434/v1.",
            )
        path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
        base = f"{parts.scheme}://{parts.netloc}{path}"
        return cls(base, api_key, extra_headers or {}, query=parts.query)

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        if not self.api_key:
            return dict(self.extra_headers)
        # Azure's dated paths take a key in a header of its own; what they take in the usual one is a person's token.
        if _AZURE in self.query and self.api_key.count(".") != _DOTS_OF_TOKEN:
            return {"api-key": self.api_key, **self.extra_headers}
        return {"Authorization": f"Bearer {self.api_key}", **self.extra_headers}

    @property
    def shown(self) -> str:
        """The address for messages, without credentials."""
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}{port}{parts.path}"
