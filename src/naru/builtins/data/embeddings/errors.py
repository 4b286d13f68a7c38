"""What can go wrong while embedding."""

from __future__ import annotations

from naru.errors import UpstreamError


class EmbeddingError(UpstreamError):
    """Texts could not be embedded."""

    code = "embedding_failed"


class EmbedderUnavailableError(EmbeddingError):
    """No text could be embedded: the endpoint is not reached, or lets nobody in."""
