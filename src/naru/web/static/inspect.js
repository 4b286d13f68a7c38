import { api } from "./api.js";
import { busy, field, fill, h, json } from "./dom.js";
import { t } from "./text.js";

const example = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "서울"}}\n</tool_call>';

export function spansOf(text, parsed) {
  const characters = [...text];
  const names = { call: "calls", reasoning: "reasoning", dropped: "dropped" };
  return [h("pre", {}, parsed.spans.map((span) => h("span", { className: `span-${span.kind}`, title: span.kind }, characters.slice(span.start, span.end).join("")))),
    h("p", { className: "legend small" }, Object.entries(names).map(([kind, name]) => h("span", { className: `span-${kind}` }, t(name))))];
}

export async function inspectPage(main) {
  const { tools } = await api("/api/tools");
  const offered = tools.slice(0, 12).map((tool) => ({ type: "function", function: { name: tool.name, description: tool.description, parameters: tool.inputSchema } }));
  const weather = { type: "function", function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } };
  const text = h("textarea", { rows: 8, value: example });
  const toolsText = h("textarea", { rows: 8, value: JSON.stringify([weather, ...offered], null, 1) });
  const model = h("input", {});
  const out = h("section", { "aria-live": "polite" });
  const button = h("button", { className: "main" }, t("read"));
  const send = busy(() => button, async () => {
    let given;
    try { given = JSON.parse(toolsText.value || "[]"); } catch (error) { throw new Error(t("badJson") + error.message); }
    const parsed = await api("/api/dialects/inspect", { method: "POST", body: { text: text.value, tools: given, model: model.value || null } });
    fill(out, spansOf(text.value, parsed), h("h2", {}, `${t("calls")} (${parsed.calls.length})`),
      parsed.calls.map((call) => h("div", { className: "card" }, h("code", {}, call.name), " ", h("span", { className: "soft small" }, call.dialect), json(call.arguments))),
      h("h2", {}, t("content")), json(parsed.content ?? ""), parsed.reasoning && [h("h2", {}, t("reasoning")), json(parsed.reasoning)],
      parsed.repairs.length > 0 && [h("h2", {}, t("repairs")), json(parsed.repairs)]);
  });
  fill(main, h("h1", {}, t("inspect")), h("form", { className: "card", onsubmit: send }, field(t("raw"), text), field(t("offeredTools"), toolsText), field(t("model"), model), button), out);
}
