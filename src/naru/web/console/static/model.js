// One model: how it is asked for tools, what its last probe found, and a probe that runs while one looks on.
import { api, events, rights } from "./api.js";
import { empty, fill, h, snippet, title } from "./dom.js";
import { familyOf } from "./models.js";
import { has, number, t, when } from "./text.js";

const shown = [["family", "family"], ["strategy", "strategy"], ["native", "native_tools"], ["guided", "guided"], ["dialect", "dialect"],
  ["parallel", "parallel_calls"], ["helped", "small"], ["budgetTools", "tool_budget"], ["context", "context_tokens"]];
const usual = 16; // checks of a probe, more or less

function said(label, value) {
  if (value === true || value === false) return t(value ? "yes" : "no");
  if (label === "budgetTools") return value || t("noLimit");
  return value || "–";
}

function check(one) {
  const kind = one.passed === one.of ? "good" : one.passed ? "wait" : "bad";
  const key = `check_${one.name.replace(/\d+/, "N").replace(/\W+/g, "_")}`;
  return h("tr", {}, h("th", { scope: "row" }, has(key) ? t(key, { N: one.name.match(/\d+/)?.[0] }) : one.name),
    h("td", {}, h("span", { className: `state ${kind}` }, `${one.passed} / ${one.of}`)), h("td", {}, t("seconds", { seconds: number(one.seconds) })), h("td", { className: "free" }, one.note));
}

const table = (rows) => h("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": t("found") }, h("table", {},
  h("thead", {}, h("tr", {}, ["checked", "passed", "time", "note"].map((one) => h("th", { scope: "col" }, t(one))))), h("tbody", {}, rows)));

export async function modelPage(main, name) {
  let abort;
  const facts = h("div"), found = h("div"), going = h("p", { className: "soft", "aria-live": "polite" });
  const failed = h("p", { className: "bad", role: "alert" });
  const start = h("button", { type: "button", className: "main" }, t("probeNow"));
  const halt = h("button", { type: "button", hidden: true, onclick: () => abort?.abort() }, t("stop"));

  async function load() {
    const model = (await api("/api/models")).models.find((one) => one.name === name);
    if (!model) throw new Error(t("noSuchModel", { name }));
    fill(facts, h("section", { className: "card", "aria-label": name }, h("dl", { className: "facts" },
      shown.map(([label, key]) => h("div", {}, h("dt", {}, t(label)), h("dd", {}, said(label, key === "family" ? familyOf(model) : model[key])))))));
    fill(found, model.measured ? [h("p", { className: "soft small" }, t("measuredAt", { time: when(model.measured.at) })), table(model.measured.checks.map(check))]
      : empty(t("notMeasured"), t("notMeasuredHint")));
  }

  start.addEventListener("click", async () => {
    abort = new AbortController();
    halt.hidden = false;
    if (document.activeElement === start) halt.focus();
    start.disabled = true;
    failed.textContent = "";
    const rows = h("tbody"), begun = performance.now();
    fill(found, table([]));
    found.querySelector("tbody").replaceWith(rows);
    const tell = () => { going.textContent = t("probing", { done: rows.children.length, of: Math.max(usual, rows.children.length + 1), seconds: Math.floor((performance.now() - begun) / 1000) }); };
    const clock = setInterval(tell, 1000);
    tell();
    try {
      for await (const step of events("/api/models/probe", { model: name }, abort.signal)) {
        if (step.step === "check") rows.append(check(step));
        if (step.step === "error") throw new Error(step.message);
        if (step.step === "end") await load();
      }
    } catch (error) {
      failed.textContent = error.name === "AbortError" ? t("probeStopped") : error.message;
      await load().catch(() => {}); // what was found before, instead of half of it
    } finally {
      clearInterval(clock);
      going.textContent = "";
      start.disabled = false;
      if (document.activeElement === halt) start.focus();
      halt.hidden = true;
    }
  });
  await load();
  fill(main, title(name, h("span", { className: "push" }), halt, (await rights())("operator") && start), h("p", { className: "lead" }, t("modelLead")), failed, going, facts,
    h("h2", {}, t("found")), found, h("h2", {}, t("fromTerminal")), snippet(`naru probe ${name}`));
  return () => abort?.abort();
}
