// Figures over an hour, a day or a week: what they come to, plots with a table behind each, and the runs behind a point.
import { api, follow, gathered, inOrder, ofServers } from "./api.js";
import { add, fill, h, keep, kept, title } from "./dom.js";
import { clock, number, t } from "./text.js";

const ranges = ["hour", "day", "week"];
const every = 10_000;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const shown = (seconds) => (seconds == null ? "–" : seconds < 1 ? `${number(seconds * 1000, 0)} ms` : `${number(seconds, 1)} s`);

// Steps of an axis that counts: there is no half of a request.
const whole = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();

// uPlot, as it is published: fetched when the first plot is drawn, so that the figures do not wait for it.
let loading;
function plotter() {
  loading ??= new Promise((done, failed) => {
    document.head.append(h("link", { rel: "stylesheet", href: "/console/uplot.css" }),
      h("script", { src: "/console/uplot.js", onload: () => done(globalThis.uPlot), onerror: failed }));
  }).catch((error) => { loading = undefined; throw error; }); // the next plots ask for it anew
  return loading;
}

const charts = [
  { key: "requests", lines: [["count", "--accent"], ["wentWrong", "--bad"]], value: (data, line) => data.requests[line === "wentWrong" ? "failed" : line], format: (value) => number(value, 0) },
  { key: "times", lines: [["p50", "--good"], ["p95", "--wait"], ["p99", "--bad"]], value: (data, line) => data.requests[line], format: shown },
  { key: "tokensOverTime", lines: [["input", "--model"], ["output", "--tool"]], value: (data, line) => data.tokens[line], format: (value) => number(value, 0) },
  { key: "callsOverTime", lines: [["count", "--accent"], ["wentWrong", "--bad"]], value: (data, line) => data.calls[line === "wentWrong" ? "failed" : line], format: (value) => number(value, 0) },
];

// A canvas takes no light-dark(): the colour as the page has it now. Forced colours would make one of all lines and the grid.
function colour(name) {
  const probe = document.getElementById("live");
  probe.style.cssText = `color: var(${name}); forced-color-adjust: none`;
  const found = getComputedStyle(probe).color;
  probe.style.cssText = "";
  return found;
}
const runsOf = (data, place) => `#/runs?after=${data.times[place] * 1000}&before=${(data.times[place] + data.step) * 1000}`;

// No line leads to a point that has none beside it: it is drawn as a point, however close the minutes stand.
function alone(plot, series, isShown) {
  const found = plot.data[series];
  return isShown ? null : [...found.keys()].filter((at) => found[at] != null && found[at - 1] == null && found[at + 1] == null);
}

function plot(uPlot, chart, { holder, spoken }, data) {
  const axis = { stroke: () => colour("--soft"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false } };
  const made = new uPlot({
    width: Math.max(holder.clientWidth, 200), height: 190, legend: { show: true }, cursor: { y: false },
    scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [{ ...axis, space: 64, values: (_, ticks) => ticks.map((at) => clock(at * 1000, data.range)) },
      { ...axis, size: 62, incrs: chart.format === shown ? undefined : whole, values: (_, ticks) => ticks.map((value) => chart.format(value)) }],
    series: [{ label: t("time"), value: (_, at) => (at == null ? "–" : clock(at * 1000, data.range)) },
      ...chart.lines.map(([line, ink]) => ({ label: t(line), stroke: () => colour(ink), width: 2, spanGaps: false,
        points: { size: 5, filter: alone }, value: (_, value) => (value == null ? "–" : chart.format(value)) }))],
  }, values(chart, data), holder);
  // The same by keyboard: arrows go from point to point, what stands there is said, Enter leads to its runs.
  holder.addEventListener("keydown", (event) => {
    const { times } = made.shown, at = made.cursor.idx ?? times.length;
    const place = { ArrowLeft: Math.max(Math.min(at, times.length) - 1, 0), ArrowRight: Math.min(at + 1, times.length - 1), Home: 0, End: times.length - 1 }[event.key];
    if (event.key === "Enter" && made.cursor.idx != null) location.hash = runsOf(made.shown, made.cursor.idx);
    if (place === undefined) return;
    event.preventDefault();
    made.setCursor({ left: made.valToPos(times[place], "x"), top: 0 });
    const told = chart.lines.map(([line]) => { const value = chart.value(made.shown, line)[place]; return `${t(line)} ${value == null ? "–" : chart.format(value)}`; });
    spoken.textContent = `${clock(times[place] * 1000, made.shown.range)}: ${told.join(", ")}`;
  });
  made.over.addEventListener("click", () => { if (made.cursor.idx != null) location.hash = runsOf(made.shown, made.cursor.idx); });
  made.shown = data;
  return made;
}

const values = (chart, data) => [data.times, ...chart.lines.map(([line]) => chart.value(data, line))];

function table(chart, data) {
  const rows = data.times.map((at, place) => [place, chart.lines.map(([line]) => chart.value(data, line)[place])])
    .filter(([, found]) => found.some((value) => value)).reverse();
  return h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("time")), chart.lines.map(([line]) => h("th", { scope: "col" }, t(line))))),
    h("tbody", {}, rows.map(([place, found]) => h("tr", {},
      h("th", { scope: "row" }, h("a", { href: runsOf(data, place) }, clock(data.times[place] * 1000, data.range))),
      found.map((value) => h("td", {}, value == null ? "–" : chart.format(value)))))));
}

function tiles(data) {
  const requests = sum(data.requests.count), failed = sum(data.requests.failed);
  const { now } = data;
  const servers = sum(Object.values(now.servers));
  return [
    [t("requests"), number(requests, 0), failed ? t("failedOf", { count: number(failed, 0) }) : ""],
    [t("tokensRead"), number(sum(data.tokens.input), 0), t("tokensWritten", { count: number(sum(data.tokens.output), 0) })],
    [t("callsOverTime"), number(sum(data.calls.count), 0), t("failedOf", { count: number(sum(data.calls.failed), 0) })],
    [t("underWay"), number(now.running, 0), t("waitInLine", { count: number(now.queued, 0) })],
    [t("servers"), `${now.servers.CONNECTED ?? 0} / ${servers}`, t("areConnected"), "#/servers"],
    [t("approvals"), number(now.waiting_approvals, 0), t("waitForYou"), "#/approvals"],
  ].map(([label, value, note, href]) => h(href ? "a" : "div", { className: "tile", href }, h("span", {}, label), h("b", {}, value), h("span", { className: "small" }, note)));
}

function rows(name, head, lines) {
  if (!lines.length) return null;
  return h("section", { className: "card wide", tabIndex: 0, "aria-label": name }, h("h2", {}, name), h("table", {},
    h("thead", {}, h("tr", {}, head.map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", {}, lines.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), rest.map((one) => h("td", {}, one)))))));
}

const trouble = (errors) => Object.entries(errors).map(([code, count]) => `${code} ${count}`).join(", ") || "–";

function groups(data) {
  const common = [t("count"), t("wentWrong"), "p50", "p95", "p99"];
  const told = (one) => [number(one.count, 0), number(one.failed, 0), shown(one.p50), shown(one.p95), shown(one.p99)];
  return [
    rows(t("models"), [t("model"), ...common, t("firstPiece"), t("waitedP95"), t("tokensRead"), t("written"), t("errors")], data.models.map((one) =>
      [h("a", { href: "#/models" }, one.model), ...told(one), shown(one.first_p50), shown(one.waited_p95), number(one.input_tokens, 0), number(one.output_tokens, 0), trouble(one.errors)])),
    rows(t("tools"), [t("tool"), t("server"), ...common], data.tools.map((one) =>
      [one.tool, h("a", { href: `#/servers/${encodeURIComponent(one.server)}` }, one.server), ...told(one)])),
    rows(t("faces"), [t("path"), ...common], data.routes.map((one) => [one.route, ...told(one)])),
  ];
}

export async function overviewPage(main) {
  let range = kept().choice ?? "hour", plots = [], gone = false;
  const top = h("div", { className: "tiles", "aria-live": "off" });
  const below = h("div");
  const boxes = charts.map((chart) => {
    const name = t(chart.key);
    const box = { chart, holder: h("div", { className: "plot", role: "group", tabIndex: 0, "aria-label": t("plotOf", { name }) }), spoken: h("p", { className: "small soft spoken", "aria-live": "polite" }), rows: h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": name }) };
    box.card = h("section", { className: "card", "aria-label": name }, h("h2", {}, name), box.holder, box.spoken,
      h("details", {}, h("summary", {}, t("asTable")), box.rows));
    return box;
  });
  const choice = h("div", { className: "chips", role: "group", "aria-label": t("range") }, ranges.map((one) =>
    h("button", { type: "button", "aria-pressed": String(one === range), onclick: (event) => {
      range = one;
      keep({ choice: one });
      for (const other of choice.children) other.setAttribute("aria-pressed", String(other === event.target));
      draw().catch(() => {});
    } }, t(one))));

  const ask = inOrder();
  async function draw() {
    const isNews = ask();
    const data = await api(`/api/overview?range=${range}`);
    if (gone || !isNews()) return;
    fill(top, tiles(data));
    for (const box of boxes) fill(box.rows, table(box.chart, data));
    add(fill(below), [groups(data)]);
    plotAll(data).catch(() => {}); // the figures stand without the plots
  }

  async function plotAll(data) {
    const uPlot = await plotter();
    if (gone) return;
    if (!plots.length) plots = boxes.map((box) => plot(uPlot, box.chart, box, data));
    plots.forEach((made, place) => {
      made.shown = data;
      made.axes[0].values = (_, ticks) => ticks.map((at) => clock(at * 1000, data.range));
      made.setData(values(boxes[place].chart, data));
    });
  }

  const sized = new ResizeObserver(() => plots.forEach((made, place) => made.setSize({ width: Math.max(boxes[place].holder.clientWidth, 200), height: 190 })));
  const redraw = () => plots.forEach((made) => made.redraw());
  const themed = new MutationObserver(redraw), system = matchMedia("(prefers-color-scheme: dark)");
  const first = draw();
  fill(main, title(t("overview")), h("p", { className: "lead" }, t("overviewLead")), choice, top, h("div", { className: "plots" }, boxes.map((box) => box.card)), below);
  boxes.forEach((box) => sized.observe(box.holder));
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  system.addEventListener("change", redraw);
  const timer = setInterval(() => { if (!document.hidden) draw().catch(() => {}); }, every);
  const changed = gathered(() => draw().catch(() => {}), 250);
  const unfollow = follow(changed, [...ofServers, "approvals"]);
  await first;
  return () => {
    gone = true;
    clearInterval(timer);
    changed.stop();
    unfollow();
    sized.disconnect();
    themed.disconnect();
    system.removeEventListener("change", redraw);
    plots.forEach((made) => made.destroy());
  };
}
