// One tool: its schema as a form, a run, the result by type.
import { api } from "./api.js";
import { field, fill, h, json, onSubmit, snippet, title } from "./dom.js";
import { resultView } from "./results.js";
import { t } from "./text.js";

export async function toolPage(main, name) {
  const tool = await api(`/api/console/tools/${encodeURIComponent(name)}`);
  const required = Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : [];
  const inputs = Object.entries(tool.inputSchema.properties ?? {}).map(([key, schema]) => control(key, schema, required.includes(key)));
  const out = h("section", { "aria-live": "polite" });
  const button = h("button", { className: "main" }, t("run"));
  const send = onSubmit(button, async () => {
    const given = {};
    for (const input of inputs) { const value = input.value(); if (value !== undefined) given[input.key] = value; }
    const started = performance.now();
    const result = await api("/api/tools/call", { method: "POST", body: { name, arguments: given } });
    const took = `${Math.round(performance.now() - started)} ms`;
    fill(out, h("h2", {}, t("result"), " ", h("span", { className: "soft small" }, took)), h("div", { className: "card" }, resultView(result)),
      h("h2", {}, t("fromTerminal")), snippet(`naru tool run ${name} '${JSON.stringify(given).replaceAll("'", "'\\''")}'`), h("p", { className: "soft small" }, t("copyTerminal")));
  });
  const hints = tool.annotations ?? {};
  fill(main, title(tool.title || tool.name, h("span", { className: "tag" }, tool.server),
    hints.readOnlyHint && h("span", { className: "tag" }, t("readOnly")), hints.destructiveHint && h("span", { className: "tag wait" }, t("destructive"))),
  h("p", { className: "lead" }, tool.title && [h("code", {}, tool.name), " "], tool.description),
  h("form", { className: "card", onsubmit: send }, inputs.map((input) => input.view), !inputs.length && h("p", { className: "soft" }, t("noArguments")), button), out,
  h("details", {}, h("summary", {}, t("definition")), json(tool.inputSchema)));
}

const isTable = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// A schema without the ways of saying "or nothing": one other branch is what the person fills in.
function plain(given) {
  const schema = isTable(given) ? given : {};
  const branches = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(branches)) return schema;
  const others = branches.filter((one) => isTable(one) && one.type !== "null");
  return others.length === 1 ? { ...others[0], ...schema, anyOf: undefined, oneOf: undefined } : schema;
}

const shownChoice = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const scalar = (value) => (["string", "number"].includes(typeof value) ? value : "");

function control(key, given, required) {
  const schema = plain(given);
  const types = Array.isArray(schema.type) ? schema.type.filter((one) => one !== "null") : [schema.type];
  const type = types.length === 1 ? types[0] : undefined;
  const hint = schema.description;
  const label = required ? `${key} *` : key;
  if (Array.isArray(schema.enum)) {
    const input = h("select", { required }, !required && h("option", { value: "" }, ""),
      schema.enum.map((one) => h("option", { value: JSON.stringify(one), selected: one === schema.default }, shownChoice(one))));
    return { key, view: field(label, input, hint), value: () => (input.value === "" ? undefined : JSON.parse(input.value)) };
  }
  if (type === "boolean") {
    const input = h("select", { required }, !required && h("option", { value: "" }, ""), ["true", "false"].map((one) =>
      h("option", { value: one, selected: String(schema.default) === one }, t(one === "true" ? "yes" : "no"))));
    return { key, view: field(label, input, hint), value: () => (input.value === "" ? undefined : input.value === "true") };
  }
  if (type === "integer" || type === "number") {
    const input = h("input", {
      type: "number", step: type === "integer" ? "1" : "any", required, value: scalar(schema.default),
      min: schema.minimum, max: schema.maximum,
    });
    return { key, view: field(label, input, hint), value: () => (input.value === "" ? undefined : Number(input.value)) };
  }
  if (type === "string") {
    const input = h("input", { required, value: scalar(schema.default), autocomplete: "off", placeholder: scalar(schema.examples?.[0]) });
    return { key, view: field(label, input, hint), value: () => (input.value === "" && !required ? undefined : input.value) };
  }
  const input = h("textarea", { required, placeholder: "JSON", spellcheck: false, value: schema.default === undefined ? "" : JSON.stringify(schema.default) });
  const read = () => {
    if (!input.value.trim()) return undefined;
    try { return JSON.parse(input.value); } catch (error) { throw new Error(`${key}: ${t("badJson")}${error.message}`); }
  };
  return { key, view: field(`${label} (JSON)`, input, hint), value: read };
}
