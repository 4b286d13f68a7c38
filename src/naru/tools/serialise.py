"""The one serialiser of results: tools, SQL, vectors and logs alike.

Decimal becomes text (`"1.50"`), bytes URL-safe base64 text, dates ISO 8601 text, NaN and infinity null, sets arrays.
What cannot be told in JSON is an error that names the type and where it stands, never a repr.
"""

from __future__ import annotations

import math
from collections.abc import Set, ValuesView
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from naru.encoding import encode
from naru.errors import ToolError
from naru.messages import Json


class UnserialisableError(ToolError):
    """A result holds something that JSON cannot."""

    code = "unserialisable_result"


def to_jsonable(value: Any) -> Json:
    """Return the JSON value that stands for a Python value.

    Raises:
        UnserialisableError: it holds an object that JSON cannot, more digits than Python writes, or itself.
    """
    if type(value) is str:
        return whole_text(value)
    if type(value) in _PLAIN:
        return value
    try:
        return _told(value)
    except UnicodeError:
        pass  # a model that calls its bytes text, and they are none: told as base64 like all others; or a key in halves
    except PydanticSerializationError as error:
        if "utf-8" not in str(error):
            raise _refused(error) from error
    except (ValueError, RecursionError) as error:
        raise _refused(error) from error
    try:
        return _told(_opened(value))
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise _refused(error) from error


def _told(value: Any) -> Json:
    if isinstance(value, memoryview):
        value = value.tobytes()  # pydantic tells its numbers
    told: Json = to_jsonable_python(
        value, bytes_mode="base64", inf_nan_mode="null", timedelta_mode="iso8601", by_alias=True, fallback=_other
    )
    return _writable(told)


def _writable(told: Json) -> Json:
    """Put null for NaN and infinity, which a model's own settings can leave, and mend text.

    Raises:
        ValueError: an integer has more digits than Python writes.
    """
    if isinstance(told, str):
        return whole_text(told)
    if isinstance(told, float):
        return told if math.isfinite(told) else None
    if isinstance(told, int) and told.bit_length() > 64:
        str(told)
    if isinstance(told, dict):
        return {whole_text(key): _writable(item) for key, item in told.items()}
    return [_writable(item) for item in told] if isinstance(told, list) else told


def whole_text(text: str) -> str:
    """Put U+FFFD for lone surrogates, which no encoding carries: names of files hold them that are no UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _refused(error: Exception) -> UnserialisableError:
    return UnserialisableError(
        f"the result cannot be written as JSON: {error}.", remedy="Return plain values, dataclasses or models."
    )


def _opened(value: Any) -> Any:
    """Take models apart, so that their bytes are told as all others are."""
    if isinstance(value, BaseModel):
        return _opened(value.model_dump(mode="python", by_alias=True))
    if isinstance(value, dict):
        return {whole_text(key) if type(key) is str else key: _opened(item) for key, item in value.items()}
    return [_opened(item) for item in value] if isinstance(value, list | tuple | set | frozenset) else value


_PLAIN = frozenset({bool, type(None)})


def _other(value: Any) -> Any:
    """Tell what pydantic does not know: rows by name, arrays and scalars of numeric packages as lists and numbers."""
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, range | ValuesView | Set):
        return list(value)
    if not isinstance(value, type) and hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {key: value[key] for key in value.keys()}  # noqa: SIM118  # sqlite3.Row iterates over values
    if callable(getattr(value, "tolist", None)):
        return value.tolist()
    raise ValueError(f"{type(value).__module__}.{type(value).__qualname__} has no JSON form")


def to_json_text(value: Any) -> str:
    """Return compact JSON that a person and a small model read well.

    Raises:
        UnserialisableError: see `to_jsonable`.
    """
    return json_text(to_jsonable(value))


def json_text(plain: Json) -> str:
    """Return the compact JSON of what `to_jsonable` gave."""
    return encode(plain).decode()
