// A list that grows at both ends: what comes is put on top within seconds, what is older is fetched on demand.
import { action, fill, h } from "./dom.js";
import { t } from "./text.js";

const every = 4000; // a key may have a hundred requests a minute, and its person does other things beside looking on
const most = 2000; // rows that stay on the page

// `newer(key)` gives rows after a key, newest first; `older(key)` gives { rows, next }; `key(row)` grows with time.
export function live(list, end, { key, draw, newer, older, none }) {
  let newest = 0, next = null, turn = 0, isPaused = false, isBusy = false;
  const pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = t(isPaused ? "goOn" : "pause");
  } }, t("pause"));
  const foot = () => fill(end, next !== null && h("p", { className: "more" }, action(t("more"), more, { className: "slim" })),
    !list.children.length && next === null && none());

  async function more() {
    const mine = turn;
    const page = await older(next);
    if (mine !== turn) return;
    next = page.next;
    list.append(...page.rows.map(draw));
    newest = Math.max(newest, ...page.rows.map(key));
    foot();
  }

  async function restart() {
    turn += 1;
    newest = 0;
    next = undefined;
    list.replaceChildren();
    await more();
  }

  async function look() {
    if (isPaused || isBusy || document.hidden) return;
    isBusy = true;
    const mine = turn;
    try {
      const rows = await newer(newest);
      if (mine !== turn || !rows.length) return;
      newest = Math.max(...rows.map(key));
      list.prepend(...rows.map(draw));
      while (list.children.length > most) list.lastChild.remove();
      foot();
    } catch { /* the banner says that the hub is away */ } finally { isBusy = false; }
  }

  const timer = setInterval(look, every);
  document.addEventListener("visibilitychange", look);
  return { restart, pause, stop: () => { turn += 1; clearInterval(timer); document.removeEventListener("visibilitychange", look); } };
}
