import { api, atLeast, events, person } from "./api.js";
import { showHeld } from "./approvals.js";
import { action, barred, field, fill, h, keep, kept, title } from "./dom.js";
import { markdown } from "./markdown.js";
import { has, number, t } from "./text.js";
import { callInside, coloured, modelInside, waterfall, writtenBy } from "./waterfall.js";

// The conversation stays with the tab and the person who had it: what was asked and answered, never what tools were given or gave.
const place = "conversation";
const recalled = (who) => { try { const held = JSON.parse(sessionStorage.getItem(place)); return held?.who === who.id ? held : {}; } catch { return {}; } };
const remember = (held) => { try { sessionStorage.setItem(place, JSON.stringify(held)); } catch { /* a private window, or full */ } };

export async function playPage(main) {
  const [who, { models }, { servers }] = await Promise.all([person(), api("/api/models"), api("/api/console/servers?limit=200")]);
  const held = recalled(who), mayAsk = atLeast(who, "user");
  const model = h("select", {}, models.map((one) => h("option", { value: one.name }, one.name)));
  const chosen = h("select", {}, h("option", { value: "*" }, t("allServers")),
    servers.map((one) => h("option", { value: one.name }, one.name)), h("option", { value: "" }, t("withoutTools")));
  const question = h("textarea", { className: "prose", rows: 2, autofocus: true, value: kept().words ?? "", oninput: () => keep({ words: question.value }) });
  const ask = h("button", { className: "main" }, t("ask"));
  const halt = h("button", { type: "button", hidden: true }, t("stop"));
  const talk = h("div", { "aria-live": "polite" });
  const turns = held.turns ?? [];
  if (turns.at(-1)?.role === "user") { // nobody answered it, since its page was left: it stands where it was written
    const { content } = turns.pop();
    question.value ||= content;
  }
  turns.forEach(({ role, content }, at) => { if (role === "user") talk.append(newTurn(content, turns[at + 1].content).view); });
  for (const [select, value] of [[model, held.model], [chosen, held.servers]]) if ([...select.options].some((one) => one.value === value)) select.value = value;
  const save = () => remember({ who: who.id, turns, model: model.value, servers: chosen.value });
  let stop = () => {}, isLeft = false;
  halt.addEventListener("click", () => stop());
  const send = async (event) => {
    event.preventDefault();
    const text = question.value.trim();
    if (!text || ask.disabled) return;
    const abort = new AbortController();
    stop = () => abort.abort();
    halt.hidden = false;
    if (document.activeElement === ask) halt.focus();
    ask.disabled = true;
    question.value = "";
    keep({ words: "" });
    turns.push({ role: "user", content: text });
    save();
    const turn = newTurn(text);
    talk.append(turn.view);
    turn.view.scrollIntoView({ block: "nearest" });
    let isDone = false;
    const done = () => {
      if (!isDone) turns.push({ role: "assistant", content: turn.answer() });
      isDone = true;
      save();
    };
    const wanted = chosen.value === "*" ? null : chosen.value ? [chosen.value] : [];
    try {
      const body = { model: model.value, messages: turns, servers: wanted };
      for await (const step of events("/api/play", body, abort.signal)) {
        turn.hear(step);
        if (step.step === "end") done();
      }
      if (!isDone) throw new Error(t("offline")); // it ended in the middle: the hub was stopped
    } catch (error) {
      if (isLeft || isDone) return;
      turns.pop();
      save();
      turn.fail(error.name === "AbortError" ? t("stopped") : error.message);
    } finally {
      turn.stop();
      ask.disabled = false;
      if (!talk.contains(document.activeElement)) question.focus(); // else it is being read
      halt.hidden = true;
    }
  };
  const fresh = action(t("fresh"), async () => { stop(); turns.length = 0; save(); fill(talk); question.focus(); }, { className: "quiet" });
  fill(main, title(t("play"), h("span", { className: "push" }), mayAsk && fresh), h("p", { className: "lead" }, t("playLead")), talk,
    !mayAsk ? barred("user") : h("form", { className: "card", onsubmit: send },
      field(t("question"), question), h("div", { className: "fields" }, field(t("model"), model), field(t("withTools"), chosen)),
      h("div", { className: "row" }, ask, halt, h("span", { className: "soft small" }, t("askHint")))));
  question.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event); });
  return () => { isLeft = true; stop(); };
}

// One question with everything that follows, drawn step by step as the loop goes; or as it was answered before.
function newTurn(text, before) {
  const answer = h("div", { className: "card answer" });
  const fall = waterfall();
  const note = h("p", { className: "soft small" });
  const failed = h("p", { className: "bad", role: "alert" });
  fall.list.hidden = true;
  const view = h("article", { className: "turn" }, h("p", { className: "asked" }, text), fall.list, answer, failed, note);
  let round = {};
  let said = "", drawing;
  // What comes is drawn as Markdown a few times a second, and once more when all of it is there.
  const draw = async () => {
    clearTimeout(drawing);
    drawing = undefined;
    fill(answer, await markdown(said).catch(() => said));
  };
  let at = 0, until = 0; // calls of one round begin together; the model goes on when the last has ended
  let thinking = performance.now();
  const going = new Map(); // the calls that run now, by their ids
  const clock = setInterval(() => {
    for (const one of going.values()) one.tick();
    if (thinking !== undefined) note.textContent = t("thinks", { seconds: Math.floor((performance.now() - thinking) / 1000) });
  }, 500);
  const asking = setInterval(() => {
    if ([...going.values()].some((one) => one.seconds() > 0.8)) showHeld(going).catch(() => {});
  }, 1500);
  const finish = () => { clearInterval(clock); clearInterval(asking); thinking = undefined; for (const one of going.values()) one.end(); going.clear(); };
  if (before !== undefined) { finish(); said = before; draw(); }
  const heard = {
    text: (step) => { said += step.text; drawing ??= setTimeout(draw, 120); },
    round: (step) => { round = { number: step.round, final: step.final, offered: step.offered }; },
    prompt: (step) => { round.prompt = step.messages; },
    model: (step) => {
      fall.list.hidden = false;
      at = Math.max(at, until);
      const inside = modelInside({ ...round, raw: step.raw, read: coloured(step.raw, step.spans), repairs: step.repairs });
      fall.add("model", t("round", { number: step.round }), round.final ? t("lastTurn") : t("modelTime"), at, step.seconds, inside);
      at += step.seconds;
      thinking = undefined;
      note.textContent = "";
    },
    call: (step) => {
      fall.list.hidden = false;
      going.set(step.id, Object.assign(fall.pending(step.name, at), { given: step.arguments }));
    },
    result: (step) => {
      fall.list.hidden = false;
      const mine = going.get(step.id);
      mine?.end();
      going.delete(step.id);
      const start = mine?.start ?? at;
      fall.add(step.isError ? "tool failed" : "tool", step.name, step.ran ? writtenBy(step) : t("notRun"), start, step.seconds, callInside(step.name, mine?.given ?? {}, step));
      until = Math.max(until, start + step.seconds);
      if (!going.size) thinking = performance.now();
    },
    end: (step) => {
      finish();
      at = Math.max(at, until);
      said = step.answer || said;
      draw();
      note.textContent = [
        t("ended", { reason: has(step.reason) ? t(step.reason) : step.reason }), t("seconds", { seconds: at.toFixed(1) }),
        t("tokens", { prompt: number(step.usage.prompt_tokens, 0), completion: number(step.usage.completion_tokens, 0) }), step.reason !== "answered" && step.note,
      ].filter(Boolean).join(" · ");
      // What the servers' trouble is stands on their page; here a word that leads there is enough.
      if (step.note && step.reason === "answered") note.append(" · ", h("a", { href: "#/servers" }, t("serversAway")));
    },
    error: (step) => { throw new Error(step.message); },
  };
  return {
    view,
    hear: (step) => heard[step.step]?.(step),
    answer: () => said,
    stop: finish, // what ticks goes on with its page left, and asks the hub
    fail: (message) => { finish(); note.textContent = ""; failed.textContent = message; if (!said) answer.remove(); },
  };
}
