import { api } from "./api.js";
import { busy, fill, h, json } from "./dom.js";
import { coloured } from "./play.js";
import { t, when } from "./text.js";

export async function runsPage(main) {
  const body = h("tbody");
  const find = h("input", { type: "search", "aria-label": t("search"), placeholder: t("search") });
  const load = async () => {
    const { runs } = await api(`/api/runs?limit=100&q=${encodeURIComponent(find.value)}`);
    fill(body, runs.map((run) => h("tr", {}, h("td", {}, h("a", { href: `#/runs/${run.id}` }, run.question.slice(0, 160) || run.id)),
      h("td", {}, run.model), h("td", {}, run.reason), h("td", {}, `${run.seconds.toFixed(1)} ${t("seconds")}`), h("td", { className: "soft" }, when(run.started_at)))),
      !runs.length && h("tr", {}, h("td", { colSpan: 5, className: "soft" }, t("none"))));
  };
  let waiting;
  find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(load, 200); });
  await load();
  fill(main, h("h1", {}, t("runs")), find, h("div", { className: "scroll" }, h("table", {}, h("thead", {}, h("tr", {},
    ["question", "model", "reason", "took", "time"].map((key) => h("th", { scope: "col" }, t(key))))), body)));
}

function bars(run) {
  const total = Math.max(run.seconds, 0.001);
  const rows = [];
  for (const round of run.rounds) {
    let at = round.at ?? 0;
    rows.push([`${t("round")} ${round.round}`, at, round.seconds ?? 0, "m"]);
    at += round.seconds ?? 0;
    for (const call of round.calls) rows.push([call.name, at, call.seconds, "t"]);
  }
  return h("table", {}, h("tbody", {}, rows.map(([label, start, length, name]) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("class", name);
    rect.setAttribute("x", `${(start / total) * 100}%`);
    rect.setAttribute("width", `${Math.max((length / total) * 100, 0.5)}%`);
    rect.setAttribute("height", "16");
    svg.append(rect);
    return h("tr", {}, h("td", {}, label), h("td", { className: "grow" }, h("div", { className: "bar", role: "img", "aria-label": `${label}: ${length.toFixed(2)} s` }, svg)), h("td", { className: "soft" }, `${length.toFixed(2)} ${t("seconds")}`));
  })));
}

export async function runPage(main, id) {
  const run = await api(`/api/runs/${encodeURIComponent(id)}`);
  const out = h("div", { "aria-live": "polite" });
  const button = h("button", {}, t("replay"));
  button.addEventListener("click", busy(() => button, async () => {
    const again = await api(`/api/runs/${encodeURIComponent(id)}/replay`, { method: "POST" });
    fill(out, again.same ? h("p", { className: "good" }, t("same")) : [h("p", { className: "bad" }, t("differs")), json(again.differences)]);
  }));
  const save = h("a", { className: "button", download: `${id}.json`, href: URL.createObjectURL(new Blob([JSON.stringify(run, null, 2)], { type: "application/json" })) }, t("export"));
  fill(main, h("h1", {}, run.question), h("p", { className: "soft small" }, `${run.model} · ${run.reason} · ${run.seconds} ${t("seconds")} · ${when(run.started_at)}`),
    h("div", { className: "row" }, button, save), out, h("h2", {}, t("answer")), h("div", { className: "card answer" }, run.answer || run.note),
    bars(run),
    run.rounds.map((round) => h("section", { className: "card" }, h("h2", {}, `${t("round")} ${round.round}`, round.final && ` · ${t("last")}`),
      round.offered.length > 0 && h("p", { className: "soft small" }, `${t("offered")}: ${round.offered.join(", ")}`),
      h("details", {}, h("summary", {}, t("prompt")), (round.prompt ?? []).map((turn) => [h("strong", {}, turn.role), json(turn.content)])),
      h("details", { open: true }, h("summary", {}, t("wrote")), coloured(round.raw ?? "", run.tools)),
      round.calls.map((call) => h("details", { open: true }, h("summary", {}, `${t("call")} `, h("code", {}, call.name), !call.ran && ` · ${t("notRun")}`), json(call.arguments), json(call.text))))));
}
