import { api } from "./api.js";
import { field, fill, h, json, onSubmit, title } from "./dom.js";
import { t } from "./text.js";

const example = () => `<think>${t("exampleThought")}</think>\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "${t("exampleCity")}"}\n</tool_call>`;
const weather = { type: "function", function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } };

// The text with each piece coloured by what it was read as. Positions count characters, not UTF-16 units.
export function spansOf(text, parsed) {
  const characters = [...text];
  const names = { call: "calls", reasoning: "reasoning", dropped: "dropped" };
  return [h("pre", { tabIndex: 0 }, parsed.spans.map((span) =>
    h("span", { className: `span-${span.kind}`, title: span.kind }, characters.slice(span.start, span.end).join("")))),
  h("p", { className: "legend small" }, Object.entries(names).map(([kind, name]) => h("span", { className: `span-${kind}` }, t(name))))];
}

export async function inspectPage(main) {
  const { tools } = await api("/api/console/tools?limit=12&schemas=1");
  const offered = tools.map((tool) => ({ type: "function", function: { name: tool.name, description: tool.description, parameters: tool.inputSchema } }));
  const text = h("textarea", { rows: 9, value: example(), spellcheck: false });
  const toolsText = h("textarea", { rows: 9, value: JSON.stringify([weather, ...offered], null, 1), spellcheck: false });
  const model = h("input", { autocomplete: "off", placeholder: "qwen2.5" });
  const out = h("section", { "aria-live": "polite" });
  const button = h("button", { className: "main" }, t("read"));
  const send = onSubmit(button, async () => {
    let given;
    try { given = JSON.parse(toolsText.value || "[]"); } catch (error) { throw new Error(t("badJson") + error.message); }
    const body = { text: text.value, tools: given, model: model.value || null };
    fill(out, outcome(text.value, await api("/api/dialects/inspect", { method: "POST", body })));
  });
  fill(main, title(t("inspect")), h("p", { className: "lead" }, t("inspectLead")),
    h("form", { className: "card", onsubmit: send }, field(t("raw"), text),
      h("details", {}, h("summary", {}, t("offeredTools")), field(t("offeredTools"), toolsText), field(t("modelName"), model)), button), out);
}

function outcome(text, parsed) {
  return [spansOf(text, parsed), h("h2", {}, `${t("calls")} (${parsed.calls.length})`),
    !parsed.calls.length && h("p", { className: "soft" }, t("noCalls")),
    parsed.calls.map((call) => h("div", { className: "card" }, h("div", { className: "row" }, h("code", {}, call.name), h("span", { className: "tag" }, call.dialect)), json(call.arguments))),
    parsed.repairs.length > 0 && [h("h2", {}, t("repairs")), json(parsed.repairs)],
    parsed.reasoning && [h("h2", {}, t("reasoning")), json(parsed.reasoning)],
    h("h2", {}, t("content")), parsed.content ? json(parsed.content) : h("p", { className: "soft" }, t("nothingLeft")),
    parsed.calls.length > 0 && [h("p", { className: "soft small" }, t("leaked")), json(text)]];
}
