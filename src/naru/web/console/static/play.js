import { api, events } from "./api.js";
import { action, field, fill, h, title } from "./dom.js";
import { has, t } from "./text.js";
import { callInside, coloured, modelInside, waterfall } from "./waterfall.js";

export async function playPage(main) {
  const [{ models }, { servers }] = await Promise.all([api("/api/models"), api("/api/console/servers?limit=200")]);
  const model = h("select", {}, models.map((one) => h("option", { value: one.name }, one.name)));
  const chosen = h("select", {}, h("option", { value: "*" }, t("allServers")),
    servers.map((one) => h("option", { value: one.name }, one.name)), h("option", { value: "" }, t("withoutTools")));
  const question = h("textarea", { className: "prose", rows: 2, autofocus: true });
  const ask = h("button", { className: "main" }, t("ask"));
  const halt = h("button", { type: "button", hidden: true }, t("stop"));
  const talk = h("div", { "aria-live": "polite" });
  let turns = [];
  let stop = () => {};
  halt.addEventListener("click", () => stop());
  const send = async (event) => {
    event.preventDefault();
    const text = question.value.trim();
    if (!text || ask.disabled) return;
    const abort = new AbortController();
    stop = () => abort.abort();
    ask.disabled = true;
    halt.hidden = false;
    question.value = "";
    turns.push({ role: "user", content: text });
    const turn = newTurn(text);
    talk.append(turn.view);
    turn.view.scrollIntoView({ block: "nearest" });
    const wanted = chosen.value === "*" ? null : chosen.value ? [chosen.value] : [];
    try {
      const body = { model: model.value, messages: turns, servers: wanted };
      for await (const step of events("/api/play", body, abort.signal)) turn.hear(step);
      turns.push({ role: "assistant", content: turn.answer() });
    } catch (error) {
      turns.pop();
      turn.fail(error.name === "AbortError" ? t("stopped") : error.message);
    } finally {
      ask.disabled = false;
      halt.hidden = true;
      question.focus();
    }
  };
  const fresh = action(t("fresh"), async () => { stop(); turns = []; fill(talk); question.focus(); }, { className: "quiet" });
  fill(main, title(t("play"), h("span", { className: "push" }), fresh), h("p", { className: "lead" }, t("playLead")), talk,
    h("form", { className: "card", onsubmit: send },
      field(t("question"), question), h("div", { className: "fields" }, field(t("model"), model), field(t("withTools"), chosen)),
      h("div", { className: "row" }, ask, halt, h("span", { className: "soft small" }, t("askHint")))));
  question.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event); });
  return () => stop();
}

// One question with everything that follows, drawn step by step as the loop goes.
function newTurn(text) {
  const answer = h("div", { className: "card answer" });
  const fall = waterfall();
  const note = h("p", { className: "soft small" });
  const failed = h("p", { className: "bad", role: "alert" });
  fall.list.hidden = true;
  const view = h("article", { className: "turn" }, h("p", { className: "asked" }, text), fall.list, answer, failed, note);
  let round = {};
  let call = {};
  let at = 0;
  const heard = {
    text: (step) => { answer.append(step.text); },
    round: (step) => { round = { number: step.round, final: step.final, offered: step.offered }; },
    prompt: (step) => { round.prompt = step.messages; },
    model: (step) => {
      fall.list.hidden = false;
      const inside = modelInside({ ...round, raw: step.raw, read: coloured(step.raw, step.spans), repairs: step.repairs });
      fall.add("model", t("round", { number: step.round }), round.final ? t("lastTurn") : t("modelTime"), at, step.seconds, inside);
      at += step.seconds;
    },
    call: (step) => { call = step; },
    result: (step) => {
      fall.list.hidden = false;
      const kind = step.isError ? "tool failed" : "tool";
      const given = call.name === step.name ? call.arguments : {};
      fall.add(kind, step.name, step.ran ? "" : t("notRun"), at, step.seconds, callInside(step.name, given, step));
      at += step.seconds;
    },
    end: (step) => {
      if (step.answer && answer.textContent !== step.answer) answer.textContent = step.answer;
      note.textContent = [
        t("ended", { reason: has(step.reason) ? t(step.reason) : step.reason }), t("seconds", { seconds: at.toFixed(1) }),
        t("tokens", { prompt: step.usage.prompt_tokens, completion: step.usage.completion_tokens }), step.note,
      ].filter(Boolean).join(" · ");
    },
    error: (step) => { throw new Error(step.message); },
  };
  return {
    view,
    hear: (step) => heard[step.step]?.(step),
    answer: () => answer.textContent,
    fail: (message) => { failed.textContent = message; if (!answer.textContent) answer.remove(); },
  };
}
