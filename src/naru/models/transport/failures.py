"""What went wrong at a model endpoint, by kind: who must act, whether trying again helps, and when."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from typing import Any

import orjson

from naru import encoding
from naru.encoding import encode
from naru.errors import ModelError
from naru.stores.secrets.redact import REDACTOR

RETRYABLE_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_SHOWN_CHARACTERS = 400
_READ_CHARACTERS = 4_000
"""Of an error's text, however long it is: what kind it is of stands at its beginning."""
_LONGEST_SECONDS = 1e7
_NOTHING = " and said nothing."

TOOLS_UNSUPPORTED = re.compile(
    r"does(?: not|n't) support (?:tools?\b|tool use|function|auto tool choice)|tools? (?:is|are) not supported"
    r"|function calling is not (?:supported|enabled)"
    r"|tool[ _](?:use|calling|choice)[^.]{0,40}(?:not supported|unsupported)"
    r"|requires --enable-auto-tool-choice|no endpoints found that support tool use|requires --jinja"
    r"|'tools' is not permitted|unsupported parameter: '?tools",
    re.IGNORECASE,
)
GRAMMAR_REFUSED = re.compile(
    r"(?:pars|compil|initiali[sz]|convert|build|sampl)\w{0,10}[^.\n]{0,60}grammar"
    r"|grammar[^.\n]{0,60}(?:fail|error|invalid|(?:un|not )support|could not|cannot)|invalid grammar"
    r"|json schema conversion failed|unrecognized schema",
    re.IGNORECASE,
)
"""An engine could not make its grammar of the tools' schemas."""
_SYSTEM_UNSUPPORTED = re.compile(
    r"system role not supported|developer instruction is not enabled|system (?:role|message)s? (?:is|are) not supported"
    r"|only supports? user and (?:assistant|model) roles|role' does not support '(?:system|developer)'",
    re.IGNORECASE,
)
"""The clearest words; others are tried (`may_mean_roles`)."""
_ABOUT_ROLES = re.compile(r"\b(?:system|developer|roles?)\b", re.IGNORECASE)
_ALTERNATION_REQUIRED = re.compile(r"\broles? must (?:alternate|take turns)|must alternate between", re.IGNORECASE)
_CONTEXT_EXCEEDED = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|exceed_context_size|input token count [^\n]{0,80} exceeds"
    r"|prompt is too long|too many tokens",
    re.IGNORECASE,
)
_MEDIA_UNSUPPORTED = re.compile(
    r"\b(?:image|audio|video|vision|multi-?modal)\w*(?: \w+){0,3} (?:is|are) (?:not (?:yet )?supported|unsupported)\b"
    r"|\b(?:does|do)(?: not|n't) support (?:\w+ ){0,3}(?:image|audio|video|vision|multi-?modal)"
    r"|not a multi-?modal model|at most 0 (?:image|audio|video)|endpoints found that support (?:image|audio|video)"
    r"|missing data required for image",
    re.IGNORECASE,
)
"""What clients can mend, whatever status the engine gives it: llama.cpp says 500."""
_LOADING = re.compile(
    r"\b(?:still |re)?loading\b|\bnot (?:yet )?(?:been )?(?:fully )?loaded\b|\bwarming up\b|\bstarting up\b"
    r"|\bbeing (?:re)?(?:loaded|started)\b",
    re.IGNORECASE,
)
"""A 503 that ends by itself: the model is on its way into memory, which takes as long as its size."""
_BY_TEXT = (
    ("tools_unsupported", TOOLS_UNSUPPORTED, {400, 404, 405, 422, 500, 501}),
    ("system_unsupported", _SYSTEM_UNSUPPORTED, {400, 422, 500}),
    ("alternation_required", _ALTERNATION_REQUIRED, {400, 422, 500}),
    ("context_exceeded", _CONTEXT_EXCEEDED, {400, 413, 422, 500}),
    ("media_unsupported", _MEDIA_UNSUPPORTED, {400, 404, 422, 500, 501}),
    ("loading", _LOADING, {503}),
)
_BY_STATUS = {
    402: "out_of_credit",
    401: "unauthorized",
    403: "unauthorized",
    404: "model_not_found",
    413: "context_exceeded",
    429: "rate_limited",
    500: "upstream_failed",
}
_OF_KEY = "insufficient_quota"
"""OpenAI's type of what is over for a whole account: credit, and limits on spending."""
_BY_OWN_CODE = {
    "context_length_exceeded": "context_exceeded",
    "content_filter": "content_filter",
    _OF_KEY: "out_of_credit",
}
"""OpenAI's and Groq's, whose words for it differ by model; Azure's, by which its clients tell a refusal."""
_SPANS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\.? ?(ms|h|m|s)(?:(?:our|in|inute|ec|econd)s?)?(?![a-z])", re.IGNORECASE)
_RETRY_IN = re.compile(rf"(?:retry|try again) (?:in|after) ((?:{_SPAN.pattern}[ ,]*)+)", re.IGNORECASE)
"""`20s`, `6m0s`, `7m12.48s`, `26 seconds`."""

_RETRYABLE_CODES = frozenset({"rate_limited", "overloaded", "loading", "unreachable", "broken_off", "upstream_failed"})
_WAITED_FOR = frozenset({"rate_limited", "overloaded", "loading", "out_of_credit"})
"""Kinds of which an endpoint may say when they end."""
_REMEDIES = {
    "unauthorized": "Check the endpoint's key (NARU_MODEL__API_KEY or --api-key).",
    "model_not_found": "Check the model's name and the base URL (it usually ends in /v1).",
    "content_filter": "Ask in other words: the endpoint's filter let these not pass.",
    "media_unsupported": "Leave the picture or sound out, or ask a model that takes it.",
    "context_exceeded": "Shorten the conversation, offer fewer tools, or raise the context size.",
    "not_an_api": "The base URL does not point to an OpenAI-compatible API; it usually ends in /v1.",
    "unreachable": "Check that the model server runs and that the base URL is right.",
    "out_of_credit": "Add credit, or raise the limit on spending, where the model is served: asking again is no use.",
    "rate_limited": "Ask again later, or have the limit raised where the model is served.",
    "overloaded": "Ask again in a moment.",
    "loading": "Ask again when it is loaded.",
    "broken_off": "Ask again; the model server's own log says why it ended.",
    "upstream_failed": "Ask again; if that fails too, the model server's own log says why.",
}


def failure(
    code: str,
    message: str,
    *,
    status: int | None = None,
    wait_seconds: float | None = None,
    remedy: str = "",
    detail: Any = None,
) -> ModelError:
    """Make the error of one kind; `code` is one of those that `classify` returns. Endpoints quote keys (S-34).

    `detail` is the decoded body, if there is one.
    """
    retryable = code in _RETRYABLE_CODES
    error = ModelError(
        REDACTOR.clean(message[:_READ_CHARACTERS])[: _READ_CHARACTERS // 2],  # A key may be cut at the first end.
        remedy=remedy or _REMEDIES.get(code, ""),
        status=status,
        retryable=retryable,
        retry_after_seconds=wait_seconds,
    )
    error.code = code
    error.is_of_key = _is_of_key(detail)
    told = detail.get("error") if isinstance(detail, dict) else None
    if isinstance(told, dict) and isinstance(told.get("param"), str):
        error.param = REDACTOR.clean(told["param"])[:_SHOWN_CHARACTERS] or None
    return error


def http_failure(where: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """Make the error for an answer that is not a success, whatever shape its body has."""
    detail = decode(body)
    # Before it is cut to what is shown, which might cut a key.
    text = REDACTOR.clean((error_text(detail) or _plain(body))[:_READ_CHARACTERS])
    code = classify(status, text, _own_code(detail))
    wait = retry_after_seconds(headers, detail, text) if code in _WAITED_FOR else None
    if code == "out_of_credit" and wait is not None:
        code = "rate_limited"  # it says when there is some again
    said = f": {text[:_SHOWN_CHARACTERS]}" if text else _NOTHING
    told = 400 if code == "media_unsupported" else status
    return failure(code, f"{where} answered {status}{said}", status=told, wait_seconds=wait, detail=detail)


def may_mean_roles(error: ModelError) -> bool:
    """Tell whether a refusal may be one of system turns: it speaks of roles, or says nothing, as templates do."""
    if error.status not in {400, 422, 500, 501}:
        return False
    return error.message.endswith(_NOTHING) or _ABOUT_ROLES.search(error.message.partition(" answered ")[2]) is not None


def classify(status: int | None, text: str, own_code: str = "") -> str:
    """Name the kind of failure from the status and what the endpoint said, in words and by a code."""
    if own_code in _BY_OWN_CODE:
        return _BY_OWN_CODE[own_code]
    text = text[:_READ_CHARACTERS]
    for code, pattern, statuses in _BY_TEXT:
        if (status is None or status in statuses) and pattern.search(text):
            return code
    if status is None or status in RETRYABLE_STATUSES:
        return _BY_STATUS.get(status or 503, "overloaded")
    return _BY_STATUS.get(status, "refused")


def retry_after_seconds(headers: Mapping[str, str], detail: Any, text: str) -> float | None:
    """Return how long to wait: Retry-After(-ms), Google's RetryInfo, or the words of the message."""
    lowered = {name.lower(): value for name, value in headers.items()}
    if (milliseconds := _number(lowered.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if after := lowered.get("retry-after"):
        seconds = _number(after)
        if seconds is None and (moment := _moment(after)) is not None:
            # By the endpoint's own clock, where it tells it: ours may go wrong.
            since = _moment(lowered.get("date", "")) or time.time()
            seconds = _number(str(max(0.0, moment - since)))
        if seconds is not None:
            return seconds
    for item in _details(detail):
        delay = item.get("retryDelay")
        if isinstance(delay, str) and (seconds := _number(delay.removesuffix("s"))) is not None:
            return seconds
    match = _RETRY_IN.search(text[:_READ_CHARACTERS])
    if match is None:
        return None
    return _number(str(sum(float(span[1]) * _SPANS[span[2].lower()] for span in _SPAN.finditer(match[1]))))


def error_text(detail: Any) -> str:
    """Return the message of a decoded error body in any of the shapes endpoints use."""
    if isinstance(detail, list):
        return error_text(detail[0]) if detail else ""
    if not isinstance(detail, dict):
        return detail if isinstance(detail, str) else ""
    error = detail.get("error", detail)
    if isinstance(error, str):
        return error
    if isinstance(error, dict):
        message = error.get("message") or error.get("detail") or error.get("msg") or ""
        said = message if isinstance(message, str) else encode(message).decode()
        cause = error.get("metadata")
        cause = cause.get("raw") if isinstance(cause, dict) else None  # A router's word for what its provider said.
        return f"{said}: {cause}" if isinstance(cause, str) and cause and cause not in said else said
    return ""


def refused_text(detail: Any) -> str:
    """Return what the model wrote when the endpoint refused its call (Groq's `failed_generation`), else nothing.

    The loop judges calls itself: bad arguments are told to the model, they do not cost the answer.
    """
    error = detail.get("error") if isinstance(detail, dict) else None
    written = error.get("failed_generation") if isinstance(error, dict) else None
    return written if isinstance(written, str) else ""


def decode(body: bytes) -> Any:
    """Decode JSON, or None."""
    try:
        return encoding.decode(body)
    except orjson.JSONDecodeError:
        return None


def looks_like_html(content_type: str, body: bytes) -> bool:
    """Whether an answer is a web page rather than an API's (a proxy, a login page, a wrong base URL)."""
    return content_type.startswith("text/html") or body.lstrip()[:15].lower().startswith((b"<!doctype", b"<html"))


def _plain(body: bytes) -> str:
    if looks_like_html("", body):
        title = re.search(rb"<title>(.*?)</title>", body[:4096], re.IGNORECASE | re.DOTALL)
        return f"a web page ({title[1].decode('utf-8', 'replace').strip()})" if title else "a web page"
    return " ".join(body[:2000].decode("utf-8", "replace").split())


def _own_code(detail: Any) -> str:
    error = detail.get("error") if isinstance(detail, dict) else None
    if not isinstance(error, dict):
        return ""
    return _OF_KEY if error.get("type") == _OF_KEY else str(error.get("code"))


def _is_of_key(detail: Any) -> bool:
    """Tell whether a limit is said to be of all models: OpenAI's type, or Google's quotas without a model."""
    error = detail.get("error") if isinstance(detail, dict) else None
    if isinstance(error, dict) and _OF_KEY in (error.get("type"), error.get("code")):
        return True
    quotas = [quota for item in _details(detail) for quota in _objects(item.get("violations"))]
    return bool(quotas) and all(
        "quotaId" in quota
        and "PerModel" not in str(quota["quotaId"])
        and "model" not in str(quota.get("quotaDimensions"))
        for quota in quotas
    )


def _details(detail: Any) -> list[dict[str, Any]]:
    if isinstance(detail, list):
        detail = detail[0] if detail else None
    error = detail.get("error") if isinstance(detail, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return _objects(details)


def _objects(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < _LONGEST_SECONDS else None


def _moment(date: str) -> float | None:
    try:
        parts = email.utils.parsedate_tz(date)
        return float(email.utils.mktime_tz(parts)) if parts else None
    except (ValueError, OverflowError):  # A year or a zone that no clock has.
        return None
