// A tool's parameters as fields: what a schema says plainly is chosen or filled in, all else is written as JSON.
import { parsed } from "./api.js";
import { check, field, h } from "./dom.js";
import { t } from "./text.js";

const deepest = 6; // levels that are looked into; a schema may refer to itself
const nested = 3; // levels of objects, lists and forms to choose from that are drawn as fields
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

const typeOf = (schema) => { const types = [schema.type].flat().filter((one) => one !== "null"); return types.length === 1 ? types[0] : undefined; };
const isScalar = (schema) => choicesOf(schema) !== undefined || ["string", "number", "integer", "boolean"].includes(typeOf(schema));
const waysOf = (schema) => branchesOf(schema).filter((one) => isTable(one) && one.type !== "null");

// What an object, a list or a choice between forms is made of; undefined where that is not all that it may be.
function partsOf(schema) {
  const ways = waysOf(schema), type = typeOf(schema);
  if (ways.length) return type || schema.properties ? undefined : ways;
  if (type === "array") return isTable(schema.items) && !schema.prefixItems ? [schema.items] : undefined;
  if (type !== "object" || !isTable(schema.properties) || schema.additionalProperties) return undefined;
  const members = Object.values(schema.properties);
  return members.length ? members : undefined;
}

// Filled in part by part is what is said plainly down to its last part; what is nested deeper is sooner written as JSON.
function isPlain(given, root, level = 0) {
  const schema = plain(given, root);
  return isScalar(schema) || (level < nested && Boolean(partsOf(schema)?.every((one) => isPlain(one, root, level + 1))));
}

const boxed = (label, hint, ...inner) => h("fieldset", {}, h("legend", {}, label), hint && h("p", { className: "hint soft small" }, hint), inner);
const withDefault = (schema, value) => (value === undefined ? schema : { ...schema, default: value });

// A member that can have one value alone is given without asking.
function told(key, given, required, root) {
  const choices = choicesOf(plain(given, root));
  return required && choices?.length === 1 ? { key, view: [], value: () => choices[0] } : undefined;
}

// An object, member by member.
function group(key, schema, required, root, label) {
  const needed = Array.isArray(schema.required) ? schema.required : [], before = isTable(schema.default) ? schema.default : {};
  const inner = Object.entries(schema.properties).map(([name, one]) => told(name, one, required && needed.includes(name), root) ?? control(name, Object.hasOwn(before, name) ? { ...plain(one, root), default: before[name] } : one, required && needed.includes(name), root));
  const value = () => {
    const given = Object.fromEntries(inner.map((one) => [one.key, one.value()]).filter(([, one]) => one !== undefined));
    return required || Object.keys(given).length ? given : undefined;
  };
  return { key, view: boxed(label, schema.description, inner.map((one) => one.view)), value };
}

// A list of few known values: those that are ticked.
function ticked(key, schema, choices, required, label) {
  const before = (Array.isArray(schema.default) ? schema.default : []).map((one) => JSON.stringify(one));
  const boxes = choices.map((one) => h("input", { type: "checkbox", checked: before.includes(JSON.stringify(one)) }));
  const value = () => { const given = choices.filter((_, at) => boxes[at].checked); return required || given.length ? given : undefined; };
  return { key, view: boxed(label, schema.description, boxes.map((box, at) => check(shownChoice(choices[at]), box))), value };
}

// A list, one field or group for each of its items.
function several(key, schema, required, root, label) {
  const choices = choicesOf(plain(schema.items, root));
  if (choices && choices.length <= 12) return ticked(key, schema, choices, required, label);
  const rows = [], holder = h("div", { className: "items" });
  const number = () => {
    rows.forEach(({ view, out }, at) => {
      (view.matches("label") ? view : view.querySelector("legend, label")).firstChild.data = at + 1;
      out.ariaLabel = `${t("remove")} ${key} ${at + 1}`;
    });
    more.hidden = rows.length >= (schema.maxItems ?? Infinity);
  };
  const put = (value) => {
    const row = control("1", withDefault(plain(schema.items, root), value), true, root);
    row.out = h("button", { type: "button", className: "slim", onclick: () => { rows.splice(rows.indexOf(row), 1); line.remove(); number(); more.focus(); } }, t("remove"));
    const line = h("div", { className: "one" }, row.view, row.out);
    rows.push(row);
    holder.append(line);
    number();
    return line;
  };
  const more = h("button", { type: "button", className: "slim", "aria-label": `${t("addOne")}: ${key}`, onclick: () => put().querySelector("input, select, textarea")?.focus() }, t("addOne"));
  const before = Array.isArray(schema.default) ? schema.default : Array(required ? Math.max(schema.minItems ?? 0, 1) : 0).fill(undefined);
  before.forEach(put);
  const value = () => (required || rows.length ? rows.map((row) => row.value()) : undefined);
  return { key, view: boxed(label, schema.description, holder, more), value };
}

const kindsOf = (value) => (Array.isArray(value) ? ["array"] : Number.isInteger(value) ? ["integer", "number"] : [typeof value]);

// What one of several forms is called: its title, the constant that tells it from the others, its members, its type.
function nameOf(given, root) {
  const schema = plain(given, root), members = Object.entries(schema.properties ?? {});
  const mark = members.map(([, one]) => choicesOf(plain(one, root))).find((one) => one?.length === 1);
  return schema.title ?? (mark ? shownChoice(mark[0]) : members.map(([name]) => name).join(", ") || typeOf(schema) || choicesOf(schema)?.map(shownChoice).join(", ") || "JSON");
}

// One of several forms: which one is chosen, then its fields are filled in.
function either(key, schema, required, root, label) {
  const ways = waysOf(schema), holder = h("div", { className: "chosen" });
  let inner;
  const chosen = schema.default === undefined || schema.default === null ? (required ? 0 : -1) : ways.findIndex((one) => kindsOf(schema.default).includes(typeOf(plain(one, root))));
  const which = h("select", { "aria-label": `${key}: ${t("form")}`, required, onchange: () => draw() }, !required && h("option", { value: "" }, ""),
    ways.map((one, at) => h("option", { value: String(at), selected: at === chosen }, nameOf(one, root))));
  const draw = (value) => {
    const way = ways[which.value === "" ? -1 : Number(which.value)];
    inner = way && control(nameOf(way, root), withDefault(plain(way, root), value), true, root);
    holder.replaceChildren(...(inner ? [inner.view] : []));
  };
  draw(schema.default ?? undefined);
  return { key, view: boxed(label, schema.description, which, holder), value: () => inner?.value() };
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
  const type = typeOf(schema);
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
  if (isPlain(schema, root)) return (waysOf(schema).length ? either : type === "array" ? several : group)(key, schema, required, root, label);
  const input = h("textarea", { required, placeholder: "JSON", spellcheck: false, value: schema.default === undefined ? "" : JSON.stringify(schema.default) });
  // What is wrong is said at the field, by the browser, before anything is called.
  input.addEventListener("input", () => {
    try { input.setCustomValidity(""); if (input.value.trim()) parsed(input.value); } catch (error) { input.setCustomValidity(t("badJson") + error.message); }
  });
  const about = [hint, shapes(schema, root)].filter(Boolean);
  return { key, view: field(`${label} (JSON)`, input, about.length > 0 && about), value: () => (input.value.trim() ? parsed(input.value) : undefined) };
}
