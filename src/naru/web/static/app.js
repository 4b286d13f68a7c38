// The frame: navigation, sign-in, language and theme; each page draws itself into <main> and may return how to leave it.
import { api } from "./api.js";
import { approvalsPage } from "./approvals.js";
import { clientsPage } from "./clients.js";
import { action, field, fill, glyph, h, onSubmit, title } from "./dom.js";
import { inspectPage } from "./inspect.js";
import { keysPage } from "./keys.js";
import { modelsPage } from "./models.js";
import { playPage } from "./play.js";
import { runPage, runsPage } from "./runs.js";
import { serverPage } from "./server.js";
import { serversPage } from "./servers.js";
import { switchLanguage, switchTheme, t, themeName } from "./text.js";
import { toolPage, toolsPage } from "./tools.js";

const pages = {
  servers: [serversPage, serverPage, "M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01"],
  tools: [toolsPage, toolPage, "M14.5 6.5a4 4 0 0 0-5.3 5.1L4 16.8 7.2 20l5.2-5.2a4 4 0 0 0 5.1-5.3l-2.6 2.6-2.5-.5-.5-2.5z"],
  play: [playPage, null, "M5 5h14v10H9l-4 4z"],
  runs: [runsPage, runPage, "M4 6h8M4 12h14M4 18h5M15 6h5M21 12h-1M12 18h8"],
  inspect: [inspectPage, null, "M8 6l-5 6 5 6M16 6l5 6-5 6M13.5 5l-3 14"],
  models: [modelsPage, null, "M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4"],
  approvals: [approvalsPage, null, "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2.2 2.2L15.5 10"],
  clients: [clientsPage, null, "M9 8V3M15 8V3M6 8h12v4a6 6 0 0 1-12 0zM12 18v3"],
  keys: [keysPage, null, "M14 10a4 4 0 1 0-3.5 4l2 2H15v2h2v2h3v-3l-6.3-6.3M9 9.5h.01"],
};
const main = document.getElementById("main");
let leave = () => {};
let who = null;
let drawn = 0;

function navigation(current) {
  const badge = h("span", { className: "count", hidden: true });
  fill(document.getElementById("nav"), Object.entries(pages).map(([page, [, , icon]]) =>
    h("a", { href: `#/${page}`, "aria-current": page === current ? "page" : undefined }, glyph(icon), t(page),
      page === "approvals" && badge)));
  document.querySelector("#nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  fill(document.getElementById("foot"),
    who && h("span", { className: "who" }, who.id === "local" ? t("openHub") : `${who.owner || who.id} · ${who.role}`),
    h("button", { type: "button", lang: t("language") === "English" ? "en" : "ko", onclick: () => { switchLanguage(); show(); } }, t("language")),
    h("button", { type: "button", onclick: (event) => { switchTheme(); event.target.textContent = `${t("theme")}: ${themeName()}`; } },
      `${t("theme")}: ${themeName()}`),
    who && who.id !== "local" && action(t("signOut"), async () => {
      await api("/api/session", { method: "DELETE" });
      who = null;
      show();
    }));
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("nav").setAttribute("aria-label", "Naru");
  if (who) api("/api/console/approvals?count=1").then(({ total }) => {
    badge.hidden = !total;
    badge.textContent = total;
  }).catch(() => {});
}

function login() {
  const key = h("input", { type: "password", autocomplete: "current-password", required: true });
  const button = h("button", { className: "main" }, t("signIn"));
  const send = onSubmit(button, async () => {
    await api("/api/session", { method: "POST", headers: { Authorization: `Bearer ${key.value}` } });
    show();
  });
  fill(main, title(t("login")), h("form", { className: "card", onsubmit: send }, h("p", { className: "soft" }, t("loginHint")),
    field(t("key"), key), button));
  key.focus();
}

async function show() {
  const mine = ++drawn;
  leave();
  leave = () => {};
  const [, asked = "", name] = location.hash.split("?")[0].split("/");
  const page = pages[asked] ? asked : "servers";
  const [list, one] = pages[page];
  document.title = `${name ? `${decodeURIComponent(name)} · ` : ""}${t(page)} · Naru`;
  try {
    who ??= await api("/api/session");
    navigation(page);
    const made = await (name && one ? one(main, decodeURIComponent(name)) : list(main, who));
    if (mine !== drawn) made?.();
    else if (typeof made === "function") leave = made;
  } catch (error) {
    if (mine !== drawn) return;
    navigation(page);
    if (error.status === 401) { who = null; login(); return; }
    fill(main, title(t(page)), h("div", { className: "card notice", role: "alert" }, h("p", {}, error.message),
      h("button", { type: "button", onclick: show }, t("again"))));
  }
}

document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => { show(); main.focus({ preventScroll: true }); scrollTo(0, 0); });
show();
