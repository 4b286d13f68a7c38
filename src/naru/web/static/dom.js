// Elements from calls: text is always a text node, so nothing from outside becomes markup.
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !["list", "form", "role"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

export function field(text, input, hint) {
  return h("label", {}, text, hint && h("span", { className: "hint" }, hint), input);
}

let spoken;
export function say(message) {
  const live = document.getElementById("live");
  fill(live, h("p", {}, message));
  clearTimeout(spoken);
  spoken = setTimeout(() => live.replaceChildren(), 8000);
}

export function busy(button, work) {
  return async (event) => {
    event?.preventDefault?.();
    button().disabled = true;
    try { await work(); } catch (error) { say(error.message); } finally { button().disabled = false; }
  };
}

export const json = (value) => h("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function safeImage(mime, data, url) {
  const raster = /^image\/(png|jpe?g|gif|webp)$/;
  if (data && raster.test(mime)) return h("img", { className: "result", alt: mime, src: `data:${mime};base64,${data}` });
  return h("p", { className: "soft" }, `[${mime}${url ? " " + url : ""}]`);
}
