import { api } from "./api.js";
import { busy, field, fill, h, json, safeImage } from "./dom.js";
import { t } from "./text.js";

export async function toolsPage(main) {
  const { tools } = await api("/api/tools");
  const list = h("ul", { className: "plain" });
  const find = h("input", { type: "search", "aria-label": t("search"), placeholder: t("search") });
  const draw = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = tools.filter((tool) => wanted.every((word) => `${tool.name} ${tool.description}`.toLowerCase().includes(word)));
    fill(list, shown.length ? shown.map((tool) => h("li", { className: "card" },
      h("div", { className: "row" }, h("a", { className: "grow", href: `#/tools/${encodeURIComponent(tool.name)}` }, h("strong", {}, tool.name)),
        h("span", { className: "soft small" }, tool.server)),
      h("div", { className: "soft small" }, tool.description))) : h("li", { className: "soft" }, t("none")));
  };
  find.addEventListener("input", draw);
  draw();
  fill(main, h("h1", {}, `${t("tools")} (${tools.length})`), find, h("h2", {}, ""), list);
}

export async function toolPage(main, name) {
  const { tools } = await api("/api/tools");
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`${t("tool")}: ${name}?`);
  const inputs = Object.entries(tool.inputSchema.properties ?? {}).map(([key, schema]) => control(key, schema, (tool.inputSchema.required ?? []).includes(key)));
  const out = h("section", { "aria-live": "polite" });
  const button = h("button", { className: "main" }, t("run"));
  const send = busy(() => button, async () => {
    const given = {};
    for (const input of inputs) { const value = input.value(); if (value !== undefined) given[input.key] = value; }
    const started = performance.now();
    const result = await api("/api/tools/call", { method: "POST", body: { name, arguments: given } });
    fill(out, h("h2", {}, t("result"), " ", h("span", { className: "soft small" }, `${Math.round(performance.now() - started)} ms`)), resultView(result));
  });
  fill(main, h("h1", {}, tool.name), h("p", {}, tool.description),
    h("form", { className: "card", onsubmit: send }, inputs.map((input) => input.view), button), out,
    h("details", {}, h("summary", {}, t("definition")), json(tool.inputSchema)));
}

function control(key, schema, required) {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  const hint = schema.description;
  const label = required ? `${key} *` : key;
  if (schema.enum) {
    const input = h("select", {}, !required && h("option", { value: "" }, ""), schema.enum.map((one) => h("option", { value: JSON.stringify(one) }, String(one))));
    return { key, view: field(label, input, hint), value: () => (input.value === "" ? undefined : JSON.parse(input.value)) };
  }
  if (type === "boolean") {
    const input = h("input", { type: "checkbox", checked: schema.default === true });
    return { key, view: field(label, input, hint), value: () => input.checked };
  }
  if (type === "integer" || type === "number") {
    const input = h("input", { type: "number", step: type === "integer" ? "1" : "any", required, value: schema.default ?? "" });
    return { key, view: field(label, input, hint), value: () => (input.value === "" ? undefined : Number(input.value)) };
  }
  if (type === "string") {
    const input = h("input", { required, value: schema.default ?? "" });
    return { key, view: field(label, input, hint), value: () => (input.value === "" && !required ? undefined : input.value) };
  }
  const input = h("textarea", { required, placeholder: "JSON" });
  const read = () => {
    if (!input.value.trim()) return undefined;
    try { return JSON.parse(input.value); } catch (error) { throw new Error(`${key}: ${t("badJson")}${error.message}`); }
  };
  return { key, view: field(`${label} (JSON)`, input, hint), value: read };
}

export function resultView(result) {
  return h("div", { className: "card" }, result.isError && h("p", { className: "bad" }, t("failed")), result.content.map((part) => {
    if (part.type === "image") return safeImage(part.mimeType, part.data, part.url);
    if (part.type === "audio" && /^audio\/[\w.+-]+$/.test(part.mimeType)) return h("audio", { controls: true, src: `data:${part.mimeType};base64,${part.data}` });
    if (part.type === "resource") return h("div", {}, h("code", {}, part.uri), part.text && json(part.text));
    return json(pretty(part.text ?? ""));
  }), !result.content.length && result.structured !== null && json(result.structured));
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
