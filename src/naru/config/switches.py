"""Settings that are words where YAML reads a truth value: `auth: off` in a file is read as `auth: false`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator


def _word(value: Any) -> Any:
    return ("off", "on")[value] if isinstance(value, bool) else value


AS_WORD = BeforeValidator(_word)
Switch = Annotated[Literal["auto", "on", "off"], AS_WORD]
