"""The MCP faces as rows of the route table: every tool call needs the role that calls tools."""

from __future__ import annotations

from naru.gateway.gateway import Gateway
from naru.web.routes import Access, Endpoint


def endpoints(gateway: Gateway) -> list[Endpoint]:
    """Return a row for each face."""
    return [Endpoint(face.path, face.methods, face.app, Access.USER, raw=True) for face in gateway.faces]
