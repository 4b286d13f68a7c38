"""`/metrics` for Prometheus: the state of servers, their tools, and runs by the reason of their end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from prometheus_client import GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from naru.agent.trace import Journal
from naru.hub import Hub
from naru.messages import JsonObject
from naru.models.fallback import FallingBack
from naru.persons import check_sees_all
from naru.records import ServerStatus
from naru.web.figures.metrics_of_all import of_all
from naru.web.routes import Access, Endpoint


class CountingJournal:
    """A journal that counts runs and tool calls on their way to another one."""

    def __init__(self, inner: Journal | None) -> None:
        self._inner = inner
        self.runs: Counter[str] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self.seconds = 0.0

    async def save(self, run: JsonObject) -> None:
        """Count a run, then keep it."""
        self.runs[str(run["reason"])] += 1
        self.seconds += float(run["seconds"])
        for one in run["rounds"]:
            for call in one["calls"]:
                outcome = "refused" if not call["ran"] else "error" if call["is_error"] else "ok"
                # A model may make up names without end, or write something else into them.
                name = call["name"] if outcome == "ok" or call["name"] in one["offered"] else "unknown"
                self.calls[name, outcome] += 1
        if self._inner is not None:
            await self._inner.save(run)


class HubCollector(Collector):
    """Reads the hub at each scrape."""

    def __init__(self, hub: Hub, counts: CountingJournal) -> None:
        self._hub = hub
        self._counts = counts

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        yield from self._servers()
        yield from self._calls()
        yield from self._fallbacks()
        yield from self._queues()
        runs = CounterMetricFamily("naru_runs", "Agent runs by the reason of their end.", labels=["reason"])
        for reason, count in self._counts.runs.items():
            runs.add_metric([reason], count)
        yield runs
        yield CounterMetricFamily("naru_run_seconds", "Wall time of all runs.", value=self._counts.seconds)
        calls = CounterMetricFamily("naru_tool_calls", "Tool calls of runs.", labels=["tool", "outcome"])
        for (tool, outcome), count in self._counts.calls.items():
            calls.add_metric([tool, outcome], count)
        yield calls

    def _fallbacks(self) -> Iterator[Metric]:
        backend = self._hub.backend
        if isinstance(backend, FallingBack):
            answered = CounterMetricFamily(
                "naru_model_fallbacks", "Answers of one model in place of another.", labels=["asked", "answered"]
            )
            for names, count in sorted(backend.counts.items()):
                answered.add_metric(list(names), count)
            yield answered

    def _calls(self) -> Iterator[Metric]:
        """Yield what the supervision of calls knows: whoever made them, by whatever face."""
        supervision = self._hub.manager.supervision
        calls = CounterMetricFamily("naru_server_calls", "Calls of servers' tools.", labels=["server", "outcome"])
        for (server, outcome), count in sorted(supervision.counts.items()):
            calls.add_metric([server, outcome], count)
        yield calls
        seconds = CounterMetricFamily("naru_server_call_seconds", "Time of those calls.", labels=["server"])
        for server, spent in sorted(supervision.seconds.items()):
            seconds.add_metric([server], spent)
        yield seconds
        if self._hub.approvals is not None:
            waiting = len(self._hub.approvals.waiting)
            yield GaugeMetricFamily("naru_approvals_waiting", "Calls that wait for a person.", value=waiting)
        if self._hub.audit is not None:
            audit = self._hub.audit
            yield CounterMetricFamily("naru_audit_failures", "Audit batches not written.", value=audit.failures)
            yield CounterMetricFamily("naru_audit_dropped", "Audit entries dropped.", value=audit.dropped)

    def _queues(self) -> Iterator[Metric]:
        """Yield how many model calls wait and run at each endpoint now."""
        waiting = GaugeMetricFamily("naru_model_queue_waiting", "Model calls that wait.", labels=["endpoint"])
        running = GaugeMetricFamily("naru_model_queue_running", "Model calls under way.", labels=["endpoint"])
        for endpoint, state in sorted(self._hub.figures.queues.items()):
            waits, runs = state()
            waiting.add_metric([endpoint], waits)
            running.add_metric([endpoint], runs)
        yield waiting
        yield running

    def _servers(self) -> Iterator[Metric]:
        manager = self._hub.manager
        states = Counter(connection.status for connection in manager.connections.values())
        servers = GaugeMetricFamily("naru_servers", "MCP servers by state.", labels=["status"])
        for status in ServerStatus:
            servers.add_metric([status], states[status])
        yield servers
        tools = GaugeMetricFamily("naru_server_tools", "Tools that a server offers now.", labels=["server"])
        for name in sorted(manager.connections):
            tools.add_metric([name], len(manager.tools(name)))
        yield tools


def endpoints(hub: Hub) -> list[Endpoint]:
    """Return the row; from here on the hub's runs are counted."""
    counts = CountingJournal(hub.journal)
    hub.journal = counts
    registry = hub.figures.registry
    registry.register(HubCollector(hub, counts))
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)

    async def metrics(request: Request) -> Response:
        """Give all figures in Prometheus' text form."""
        check_sees_all("these figures")
        page = await of_all(generate_latest(registry), hub.commons.members(), request.headers)
        return Response(page, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    return [Endpoint("/metrics", ("GET",), metrics, Access.READ)]
