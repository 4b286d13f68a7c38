"""Tracing with OpenTelemetry's SDK; imported only while tracing is on (the extra `telemetry`)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.trace import Link, SpanKind, StatusCode

from naru import __version__
from naru.config import TelemetrySettings
from naru.stores.secrets.redact import REDACTOR
from naru.telemetry.tracing import Attributes, Kind, Span, Tracing

_SHUTDOWN_SECONDS = 3.0
KINDS = {"client": SpanKind.CLIENT, "server": SpanKind.SERVER, "internal": SpanKind.INTERNAL}


class OtelSpan:
    """A span of the SDK as `tracing.Span`."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""
        for name, value in attributes.items():
            if value is not None:
                self._span.set_attribute(name, value)

    def fail(self, kind: str, message: str = "") -> None:
        """Mark it as failed; the message is redacted."""
        self._span.set_attribute("error.type", kind)
        self._span.set_status(StatusCode.ERROR, REDACTOR.clean(message) or None)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make it the parent of what begins inside."""
        token = context.attach(trace.set_span_in_context(self._span))
        try:
            yield
        finally:
            context.detach(token)

    def end(self) -> None:
        """End it."""
        self._span.end()


class OtelTracing:
    """A tracer provider as `tracing.Tracing`."""

    def __init__(self, provider: TracerProvider, *, content: bool = False) -> None:
        self.content = content
        self._provider = provider
        self._tracer = provider.get_tracer("naru", __version__)

    def begin(
        self,
        name: str,
        kind: Kind,
        attributes: Attributes,
        carrier: Mapping[str, str] | None = None,
    ) -> Span:
        """Begin a span; one whose parent comes from a carrier is linked to the current one as well."""
        parent, links = None, []
        if carrier:
            found = propagate.extract(carrier)
            if trace.get_current_span(found).get_span_context().is_valid:
                ambient = trace.get_current_span().get_span_context()
                links = [Link(ambient)] if ambient.is_valid else []
                parent = found
        given: dict[str, Any] = {key: value for key, value in attributes.items() if value is not None}
        return OtelSpan(self._tracer.start_span(name, context=parent, kind=KINDS[kind], attributes=given, links=links))

    def inject(self) -> dict[str, str]:
        """Return what carries the current span to another process."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        return carrier

    def ids(self) -> tuple[str, str]:
        """Return trace and span id of the current span in hex."""
        found = trace.get_current_span().get_span_context()
        if not found.is_valid:
            return "", ""
        return trace.format_trace_id(found.trace_id), trace.format_span_id(found.span_id)

    def shutdown(self) -> None:
        """Send what is not sent yet; a collector that is away holds the end up for three seconds at most."""
        sending = threading.Thread(target=self._provider.shutdown, name="naru-traces", daemon=True)
        sending.start()
        sending.join(_SHUTDOWN_SECONDS)


def open_tracing(settings: TelemetrySettings) -> Tracing:
    """Return what makes spans and sends them where the settings say; a collector that is away costs nobody a wait."""
    processor: SpanProcessor
    if settings.traces == "stderr":
        processor = SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr))
    else:
        processor = BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.endpoint or None))
    resource = Resource.create({"service.name": settings.service_name, "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(processor)
    return OtelTracing(provider, content=settings.content)
