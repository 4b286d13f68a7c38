"""What went wrong at an endpoint, told by kind, in the shapes that endpoints send."""

from __future__ import annotations

import json

import pytest
from tests.models.fake_endpoint import Reply, delta, json_reply, serve, sse

from naru.errors import ModelError
from naru.messages import ChatRequest, Message
from naru.models.known.count import count
from naru.models.transport.endpoint import Endpoint
from naru.models.transport.failures import GRAMMAR_REFUSED, failure, http_failure, retry_after_seconds
from naru.models.transport.sse import SseReader
from naru.models.wires.openai_http import OpenAIBackend


async def ask(replies: list[Reply]) -> None:
    async with serve(replies) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url, "secret"), model="m")
        try:
            async for _ in backend.stream(ChatRequest("m", [Message("user", "hi")])):
                pass
        finally:
            await backend.close()


@pytest.mark.parametrize(
    ("reply", "code", "said"),
    [
        pytest.param(
            Reply([b"<!DOCTYPE html><title>Sign in</title>"], content_type="text/html"),
            "not_an_api",
            "web page",
            id="200-with-html",
        ),
        pytest.param(Reply([b"<html>"], content_type="application/json"), "not_an_api", "web page", id="html-as-json"),
        pytest.param(
            Reply([b"<html><title>502 Bad Gateway</title>"], 502, "text/html"),
            "overloaded",
            r"502: a web page \(502 Bad Gateway\)",
            id="502-with-html",
        ),
        pytest.param(json_reply({"error": {"message": "bad key"}}, 401), "unauthorized", "bad key", id="401"),
        pytest.param(
            json_reply({"error": {"message": "quota", "type": "insufficient_quota", "code": "x"}}, 429),
            "out_of_credit",
            "asking again is no use",
            id="no-credit",
        ),
        pytest.param(
            json_reply({"error": {"message": "Insufficient Balance"}}, 402), "out_of_credit", "Add credit", id="402"
        ),
        pytest.param(json_reply({"error": "model 'x' not found"}, 404), "model_not_found", "not found", id="404"),
        pytest.param(json_reply({"detail": "no"}, 422), "refused", "no", id="422-detail"),
        pytest.param(
            json_reply({"error": {"message": "The prompt was filtered.", "code": "content_filter"}}, 400),
            "content_filter",
            "in other words",
            id="azures-filter",
        ),
        pytest.param(json_reply([{"error": {"message": "list"}}], 400), "refused", "list", id="google-list"),
        pytest.param(
            json_reply({"error": {"message": "m does not support tools"}}, 400),
            "tools_unsupported",
            "tools",
            id="ollama",
        ),
        pytest.param(
            json_reply({"error": {"message": "the request exceeds the available context size", "code": 400}}, 400),
            "context_exceeded",
            "context size",
            id="context",
        ),
        pytest.param(
            Reply(sse({"error": {"message": "slow down", "code": 429}})), "rate_limited", "slow down", id="200-with-429"
        ),
        pytest.param(
            Reply(sse(delta(content="a"), done=False)), "broken_off", "in the middle", id="stream-without-an-end"
        ),
        pytest.param(
            Reply(sse(delta(content="a"), delta("insufficient_system_resource"))),
            "broken_off",
            "its reason is 'insufficient_system_resource'",
            id="an-end-that-is-none",
        ),
        pytest.param(
            json_reply({"choices": [{"message": {"content": "a"}, "finish_reason": "error"}]}),
            "broken_off",
            "its reason is 'error'",
            id="an-end-that-is-none-at-once",
        ),
        pytest.param(
            json_reply({"error": {"message": "Please reduce the length.", "code": "context_length_exceeded"}}, 400),
            "context_exceeded",
            "reduce the length",
            id="context-by-its-code",
        ),
        pytest.param(Reply([b"data: {nonsense\n\n"]), "broken_off", "not JSON", id="event-that-is-not-json"),
        *(
            pytest.param(
                json_reply({"error": {"message": said}}, status), "media_unsupported", "Leave the picture", id=said
            )
            for status, said in (
                (500, "image input is not supported - hint: you may need to provide the mmproj"),
                (400, "m is not a multimodal model"),
                (400, "At most 0 image(s) may be provided in one prompt."),
                (404, "No endpoints found that support image input"),
                (400, "this model does not support images"),
            )
        ),
        pytest.param(json_reply({"choices": []}), "not_an_api", "without choices", id="no-choices"),
        pytest.param(
            json_reply({"error": {"code": 429, "message": "Provider error", "metadata": {"raw": "shy model"}}}, 429),
            "rate_limited",
            "shy model",
            id="a-routers-provider",
        ),
        pytest.param(
            Reply(sse(delta(content="a"), {"error": {"message": "token limit", "status_code": 400}}, done=False)),
            "refused",
            "token limit",
            id="mid-stream-with-a-status",
        ),
        pytest.param(
            json_reply({"error": {"message": "'messages[0].role' does not support 'system' with this model."}}, 400),
            "system_unsupported",
            "does not support",
            id="no-system-role",
        ),
    ],
)
async def test_failures_are_told_apart(reply: Reply, code: str, said: str) -> None:
    with pytest.raises(ModelError, match=said) as raised:
        await ask([reply])
    assert raised.value.code == code
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        pytest.param(json_reply({"error": {"message": "x"}}, 429, **{"Retry-After": "12"}), 12.0, id="retry-after"),
        pytest.param(json_reply({}, 503, **{"retry-after-ms": "1500"}), 1.5, id="retry-after-ms"),
        pytest.param(
            json_reply(
                {"error": {"message": "quota", "details": [{"@type": "…RetryInfo", "retryDelay": "39.5s"}]}}, 429
            ),
            39.5,
            id="retry-info",
        ),
        pytest.param(json_reply({"error": {"message": "Please try again in 850ms."}}, 429), 0.85, id="in-words"),
        pytest.param(json_reply({"error": {"message": "Please try again in 7m12.48s."}}, 429), 432.48, id="in-minutes"),
        pytest.param(json_reply({"error": {"message": "Please retry after 26 seconds."}}, 429), 26.0, id="spelt-out"),
        pytest.param(json_reply({"error": {"message": "busy"}}, 429), None, id="unsaid"),
    ],
)
async def test_a_busy_endpoint_says_when_to_come_again(reply: Reply, seconds: float | None) -> None:
    with pytest.raises(ModelError) as raised:
        await ask([reply])
    assert raised.value.retryable
    assert raised.value.retry_after_seconds == seconds


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_refusal_that_may_pass_says_that_it_may(status: int) -> None:
    assert "Ask again" in str(http_failure("The endpoint", status, {}, b""))


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({}, "Try again in 1.2.3s", None),
        ({}, f"Try again in {'9' * 400}s", None),
        ({}, "Try again in 1.5.s", 1.5),
        ({"Retry-After": "Wed, 21 Oct 99999 07:28:00 GMT"}, "", None),
        ({"Retry-After": "Fri, 01 Jan 9999 00:00:00 GMT"}, "", None),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 30.0),
    ],
)
def test_a_time_that_is_none_is_passed_over_and_a_date_is_read_by_the_endpoints_clock(
    headers: dict[str, str], text: str, seconds: float | None
) -> None:
    assert retry_after_seconds(headers, None, text) == seconds


@pytest.mark.parametrize("said", ["input token count ", "pars", "try again in 1"])
def test_a_long_error_is_read_in_no_time_and_told_short(said: str) -> None:
    body = json.dumps({"error": {"message": said * 200_000}}).encode()
    assert len(http_failure("It", 500, {}, body).message) < 500
    assert len(failure("overloaded", f"It failed: {said * 200_000}").message) < 2500
    assert GRAMMAR_REFUSED.search(said * 2_000) is None


def test_a_count_stays_within_what_can_be_added_up() -> None:
    assert count(10**400) == count(1e300) == 10**15
    assert count("9" * 9) == 999_999_999


def test_an_event_that_never_ends_is_given_up() -> None:
    reader, line = SseReader(), b"data: " + b"x" * 2**20 + b"\n"
    for _ in range(15):
        assert reader.feed(line) == []
    with pytest.raises(ModelError, match="16 MB"):
        reader.feed(line * 2)
