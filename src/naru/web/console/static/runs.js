import { api, follow, gathered, query, rights } from "./api.js";
import { action, choose, empty, fill, h, json, kept, listen, searchBox, title } from "./dom.js";
import { spansOf } from "./inspect.js";
import { markdown } from "./markdown.js";
import { has, number, t, when } from "./text.js";
import { callInside, modelInside, waterfall, writtenBy } from "./waterfall.js";

const most = 50; // rows of a page
const reasons = ["answered", "max_iterations", "max_calls", "wall_time", "token_budget", "repeated_call", "no_progress",
  "no_tools", "client_calls", "model_failed", "failed", "cancelled"];
const named = (reason) => (has(reason) ? t(reason) : reason);
const kind = (reason) => (reason === "answered" ? "good" : ["failed", "model_failed"].includes(reason) ? "bad" : "wait");

function row(run) {
  return h("li", { "data-id": run.id }, h("a", { className: "item", href: `#/runs/${run.id}` },
    h("span", { className: "name" }, run.question.slice(0, 600) || run.id),
    h("span", { className: "about" }, `${run.model} · ${when(run.started_at)}`),
    h("span", { className: "side" }, h("span", {}, t("seconds", { seconds: run.seconds.toFixed(1) })),
      h("span", { className: `state ${kind(run.reason)}` }, named(run.reason)))));
}

export async function runsPage(main) {
  const list = h("ul", { className: "list", "aria-label": t("runs") });
  const end = h("div");
  const find = searchBox();
  const reason = h("select", { "aria-label": t("endedHow") }, h("option", { value: "" }, t("anyEnd")), reasons.map((one) => h("option", { value: one }, named(one))));
  const asked = new URLSearchParams(location.hash.split("?")[1] ?? "");
  const after = asked.get("after") ?? undefined, until = asked.get("before") ?? undefined;
  let before, turn = 0;
  const page = async (from, limit = most) => (await api(`/api/runs?${query({ limit, q: find.value, reason: reason.value, before: from, after })}`)).runs;
  const load = async (isMore) => {
    const mine = ++turn;
    const limit = isMore ? most : Math.max(most, kept().rows ?? 0); // as many as whoever comes back had before
    const runs = await page(isMore ? before : until, limit);
    if (mine !== turn) return; // something else was asked for meanwhile
    if (!isMore) list.replaceChildren(); // in one go with what comes, so that a focused row is found again
    list.append(...runs.map(row));
    before = runs.at(-1)?.started_at;
    fill(end, runs.length >= limit && h("p", { className: "more" }, action(t("more"), () => load(true), { className: "slim" })),
      !list.children.length && (find.value || reason.value || after ? empty(t("nothingFound")) : empty(t("noRuns"), t("noRunsHint"))));
  };
  // A run that ended is put where it belongs, by its beginning; rows that stand stay, and so does the focus on them.
  const look = async () => {
    const mine = turn, runs = await page(until);
    if (mine !== turn) return look(); // of what was asked for meanwhile
    const known = new Set([...list.children].map((one) => one.dataset.id));
    if (runs.length && !runs.some((run) => known.has(run.id))) return load(); // the first ones, or more than a page at once
    runs.forEach((run, place) => { if (!known.has(run.id)) list.insertBefore(row(run), list.children[place]); });
  };
  listen(find, () => load());
  choose(reason, () => load());
  await load();
  fill(main, title(t("runs")), h("p", { className: "lead" }, t("runsLead")),
    after && until && h("p", { className: "row" }, t("runsBetween", { from: when(Number(after)), until: when(Number(until)) }), h("a", { href: "#/runs" }, t("all"))),
    h("div", { className: "row bar" }, h("div", { className: "grow" }, find), h("div", {}, reason)), list, end);
  const changed = gathered(() => look().catch(() => {}), 2000);
  const stop = follow(changed, ["runs"]);
  return () => { changed.stop(); stop(); };
}

export async function runPage(main, id) {
  const [may, run, { models }] = await Promise.all([rights(), api(`/api/runs/${encodeURIComponent(id)}`), api("/api/models").catch(() => ({ models: [] }))]);
  const out = h("div", { "aria-live": "polite" });
  const other = h("select", { "aria-label": t("replayWith") }, h("option", { value: "" }, t("asRecorded")), models.map((one) => h("option", { value: one.name }, one.name)));
  const replay = action(t("replay"), async () => {
    const again = await api(`/api/runs/${encodeURIComponent(id)}/replay?${query({ model: other.value })}`, { method: "POST" });
    fill(out, again.same ? h("p", { className: "card good" }, t("same")) : h("section", { className: "card notice wait-card" }, h("h2", {}, t("differs")),
      again.differences.map((one) => [h("h3", {}, one.what), h("p", { className: "small soft" }, t("before")), json(one.before ?? ""), h("p", { className: "small soft" }, t("after")), json(one.after ?? "")])));
  });
  const file = URL.createObjectURL(new Blob([JSON.stringify(run, null, 2)], { type: "application/json" }));
  const usage = run.usage && t("tokens", { prompt: number(run.usage.prompt_tokens, 0), completion: number(run.usage.completion_tokens, 0) });
  fill(main, title(run.question, h("span", { className: `state ${kind(run.reason)}` }, named(run.reason))),
    h("p", { className: "lead" }, [run.model, when(run.started_at), t("seconds", { seconds: run.seconds.toFixed(1) }), usage, run.caller].filter(Boolean).join(" · ")),
    h("div", { className: "row bar" }, may("user") && [replay, h("div", {}, other)], h("a", { className: "button", download: `${id}.json`, href: file }, t("export"))),
    out, h("h2", {}, t("answer")), h("div", { className: "card answer" }, await markdown(run.answer || run.note)),
    h("h2", {}, t("steps")), steps(run));
  return () => URL.revokeObjectURL(file);
}

function steps(run) {
  const fall = waterfall();
  for (const round of run.rounds) {
    const read = h("div", {}, json(round.raw ?? ""));
    const note = round.final ? t("lastTurn") : t("modelTime");
    let at = round.at ?? fall.end();
    if (round.round) { // round 0 holds calls that were made before the model was asked
      fall.add("model", t("round", { number: round.round }), note, at, round.seconds ?? 0, modelInside({ ...round, read }));
      fall.list.lastChild.querySelector("details").addEventListener("toggle", () => colour(read, round.raw, run.tools), { once: true });
    }
    at += round.seconds ?? 0;
    for (const call of round.calls) {
      const result = { isError: call.is_error, content: [{ type: "text", text: call.text }], structured: null };
      fall.add(call.is_error ? "tool failed" : "tool", call.name, call.ran ? writtenBy(call) : t("notRun"), at, call.seconds, callInside(call.name, call.arguments, result));
      at += call.seconds;
    }
  }
  return fall.list;
}

async function colour(holder, raw, tools) {
  if (!raw) return;
  const offered = tools.flatMap((tool) => [tool.name, tool.name.split("__").pop()].map((name) => ({ type: "function", function: { name, parameters: tool.schema } })));
  const parsed = await api("/api/dialects/inspect", { method: "POST", body: { text: raw, tools: offered } }).catch(() => null);
  if (parsed) fill(holder, spansOf(raw, parsed));
}
