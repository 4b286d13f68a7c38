"""Which engine stands behind a base URL, as it says itself: what it makes of tool schemas follows from that. Pure.

Both engines turn schemas into grammars, and refuse whole requests for one keyword that they cannot turn.
"""

from __future__ import annotations

from typing import Any

from naru.models.known.listed import rows_of

_GRAMMARS = "llama.cpp"
"""The form of schemas that llama.cpp's grammars can be made of; LM Studio's engine is the same."""
_PROPS = ("default_generation_settings", "total_slots")
_STATES = ("loaded", "not-loaded")


def of_listed(listed: Any) -> str:
    """Return the form of the engine that an answer to `GET /v1/models` names as the owner; empty: none that is known.

    A proxy that lists models of several owners has no form of its own.
    """
    owners = {str(row.get("owned_by")).lower() for row in rows_of(listed) or ()}
    return _GRAMMARS if owners and owners <= {"llamacpp", "llama.cpp"} else ""


def of_props(props: Any) -> str:
    """Return the form of what answers `GET /props`: llama.cpp's server; LM Studio answers 200 with an error."""
    return _GRAMMARS if isinstance(props, dict) and any(name in props for name in _PROPS) else ""


def of_lm_studio(listed: Any) -> str:
    """Return the form of what answers `GET /api/v0/models` with the state of each model: LM Studio."""
    rows = rows_of(listed) or []
    return _GRAMMARS if rows and all(row.get("state") in _STATES for row in rows) else ""


def takes_template_switch(form: str) -> bool:
    """Tell whether an engine is told to think or not by `chat_template_kwargs`, as older llama.cpp is by that alone."""
    return form == _GRAMMARS
