// A list that grows: the first page at once, the next when its end comes near, or by a button for the keyboard.
import { fill, h, kept, say } from "./dom.js";
import { t } from "./text.js";

const FIRST = 20; // more than a screen; what ahead.js asks for
export const PAGE = 50;

// `fetchPage(offset, limit)` gives { total, rows }; `draw(row)` gives an <li>; `none()` what an empty list shows.
export function growing(list, end, { fetchPage, draw, none }) {
  let shown = kept().rows ?? 0, total = 0, turn = 0, busy = false;
  const foot = () => {
    if (!total) return fill(end, none());
    fill(end, (shown < total || total > PAGE) && h("p", { className: "more small" }, t("shownOf", { shown, total }), shown < total && " · ",
      shown < total && h("button", { type: "button", className: "slim", onclick: () => next() }, t("more"))));
  };
  async function next() {
    if (busy || (shown && shown >= total)) return;
    busy = true;
    const mine = turn;
    try {
      const page = await fetchPage(shown, PAGE);
      if (mine !== turn) return;
      total = page.total;
      shown += page.rows.length;
      list.append(...page.rows.map(draw));
      foot();
      look();
    } finally { if (mine === turn) busy = false; }
  }
  async function restart() {
    turn += 1;
    busy = true;
    const mine = turn;
    const page = await fetchPage(0, Math.min(Math.max(shown, FIRST), 200));
    if (mine !== turn) return;
    busy = false;
    total = page.total;
    shown = page.rows.length;
    list.replaceChildren(...page.rows.map(draw));
    foot();
    look();
  }
  const watcher = new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting) && shown && shown < total) next().catch((error) => say(error.message));
  }, { rootMargin: "600px" });
  // Watching anew tells where the end is now: whoever went on to it in the meantime sees no crossing.
  const look = () => { watcher.unobserve(end); watcher.observe(end); };
  look();
  return { restart, reset: () => { shown = 0; return restart(); }, stop: () => { turn += 1; watcher.disconnect(); } };
}
