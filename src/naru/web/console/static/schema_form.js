// A tool's parameters as fields: what a schema says plainly is chosen or filled in, all else is written as JSON.
import { parsed } from "./api.js";
import { field, h } from "./dom.js";
import { t } from "./text.js";

const deepest = 6; // levels that are looked into; a schema may refer to itself
const isTable = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// What "#/$defs/Name" stands for in a tool's own schema; nothing is fetched.
function referred(root, place) {
  if (!place.startsWith("#/")) return undefined;
  return place.slice(2).split("/").reduce((found, step) => found?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

// A schema with what it refers to, and without the ways of saying "or nothing": one other branch is what the person fills in.
function plain(given, root, depth = 0) {
  const schema = isTable(given) ? given : {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const branches = [allOf, anyOf, oneOf].find(Array.isArray)?.filter((one) => isTable(one) && one.type !== "null");
  const only = typeof $ref === "string" ? referred(root, $ref) : branches?.length === 1 ? branches[0] : undefined;
  return isTable(only) && depth < deepest ? { ...plain(only, root, depth + 1), ...own } : schema;
}

const branchesOf = (schema) => [schema.oneOf, schema.anyOf].find(Array.isArray) ?? [];

// The values that a schema names: an enum, one constant, or a constant in each branch.
function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum;
  if ("const" in schema) return [schema.const];
  const branches = branchesOf(schema);
  return branches.length && branches.every((one) => isTable(one) && "const" in one) ? branches.map((one) => one.const) : undefined;
}

// How a value of this schema looks, for whoever has to write it as JSON.
function shapeOf(given, root, depth = 0) {
  const schema = plain(given, root), choices = choicesOf(schema);
  if (choices) return choices[0];
  if (depth >= deepest) return null;
  const [branch] = branchesOf(schema);
  if (branch) return shapeOf(branch, root, depth + 1);
  if (isTable(schema.properties)) return Object.fromEntries(Object.entries(schema.properties).map(([key, one]) => [key, shapeOf(one, root, depth + 1)]));
  const [type] = [schema.type].flat();
  return { string: "…", integer: 0, number: 0, boolean: false, array: isTable(schema.items) ? [shapeOf(schema.items, root, depth + 1)] : [], object: {} }[type] ?? null;
}

// One line for each way that the value may look; nothing where that says nothing, or says too much.
function shapes(schema, root) {
  const lines = (branchesOf(schema).length ? branchesOf(schema) : [schema]).map((one) => JSON.stringify(shapeOf(one, root)));
  const said = [...new Set(lines)].filter((line) => !["null", "[]", "{}"].includes(line)).join("\n");
  return said && said.length <= 400 ? h("code", { className: "shape" }, said) : null;
}

const shownChoice = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const scalar = (value) => (["string", "number"].includes(typeof value) ? value : "");
const whole = (text) => (/^-?[1-9]\d*$/.test(text) ? parsed(text) : Number(text));
const isDay = (value) => value === undefined || /^\d{4}-\d\d-\d\d$/.test(value);

// Enter sends, as in a line; what is pasted keeps its lines, and Shift and Enter begin one.
function lineOf(properties) {
  const input = h("textarea", { className: "line", rows: 1, ...properties, onkeydown: (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    input.form.requestSubmit();
  } });
  return input;
}

function selected(key, choices, chosen, required, shown, label, hint) {
  const input = h("select", { required }, !(required && choices.length) && h("option", { value: "" }, ""),
    choices.map((one) => h("option", { value: JSON.stringify(one), selected: JSON.stringify(one) === JSON.stringify(chosen) }, shown(one))));
  return { key, view: field(label, input, hint), value: () => (input.value === "" ? undefined : parsed(input.value)) };
}

// An object whose members are all said plainly, and are all that it has, is filled in member by member.
function membersOf(schema, root) {
  if (schema.type !== "object" || !isTable(schema.properties) || schema.additionalProperties || branchesOf(schema).length) return undefined;
  const members = Object.entries(schema.properties);
  const isPlain = ([, one]) => { const { type, ...inner } = plain(one, root); return choicesOf(inner) || ["string", "number", "integer", "boolean"].includes(type); };
  return members.length && members.every(isPlain) ? members : undefined;
}

function group(key, schema, members, required, root, label) {
  const needed = Array.isArray(schema.required) ? schema.required : [], before = isTable(schema.default) ? schema.default : {};
  const inner = members.map(([name, one]) => control(name, Object.hasOwn(before, name) ? { ...plain(one, root), default: before[name] } : one, required && needed.includes(name), root));
  const value = () => {
    const given = Object.fromEntries(inner.map((one) => [one.key, one.value()]).filter(([, one]) => one !== undefined));
    return required || Object.keys(given).length ? given : undefined;
  };
  const view = h("fieldset", {}, h("legend", {}, label), schema.description && h("p", { className: "hint soft small" }, schema.description), inner.map((one) => one.view));
  return { key, view, value };
}

// A file is sent as its schema wants it, in base64; small ones may also be pasted so.
const isFile = (schema) => schema.contentEncoding === "base64" || ["byte", "binary", "base64"].includes(schema.format);
function fileInto(input, label) {
  const read = async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    const pieces = [], bytes = new Uint8Array(await file.arrayBuffer());
    for (let at = 0; at < bytes.length; at += 32_768) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 32_768)));
    input.value = btoa(pieces.join(""));
  };
  return h("input", { type: "file", "aria-label": `${label}: ${t("file")}`, onchange: read });
}

// A field for one parameter: `view` is drawn, `value()` gives what was filled in, undefined for nothing.
export function control(key, given, required, root) {
  const schema = plain(given, root);
  const types = Array.isArray(schema.type) ? schema.type.filter((one) => one !== "null") : [schema.type];
  const type = types.length === 1 ? types[0] : undefined;
  const hint = schema.description;
  const label = required ? `${key} *` : key;
  const choices = choicesOf(schema);
  if (choices) return selected(key, choices, schema.default, required, shownChoice, label, hint);
  if (type === "boolean") return selected(key, [true, false], schema.default, required, (one) => t(one ? "yes" : "no"), label, hint);
  if (type === "integer" || type === "number") {
    const input = h("input", {
      type: "number", step: type === "integer" ? "1" : "any", required, value: scalar(schema.default),
      min: schema.minimum, max: schema.maximum,
    });
    return { key, view: field(label, input, hint), value: () => (input.value === "" ? undefined : whole(input.value)) };
  }
  if (type === "string") {
    const input = schema.format === "date" && isDay(schema.default)
      ? h("input", { type: "date", required, value: scalar(schema.default) })
      : lineOf({ required, value: scalar(schema.default), autocomplete: "off", placeholder: scalar(schema.examples?.[0]) });
    return { key, view: isFile(schema) ? h("div", { className: "file" }, field(label, input, hint), fileInto(input, label)) : field(label, input, hint), value: () => (input.value === "" && !required ? undefined : input.value) };
  }
  const members = membersOf(schema, root);
  if (members) return group(key, schema, members, required, root, label);
  const input = h("textarea", { required, placeholder: "JSON", spellcheck: false, value: schema.default === undefined ? "" : JSON.stringify(schema.default) });
  // What is wrong is said at the field, by the browser, before anything is called.
  input.addEventListener("input", () => {
    try { input.setCustomValidity(""); if (input.value.trim()) parsed(input.value); } catch (error) { input.setCustomValidity(t("badJson") + error.message); }
  });
  const about = [hint, shapes(schema, root)].filter(Boolean);
  return { key, view: field(`${label} (JSON)`, input, about.length > 0 && about), value: () => (input.value.trim() ? parsed(input.value) : undefined) };
}
