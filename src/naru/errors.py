"""The error tree. A class says who must act; the message says what was tried, what happened and what to do.

::

    NaruError
    ├── UserError          the caller's request or command is wrong
    │   ├── ConfigError    a settings file, flag or variable is wrong
    │   ├── NotFoundError  no such server, tool, model or run
    │   └── ConflictError  a name is taken, or the record changed meanwhile
    ├── ToolError          a tool call failed; told to the model as an observation
    │   ├── UnknownToolError
    │   ├── InvalidArgumentsError
    │   └── ToolTimeoutError
    ├── UpstreamError      an MCP server or a model endpoint failed
    │   ├── ConnectionFailedError
    │   └── ModelError     `retryable` and `retry_after_seconds` say what may be done
    ├── PolicyError        a rule of this installation forbids it
    └── StoreError         what was to be kept could not be kept
        └── StoreUnavailableError  the database cannot be reached just now
"""

from __future__ import annotations


class NaruError(Exception):
    """Something went wrong; see the subclass for who must act."""

    code = "naru_error"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        """What a person can do next; empty when the message already says it."""

    def __str__(self) -> str:
        if not self.remedy:
            return self.message
        ends = self.message.rstrip().endswith((".", "!", "?", ":", "…"))
        return f"{self.message.rstrip()}{'' if ends else '.'} {self.remedy}"


class UserError(NaruError):
    """The request or command cannot be carried out as it stands."""

    code = "user_error"


class ConfigError(UserError):
    """A settings file, flag or environment variable is wrong."""

    code = "config_error"


class NotFoundError(UserError):
    """No such server, tool, model or run."""

    code = "not_found"
    param: str | None = None
    """The field of a request that names it."""


class ConflictError(UserError):
    """The name is taken, or the record changed meanwhile."""

    code = "conflict"


class ToolError(NaruError):
    """A tool call failed; the model is told and the loop goes on."""

    code = "tool_error"


class UnknownToolError(ToolError):
    """The called tool is not offered."""

    code = "unknown_tool"


class InvalidArgumentsError(ToolError):
    """The arguments do not fit the tool's schema."""

    code = "invalid_arguments"


class ToolTimeoutError(ToolError):
    """The tool did not answer before its deadline; it may still have run."""

    code = "tool_timeout"


class UpstreamError(NaruError):
    """An MCP server or a model endpoint failed."""

    code = "upstream_error"


class ConnectionFailedError(UpstreamError):
    """An MCP server cannot be reached, or its connection broke."""

    code = "connection_failed"


class ModelError(UpstreamError):
    """A model endpoint refused or broke off a request."""

    code = "model_error"

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        status: int | None = None,
        retryable: bool = False,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.status = status
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.param: str | None = None
        """The field of the request that the endpoint names."""
        self.is_of_key = False
        """Whether a refusal for now is of all models behind the key: limits are a model's own unless told otherwise."""


class PolicyError(NaruError):
    """A rule of this installation forbids it."""

    code = "forbidden"


class StoreError(NaruError):
    """What was to be kept could not be kept."""

    code = "store_error"


class StoreUnavailableError(StoreError):
    """The store's database cannot be reached just now."""

    code = "store_unavailable"


def foreign(error: BaseException) -> str:
    """Return the kind and the words of an error that is none of ours; of a group those of its members, too."""
    try:
        if isinstance(error, BaseExceptionGroup):
            said = f"{error.message}: {'; '.join(map(foreign, error.exceptions))}"
        else:
            said = str(error).strip()
    except Exception:  # noqa: BLE001  # its own words are foreign code too
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
