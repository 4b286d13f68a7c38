// Elements from calls: text is always a text node, so nothing from outside becomes markup (S-68).
import { t } from "./text.js";

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !["list", "form", "role"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  return add(element, children);
}

// Chromium lays one long text of several fonts out in quadratic time, 50,000 Korean characters in 25 s; its pieces in one.
const pieces = (text) => (text.length > 1000 ? text.match(/[^]{0,999}\s|[^]{1,1000}/gu) : [text]);

export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(...(child instanceof Node ? [child] : pieces(String(child))));
  }
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

export function glyph(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "glyph");
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "path");
  drawn.setAttribute("d", path);
  svg.append(drawn);
  return svg;
}

export const field = (text, input, hint) => h("label", {}, text, hint && h("span", { className: "hint" }, hint), input);
export const check = (text, input) => h("label", { className: "check" }, input, text);

let spoken;
export function say(message) {
  const live = document.getElementById("live");
  fill(live, h("p", {}, message));
  clearTimeout(spoken);
  spoken = setTimeout(() => live.replaceChildren(), 8000);
}

// Work of a button that takes time: not twice at once, and what goes wrong is said. It is not disabled meanwhile: that would
// take the keyboard's place away.
async function busy(button, work) {
  if (button.ariaDisabled === "true") return;
  button.ariaDisabled = "true";
  try { await work(); } catch (error) { say(error.message); } finally { button.ariaDisabled = null; }
}

export function action(label, work, props = {}) {
  const button = h("button", { type: "button", onclick: () => busy(button, work), ...props }, label);
  return button;
}

// In the place of what a role may not do, that it may not.
export const barred = (role) => h("p", { className: "soft" }, t("needsRole", { role }));

export const onSubmit = (button, work) => (event) => { event.preventDefault(); return busy(button, work); };

// Ask before something that cannot be taken back.
export function sure(question, label) {
  return new Promise((resolve) => {
    const box = h("dialog", { "aria-label": question, onclose: () => { box.remove(); resolve(box.returnValue === "yes"); } },
      h("form", { method: "dialog" }, h("p", {}, question),
        h("div", { className: "row" }, h("button", { value: "no" }, t("cancel")),
          h("button", { className: "danger", value: "yes" }, label))));
    document.body.append(box);
    box.showModal();
  });
}

export const json = (value) => h("pre", { tabIndex: 0 }, typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function snippet(text) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    say(t("copied"));
  };
  return h("div", { className: "snippet" }, json(text), action(t("copy"), copy, { className: "slim" }));
}

export const empty = (text, hint, button) =>
  h("div", { className: "card empty" }, h("p", {}, h("strong", {}, text)), hint && h("p", {}, hint), button);

export const title = (text, ...rest) => h("div", { className: "head" }, h("h1", {}, text), rest);

// What this entry of the browser's history remembers: whoever comes back, or loads it anew, finds what was asked for.
export const kept = () => history.state ?? {};
export const keep = (more) => history.replaceState({ ...kept(), ...more }, "");

export function listen(input, work, wait = 180) {
  let waiting;
  input.addEventListener("input", () => { keep({ words: input.value }); clearTimeout(waiting); waiting = setTimeout(work, wait); });
  return input;
}

export function choose(select, work) {
  select.value = kept().choice ?? "";
  select.addEventListener("change", () => { keep({ choice: select.value }); work(); });
}

export const searchBox = () => h("input", { type: "search", value: kept().words ?? "", "aria-label": t("search"), placeholder: t("search") });
