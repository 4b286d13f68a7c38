// The keyboard's place outlives what is drawn anew: what was focused and is gone is found again by what it is, else its page's heading.
const reachable = "a[href], button, input, select, textarea, summary, [tabindex]";
const rows = "[data-id], li, tr, article, section";
let last; // what had the focus, and what it is known by

const worded = (element) => element.getAttribute("aria-label") ?? element.textContent.replace(/\d+/g, "#");

// A name survives a change of counts; `data-same` that of the whole label, as of a switch, and `data-id` tells like rows apart.
function known(element) {
  const row = element.closest(rows);
  const of = row && row !== element && (row.dataset.id ?? row.getAttribute("aria-label") ?? row.firstElementChild?.textContent);
  return [element.tagName, element.dataset.same ?? element.getAttribute("href") ?? worded(element.labels?.[0] ?? element), of].join("\n");
}

const isLost = () => last && (document.activeElement ?? document.body) === document.body && !last.element.isConnected;
const isShut = () => last?.element === document.activeElement && (last.element.disabled || !last.element.checkVisibility());

function recover(changes) {
  if (!isLost() && !(changes.some((one) => one.type === "attributes") && isShut())) return;
  const place = [...document.querySelectorAll("dialog[open]")].pop() ?? document.body;
  const same = [...place.querySelectorAll(reachable)].find((one) => !one.disabled && one.checkVisibility() && known(one) === last.name);
  const heading = place.querySelector("main h1, :scope > h1") ?? document.getElementById("main");
  if (!same) heading.tabIndex = -1;
  (same ?? heading).focus({ preventScroll: true });
}

export function keepFocus() {
  addEventListener("focusin", ({ target }) => { last = { element: target, name: known(target) }; });
  addEventListener("pointerdown", () => { last = undefined; }); // a click beside everything leaves the focus nowhere, as meant
  new MutationObserver(recover).observe(document.body, { childList: true, subtree: true, attributeFilter: ["hidden", "disabled"] });
}
