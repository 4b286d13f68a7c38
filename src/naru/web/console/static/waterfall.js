// The steps of a run as a waterfall: what took how long, each row opens to what happened in it.
import { h, json } from "./dom.js";
import { spansOf } from "./inspect.js";
import { resultView } from "./results.js";
import { t } from "./text.js";

export function waterfall() {
  const list = h("ul", { className: "fall" });
  const rows = [];
  let total = 0.001;
  const place = () => {
    for (const { start, length, mark } of rows) {
      mark.style.left = `${Math.min((start / total) * 100, 99.5)}%`;
      mark.style.width = `${Math.max((length / total) * 100, 0.5)}%`;
    }
  };
  // `start` and `length` in seconds.
  const add = (kind, label, note, start, length, inside) => {
    const mark = h("i");
    const time = length < 1 ? `${Math.round(length * 1000)} ms` : t("seconds", { seconds: length.toFixed(1) });
    rows.push({ start, length, mark });
    total = Math.max(total, start + length);
    list.append(h("li", { className: kind }, h("details", {},
      h("summary", {}, h("span", { className: "label" }, label, note && h("small", {}, note)),
        h("span", { className: "track", "aria-hidden": "true" }, mark), h("span", { className: "time" }, time)),
      h("div", { className: "inside" }, inside))));
    place();
  };
  // A row of what goes on: its time runs, and what a person has to answer stands in it.
  const pending = (label, start) => {
    const begun = performance.now();
    const time = h("span", { className: "time" });
    const place = h("div", { "aria-live": "polite" });
    const row = h("li", { className: "tool running" }, h("div", { className: "going" }, h("span", { className: "label" }, label), time), place);
    list.append(row);
    const seconds = () => (performance.now() - begun) / 1000;
    const tick = () => { time.textContent = t("runsFor", { seconds: Math.floor(seconds()) }); };
    tick();
    return { start, label, place, seconds, tick, end: () => row.remove() };
  };
  return { list, add, pending, end: () => total };
}

const few = 12; // names that stand open: more would push away what the model wrote

export function modelInside({ offered, prompt, raw, read, repairs }) {
  const turns = prompt ?? [];
  return [
    offered?.length > 0 && h("details", { open: offered.length <= few }, h("summary", {}, `${t("offered")} (${offered.length})`), h("p", { className: "row" }, offered.map((name) => h("code", {}, name)))),
    turns.length > 0 && h("details", {}, h("summary", {}, t("prompt")), turns.map((turn) => [h("h3", {}, turn.role), json(turn.content ?? "")])),
    h("h3", {}, t("wrote")), raw ? read ?? json(raw) : h("p", { className: "soft" }, t("wroteNothing")),
    repairs?.length > 0 && [h("h3", {}, t("repairs")), json(repairs)],
  ];
}

// Who wrote a call that ran: the model in every case; runs of older versions do not say.
export const writtenBy = ({ writer, mended }) =>
  [writer === "model" && t("byModel"), writer === "grammar" && t("byGrammar"), mended && t("mended")].filter(Boolean).join(", ");

export function callInside(name, given, result) {
  return [h("h3", {}, t("call")), json({ name, arguments: given }), h("h3", {}, t("result")), resultView(result)];
}

export const coloured = (raw, spans) => spansOf(raw, { spans });
