"""What can go wrong in an exchange. Messages are predicates: the caller puts the server's name before them."""

from __future__ import annotations


class ExchangeError(OSError):
    """No whole reply came."""


class DialError(ExchangeError):
    """No connection came about, so nothing was sent; `__cause__` says why."""


class CutError(ExchangeError):
    """The connection ended before the reply did."""


class UnansweredError(CutError):
    """It ended before a byte of the reply: whether the server read the request, nobody knows."""


class SilenceError(ExchangeError):
    """Nothing came for longer than is waited."""


class NotHttpError(ExchangeError):
    """What came is no HTTP/1 reply, or one with an endless head."""


class EncodingError(ExchangeError):
    """The body is in an encoding that nobody asked for."""


class BrokenBodyError(ExchangeError):
    """The body is not what its encoding says."""
