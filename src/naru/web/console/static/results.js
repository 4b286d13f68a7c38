// A tool's result by type: text as text, JSON as a tree, pictures as pictures, nothing that could run.
import { parsed } from "./api.js";
import { h, json } from "./dom.js";
import { t } from "./text.js";

const raster = /^image\/(png|jpe?g|gif|webp)$/;
const sound = /^audio\/[\w.+-]+$/;
const shown = 100; // members of a branch that are drawn at once

export function resultView(result) {
  const parts = result.content.map(part);
  if (!parts.length && result.structured !== null) parts.push(data(JSON.stringify(result.structured), result.structured));
  return [result.isError && h("p", { className: "bad" }, h("strong", {}, t("failedTool"))), parts.length ? parts : h("p", { className: "soft" }, t("emptyResult"))];
}

function part(one) {
  if (one.type === "image") {
    if (one.data && raster.test(one.mimeType)) return h("img", { className: "result", alt: one.mimeType, src: `data:${one.mimeType};base64,${one.data}` });
    return h("p", { className: "soft" }, `[${one.mimeType}${one.url ? ` ${one.url}` : ""}]`);
  }
  if (one.type === "audio" && sound.test(one.mimeType)) return h("audio", { controls: true, src: `data:${one.mimeType};base64,${one.data}` });
  if (one.type === "resource") return h("div", {}, h("code", {}, one.uri), one.text && text(one.text));
  return text(one.text ?? `[${one.type}]`);
}

function text(said) {
  let value;
  // Numbers longer than JavaScript holds stay as they came.
  try { value = /\d{16}/.test(said) && !JSON.rawJSON ? undefined : parsed(said); } catch { /* no JSON */ }
  return isBranch(value) ? data(said, value) : json(said);
}

// JSON that fits on a screen stands as it is; more is a tree, with the text behind a button.
function data(said, value) {
  const whole = JSON.stringify(value, null, 2);
  if (whole.split("\n").length <= 12) return json(whole);
  const drawn = h("div", { className: "tree" }, branch(value, true));
  const written = json(whole);
  written.hidden = true;
  const flip = h("button", { type: "button", className: "slim", "aria-pressed": "false", onclick: () => {
    written.hidden = !written.hidden;
    drawn.hidden = !written.hidden;
    flip.setAttribute("aria-pressed", String(!written.hidden));
  } }, t("asText"));
  return h("div", {}, h("div", { className: "row end" }, flip), drawn, written);
}

const isLong = (value) => Boolean(JSON.isRawJSON?.(value));
const isBranch = (value) => value !== null && typeof value === "object" && !isLong(value);
const size = (value) => (Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`);

// Members are drawn when their branch is opened, a hundred at a time.
function branch(value, isOpen) {
  const list = h("ul");
  const entries = Object.entries(value);
  let drawn = 0;
  const more = () => {
    list.lastChild?.matches(".more") && list.lastChild.remove();
    list.append(...entries.slice(drawn, drawn + shown).map(([key, one]) => leaf(key, one)));
    drawn += shown;
    if (drawn < entries.length) {
      list.append(h("li", { className: "more" }, h("button", { type: "button", className: "slim", onclick: more }, t("moreOf", { count: entries.length - drawn }))));
    }
  };
  if (isOpen) more();
  return Object.assign(list, { open: () => { if (!drawn) more(); } });
}

function leaf(key, value) {
  const name = h("span", { className: "key" }, key);
  if (!isBranch(value)) return h("li", {}, name, ": ", h("span", { className: `is-${value === null ? "null" : isLong(value) ? "number" : typeof value}` }, JSON.stringify(value)));
  const inside = branch(value, false);
  return h("li", {}, h("details", { ontoggle: (event) => event.target.open && inside.open() },
    h("summary", {}, name, " ", h("span", { className: "soft" }, size(value))), inside));
}
