// Markdown as elements. marked reads it into tokens; the elements are made here, one by one, so that no text ever becomes
// markup (S-68): HTML in an answer is shown as it is written, pictures are links, and links lead to the web or a mailbox.
import { h } from "./dom.js";

const most = 100_000; // characters; more is shown as it came
const opens = /^(https?:|mailto:)/i;

export async function markdown(text) {
  if (text.length > most) return h("pre", { tabIndex: 0 }, text);
  const { marked } = await import("./marked.js"); // anew after a failure
  return h("div", { className: "prose" }, blocks(marked.lexer(text, { gfm: true, breaks: true })));
}

const blocks = (tokens) => tokens.map((token) => (block[token.type] ?? inside)(token));
const inside = (token) => (token.tokens ? inline(token.tokens) : token.text ?? token.raw);
const inline = (tokens) => tokens.map((token) => (span[token.type] ?? inside)(token));
// marked writes entities into plain text; they are read back where the text is not its own source.
const plain = (token) => (token.tokens ? inline(token.tokens) : unescaped(token.text));
const entities = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const unescaped = (text) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name]);

function link({ href, title }, shown) {
  if (!opens.test(href)) return [shown, ` (${href})`];
  return h("a", { href, title: title ?? undefined, target: "_blank", rel: "noopener noreferrer nofollow" }, shown);
}

const block = {
  space: () => null,
  // An answer's headings stand below the page's own.
  heading: (token) => h(`h${Math.min(token.depth + 2, 6)}`, {}, inline(token.tokens)),
  paragraph: (token) => h("p", {}, inline(token.tokens)),
  text: (token) => plain(token),
  code: (token) => h("pre", { tabIndex: 0 }, h("code", {}, token.text)),
  blockquote: (token) => h("blockquote", {}, blocks(token.tokens)),
  list: (token) => h(token.ordered ? "ol" : "ul", { start: token.ordered && token.start !== 1 ? token.start : undefined },
    token.items.map((item) => h("li", {}, item.task && (item.checked ? "☑ " : "☐ "), blocks(item.tokens)))),
  table: (token) => h("div", { className: "scroll", tabIndex: 0 }, h("table", {},
    h("thead", {}, h("tr", {}, token.header.map((cell) => h("th", { scope: "col", className: cell.align ?? "" }, inline(cell.tokens))))),
    h("tbody", {}, token.rows.map((row) => h("tr", {}, row.map((cell) => h("td", { className: cell.align ?? "" }, inline(cell.tokens)))))))),
  hr: () => h("hr"),
  html: (token) => token.raw,
  checkbox: () => null,
};

const span = {
  text: plain,
  escape: (token) => unescaped(token.text),
  strong: (token) => h("strong", {}, inline(token.tokens)),
  em: (token) => h("em", {}, inline(token.tokens)),
  del: (token) => h("del", {}, inline(token.tokens)),
  codespan: (token) => h("code", {}, token.text),
  br: () => h("br"),
  link: (token) => link(token, inline(token.tokens)),
  image: (token) => link(token, token.text || token.href),
  html: (token) => token.raw,
  checkbox: () => null,
};
