// One tool: its schema as a form, a run, the result by type.
import { api, rights } from "./api.js";
import { showHeld } from "./approvals.js";
import { barred, fill, h, json, onSubmit, snippet, title } from "./dom.js";
import { resultView } from "./results.js";
import { control } from "./schema_form.js";
import { t } from "./text.js";
import { waterfall } from "./waterfall.js";

export async function toolPage(main, name) {
  const [tool, may] = await Promise.all([api(`/api/console/tools/${encodeURIComponent(name)}`), rights()]);
  const root = tool.inputSchema, required = Array.isArray(root.required) ? root.required : [];
  const inputs = Object.entries(root.properties ?? {}).map(([key, schema]) => control(key, schema, required.includes(key), root));
  const going = h("div");
  const out = h("section", { "aria-live": "polite" });
  const button = h("button", { className: "main" }, t("run"));
  const send = onSubmit(button, async () => {
    const given = {};
    for (const input of inputs) { const value = input.value(); if (value !== undefined) given[input.key] = value; }
    const started = performance.now();
    const over = whileItRuns(going, name, given);
    const result = await api("/api/tools/call", { method: "POST", body: { name, arguments: given } }).finally(over);
    const took = `${Math.round(performance.now() - started)} ms`;
    fill(out, h("h2", {}, t("result"), " ", h("span", { className: "soft small" }, took)), h("div", { className: "card" }, resultView(result)),
      h("h2", {}, t("fromTerminal")), snippet(`naru tool run ${name} '${JSON.stringify(given).replaceAll("'", "'\\''")}'`), h("p", { className: "soft small" }, t("copyTerminal")));
  });
  const hints = tool.annotations ?? {};
  fill(main, title(tool.title || tool.name, h("span", { className: "tag" }, tool.server),
    hints.readOnlyHint && h("span", { className: "tag" }, t("readOnly")), hints.destructiveHint && h("span", { className: "tag wait" }, t("destructive"))),
  tool.title && h("p", { className: "soft" }, h("code", {}, tool.name)), h("p", { className: "lead" }, tool.description),
  may("user") ? h("form", { className: "card", onsubmit: send }, inputs.map((input) => input.view), !inputs.length && h("p", { className: "soft" }, t("noArguments")), button) : barred("user"), going, out,
  h("details", {}, h("summary", {}, t("definition")), json(tool.inputSchema)));
}

// What takes its time is seen to run, and a call that waits for a yes is answered there. Returns what ends that.
function whileItRuns(place, name, given) {
  let row;
  const look = () => {
    if (!row) {
      const fall = waterfall();
      row = Object.assign(fall.pending(name, 0), { given });
      fill(place, fall.list);
    }
    row.tick();
    showHeld(new Map([[name, row]])).catch(() => {});
  };
  const clock = setInterval(look, 1000);
  return () => { clearInterval(clock); place.replaceChildren(); };
}
