// A tool's result by type: text and JSON as text, pictures as pictures, nothing that could run.
import { h, json } from "./dom.js";
import { t } from "./text.js";

const raster = /^image\/(png|jpe?g|gif|webp)$/;
const sound = /^audio\/[\w.+-]+$/;

export function resultView(result) {
  const parts = result.content.map(part);
  if (!parts.length && result.structured !== null) parts.push(json(result.structured));
  return [result.isError && h("p", { className: "bad" }, h("strong", {}, t("failedTool"))), parts];
}

function part(one) {
  if (one.type === "image") {
    if (one.data && raster.test(one.mimeType)) return h("img", { className: "result", alt: one.mimeType, src: `data:${one.mimeType};base64,${one.data}` });
    return h("p", { className: "soft" }, `[${one.mimeType}${one.url ? ` ${one.url}` : ""}]`);
  }
  if (one.type === "audio" && sound.test(one.mimeType)) return h("audio", { controls: true, src: `data:${one.mimeType};base64,${one.data}` });
  if (one.type === "resource") return h("div", {}, h("code", {}, one.uri), one.text && json(one.text));
  return json(pretty(one.text ?? `[${one.type}]`));
}

// Indented where that changes nothing: numbers longer than JavaScript holds stay as they came.
function pretty(text) {
  if (/\d{16}/.test(text)) return text;
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
