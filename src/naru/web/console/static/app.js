// The frame: navigation, sign-in, language and theme; each page draws itself into an element of its own and may return how
// to leave it.
import { api, atLeast, fetched, follow, forget, inOrder, person, reading } from "./api.js";
import { action, field, fill, glyph, h, keep, kept, onSubmit, title } from "./dom.js";
import { keepFocus } from "./focus.js";
import { isKorean, switchLanguage, switchTheme, t, themeName } from "./text.js";

// Each page with its icon and the files that draw its list and one entry of it; a file is fetched when its page is shown.
const pages = {
  overview: ["M4 19V5M4 19h16M8 15l3-4 3 2 5-6", () => import("./overview.js").then((file) => file.overviewPage)],
  servers: ["M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01",
    () => import("./servers.js").then((file) => file.serversPage), () => import("./server.js").then((file) => file.serverPage)],
  tools: ["M14.5 6.5a4 4 0 0 0-5.3 5.1L4 16.8 7.2 20l5.2-5.2a4 4 0 0 0 5.1-5.3l-2.6 2.6-2.5-.5-.5-2.5z",
    () => import("./tools.js").then((file) => file.toolsPage), () => import("./tool.js").then((file) => file.toolPage)],
  play: ["M5 5h14v10H9l-4 4z", () => import("./play.js").then((file) => file.playPage)],
  runs: ["M4 6h8M4 12h14M4 18h5M15 6h5M21 12h-1M12 18h8",
    () => import("./runs.js").then((file) => file.runsPage), () => import("./runs.js").then((file) => file.runPage)],
  inspect: ["M8 6l-5 6 5 6M16 6l5 6-5 6M13.5 5l-3 14", () => import("./inspect.js").then((file) => file.inspectPage)],
  models: ["M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4",
    () => import("./models.js").then((file) => file.modelsPage), () => import("./model.js").then((file) => file.modelPage)],
  approvals: ["M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2.2 2.2L15.5 10",
    () => import("./approvals.js").then((file) => file.approvalsPage)],
  logs: ["M5 4h14v16H5zM8 8h8M8 12h8M8 16h5", () => import("./logs.js").then((file) => file.logsPage)],
  audit: ["M6 3h9l4 4v14H6zM9 12l2 2 4-4M9 18h6", () => import("./audit.js").then((file) => file.auditPage)],
  clients: ["M9 8V3M15 8V3M6 8h12v4a6 6 0 0 1-12 0zM12 18v3", () => import("./clients.js").then((file) => file.clientsPage)],
  keys: ["M14 10a4 4 0 1 0-3.5 4l2 2H15v2h2v2h3v-3l-6.3-6.3M9 9.5h.01", () => import("./keys.js").then((file) => file.keysPage)],
};
// The least role that a page's rows ask for, where it is more than to read.
const least = { logs: "operator", audit: "admin", keys: "admin" };
const may = (page) => !who || atLeast(who, least[page] ?? "read");
const main = document.getElementById("main");
let leave = () => {};
let who = null;
let drawn = 0;

function navigation(current) {
  fill(document.getElementById("nav"), Object.entries(pages).filter(([page]) => may(page)).map(([page, [icon]]) =>
    h("a", { href: `#/${page}`, "aria-current": page === current ? "page" : undefined }, glyph(icon), t(page),
      page === "approvals" && h("span", { className: "count", hidden: true }))));
  requestAnimationFrame(() => document.querySelector("#nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  fill(document.getElementById("foot"),
    who && h("span", { className: "who" }, who.id === "local" ? t("openHub") : `${who.owner || who.id} · ${who.role}`),
    h("button", { type: "button", "data-same": "language", lang: t("language") === "English" ? "en" : "ko", onclick: () => { switchLanguage(); show(); } }, t("language")),
    h("button", { type: "button", "data-same": "theme", onclick: (event) => { switchTheme(); event.target.textContent = `${t("theme")}: ${themeName()}`; } },
      `${t("theme")}: ${themeName()}`),
    who && who.id !== "local" && action(t("signOut"), async () => {
      await api("/api/session", { method: "DELETE" });
      following?.();
      following = undefined;
      who = null;
      forget();
      try { sessionStorage.clear(); } catch { /* a private window has none */ }
      show();
    }));
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("nav").setAttribute("aria-label", "Naru");
}

// Counted after the page is there: nobody waits for it.
const askForCount = inOrder();
async function countApprovals() {
  const isNews = askForCount();
  const { total } = await api("/api/console/approvals?count=1");
  if (!isNews()) return;
  const badge = document.querySelector("#nav .count");
  badge.hidden = !total;
  badge.textContent = total;
  // On a narrow screen the count has pushed the open page's name aside; the page itself must not move.
  const nav = badge.closest("nav"), open = nav.querySelector("[aria-current]");
  nav.scrollLeft += Math.max(0, (open?.getBoundingClientRect().right ?? 0) - nav.getBoundingClientRect().right);
}

// What holds for every page: the badge is right at once, and a hub that went away is told, and taken up again.
let following;
function followHub() {
  const hear = (kind) => {
    if (kind === "approvals" || kind === "tools") countApprovals().catch(() => {});
    if (kind === "offline") away(true);
    // A page on which somebody writes, or waits for what was asked, stays; all that follow have looked again.
    if (kind === "online" && away(false) && !main.querySelector("form")) show();
  };
  following ??= follow(hear, ["tools", "approvals", "online", "offline"]);
}

function away(isAway) {
  const banner = document.getElementById("away");
  const was = !banner.hidden;
  banner.hidden = !isAway;
  document.body.classList.toggle("stale", isAway);
  banner.textContent = isAway ? t("awayHub") : "";
  return was;
}

function login(issuer) {
  const wrong = h("p", { className: "bad", role: "alert", id: "wrong-key" });
  const key = h("input", { type: "password", "aria-describedby": "wrong-key", autocomplete: "current-password", required: true });
  const button = h("button", { className: "main" }, t("signIn"));
  const send = onSubmit(button, async () => {
    wrong.textContent = "";
    try {
      await api("/api/session", { method: "POST", headers: { Authorization: `Bearer ${key.value}` } });
    } catch (error) {
      if (error.status !== 401) throw error;
      wrong.textContent = t("wrongKey");
      key.setAttribute("aria-invalid", "true");
      key.select();
      return;
    }
    show();
  });
  const elsewhere = issuer && action(t("signInWith", { issuer }), async () => {
    const body = { language: isKorean() ? "ko" : "en", ...(location.hash.startsWith("#/") && { page: location.hash }) };
    location.assign((await api("/api/session/sign-in", { method: "POST", body })).url);
  }, { className: "main" });
  if (elsewhere) button.className = "";
  fill(main, title(t(elsewhere ? "signIn" : "login")), elsewhere && h("div", { className: "card" }, elsewhere),
    h("form", { className: "card", onsubmit: send }, h("p", { className: "soft" }, t(elsewhere ? "orKey" : "loginHint")), field(t("key"), key), wrong, button));
  (elsewhere || key).focus();
}

function decoded(text = "") {
  try { return decodeURIComponent(text); } catch { return text; } // an address that somebody typed
}

// What a page needs is asked for at once: its file, who is here, and, by the page itself, its rows.
async function show() {
  const mine = ++drawn;
  leave();
  leave = () => {};
  const [, asked = "", last] = location.hash.split("?")[0].split("/");
  const name = decoded(last);
  const page = pages[asked] ? asked : "overview";
  const [, list, one] = pages[page];
  document.title = `${name ? `${name} · ` : ""}${t(page)} · Naru`;
  const place = h("div");
  try {
    const session = person();
    if (mine > 1) reading(); // ahead.js began with the first
    const made = fetched(name && one ? one() : list()).then((draw) => draw(place, name && one ? name : session));
    made.then((end) => { if (mine !== drawn) end?.(); }, () => {});
    who = await session;
    navigation(page);
    const end = await made;
    if (mine !== drawn) return;
    if (end) leave = end;
    main.replaceChildren(place);
    if ([document.body, main].includes(document.activeElement)) place.querySelector("[autofocus]")?.focus({ preventScroll: true });
    countApprovals().catch(() => {});
    followHub();
  } catch (error) {
    if (mine !== drawn) return;
    if (error.status === 401) { who = null; forget(); navigation(page); login(error.signIn); return; }
    fill(main, title(t(page)), h("div", { className: "card notice", role: "alert" }, h("p", {}, error.message),
      h("button", { type: "button", onclick: show }, t("again"))));
  } finally {
    if (mine === drawn) globalThis.ahead.clear(); // what was asked for ahead and not wanted grows old
  }
}

// Whoever's session ended meanwhile signs in where that is noticed, and goes on with the same page.
addEventListener("sessionover", () => {
  if (!who || (who.id === "local" && location.hash.startsWith("#/keys"))) return; // the first key is shown there, once
  who = null;
  forget();
  following?.();
  following = undefined;
  away(false);
  show();
});
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
// Whoever comes back finds the page where it was left: at the link that led away.
async function arrive() {
  await show();
  const link = kept().left && main.querySelector(`[href="${CSS.escape(kept().left)}"]`);
  link?.focus({ preventScroll: true });
  link?.scrollIntoView({ block: "center" });
}
main.addEventListener("click", ({ target }) => {
  const link = target.closest('a[href^="#/"]');
  if (link) keep({ left: link.getAttribute("href"), rows: link.closest(".list")?.children.length });
}, true);
addEventListener("hashchange", () => { arrive(); main.focus({ preventScroll: true }); scrollTo(0, 0); });
keepFocus();
arrive();
