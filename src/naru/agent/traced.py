"""A run as a span `invoke_agent naru`: the model calls and tools of its rounds are its children."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from naru.agent.events import AgentEvent, RunFinished
from naru.errors import NaruError
from naru.telemetry.tracing import Tracing


async def traced(
    events: AsyncGenerator[AgentEvent, None], tracing: Tracing, model: str
) -> AsyncGenerator[AgentEvent, None]:
    """Pass a run's events on inside of a span.

    The span is current while the run works, not while whoever reads the events does: a generator shares its reader's
    context.
    """
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "naru",
        "gen_ai.agent.name": "naru",
        "gen_ai.request.model": model or None,
    }
    span = tracing.begin("invoke_agent naru", "internal", attributes)
    try:
        async with aclosing(events) as passing:
            while True:
                with span.current():
                    event = await anext(passing, None)
                if event is None:
                    break
                if isinstance(event, RunFinished):
                    span.set(
                        {
                            "gen_ai.response.finish_reasons": [event.reason],
                            "gen_ai.usage.input_tokens": event.usage.prompt_tokens,
                            "gen_ai.usage.output_tokens": event.usage.completion_tokens,
                            "naru.agent.rounds": event.rounds,
                        }
                    )
                yield event
    except NaruError as error:
        span.fail(error.code, error.message)
        raise
    finally:
        span.end()
