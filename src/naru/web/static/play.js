import { api, events } from "./api.js";
import { field, fill, h, json, say } from "./dom.js";
import { t } from "./text.js";
import { resultView } from "./tools.js";
import { spansOf } from "./inspect.js";

export async function playPage(main) {
  const [{ models }, servers, { tools }] = await Promise.all([api("/api/models"), api("/api/mcp/servers"), api("/api/tools")]);
  const model = h("select", {}, models.map((one) => h("option", { value: one.name }, one.name)));
  const chosen = h("select", {}, h("option", { value: "*" }, t("allServers")), servers.map((one) => h("option", { value: one.name }, one.name)), h("option", { value: "" }, t("noTools")));
  const question = h("textarea", { required: true, rows: 3 });
  const button = h("button", { className: "main" }, t("ask"));
  const halt = h("button", { type: "button", hidden: true }, t("stop"));
  const answer = h("div", { className: "card answer", "aria-live": "polite", hidden: true });
  const steps = h("div");
  let stop = () => {};
  halt.addEventListener("click", () => stop());
  const send = async (event) => {
    event.preventDefault();
    const abort = new AbortController();
    stop = () => abort.abort();
    button.disabled = true; halt.hidden = false; answer.hidden = false;
    fill(answer); fill(steps);
    const body = { model: model.value, messages: [{ role: "user", content: question.value }], servers: chosen.value === "*" ? null : chosen.value ? [chosen.value] : [] };
    try {
      for await (const step of events("/api/play", body, abort.signal)) draw(step, answer, steps, tools);
    } catch (error) { if (error.name !== "AbortError") say(error.message); }
    button.disabled = false; halt.hidden = true;
  };
  fill(main, h("h1", {}, t("play")), h("form", { className: "card", onsubmit: send },
    h("div", { className: "row" }, h("div", { className: "grow" }, field(t("model"), model)), h("div", { className: "grow" }, field(t("withServers"), chosen))),
    field(t("question"), question), h("div", { className: "row" }, button, halt)), answer, steps);
  question.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event); });
  return () => stop();
}

function draw(step, answer, steps, tools) {
  if (step.step === "text") answer.append(step.text);
  else if (step.step === "round") steps.append(h("h2", {}, `${t("round")} ${step.round}`, step.final && ` · ${t("last")}`), step.offered.length ? h("p", { className: "soft small" }, `${t("offered")}: ${step.offered.join(", ")}`) : "");
  else if (step.step === "model") steps.append(h("details", {}, h("summary", {}, `${t("wrote")} · ${step.seconds.toFixed(1)} ${t("seconds")}`), coloured(step.raw, tools)));
  else if (step.step === "call") steps.append(h("details", { open: true }, h("summary", {}, `${t("call")} `, h("code", {}, step.name)), json(step.arguments)));
  else if (step.step === "result") steps.append(h("details", {}, h("summary", {}, `${t("result")} `, h("code", {}, step.name), ` · ${Math.round(step.seconds * 1000)} ms`, !step.ran && ` · ${t("notRun")}`), resultView(step)));
  else if (step.step === "end") {
    if (step.answer && answer.textContent !== step.answer) answer.textContent = step.answer;
    steps.append(h("p", { className: "soft small" }, `${t("reason")}: ${step.reason} · ${step.usage.prompt_tokens} + ${step.usage.completion_tokens} tokens`, step.note && ` · ${step.note}`));
  } else if (step.step === "error") say(step.message);
}

export function coloured(raw, tools) {
  const holder = h("div", {}, json(raw));
  if (raw) {
    const offered = tools.map((tool) => ({ type: "function", function: { name: tool.name.split("__").pop(), parameters: tool.inputSchema ?? tool.schema } }));
    api("/api/dialects/inspect", { method: "POST", body: { text: raw, tools: offered } })
      .then((parsed) => fill(holder, spansOf(raw, parsed))).catch(() => {});
  }
  return holder;
}
