import { api } from "./api.js";
import { field, fill, h, say } from "./dom.js";
import { inspectPage } from "./inspect.js";
import { keysPage, modelsPage } from "./more.js";
import { playPage } from "./play.js";
import { runPage, runsPage } from "./runs.js";
import { serverPage, serversPage } from "./servers.js";
import { switchLanguage, t } from "./text.js";
import { toolPage, toolsPage } from "./tools.js";

const pages = {
  servers: [serversPage, serverPage], tools: [toolsPage, toolPage], play: [playPage], runs: [runsPage, runPage],
  inspect: [inspectPage], models: [modelsPage], keys: [keysPage],
};
const main = document.getElementById("main");
let leave = () => {};

function navigation(current) {
  fill(document.getElementById("nav"), Object.keys(pages).map((page) =>
    h("a", { href: `#/${page}`, "aria-current": page === current ? "page" : undefined }, t(page))));
  fill(document.getElementById("tools"),
    h("button", { onclick: () => { switchLanguage(); show(); } }, t("language")));
  document.getElementById("skip").textContent = t("skip");
}

function login(retry) {
  const key = h("input", { type: "password", autocomplete: "current-password", required: true });
  const send = async (event) => {
    event.preventDefault();
    try {
      await api("/api/session", { method: "POST", headers: { Authorization: `Bearer ${key.value}` } });
      retry();
    } catch (error) { say(error.message); }
  };
  fill(main, h("form", { className: "card", onsubmit: send }, h("h1", {}, t("login")), field(t("key"), key),
    h("button", { className: "main" }, t("signIn"))));
  key.focus();
}

async function show() {
  leave();
  leave = () => {};
  const [, page = "servers", name] = location.hash.split("/");
  const [list, one] = pages[page] ?? pages.servers;
  navigation(pages[page] ? page : "servers");
  document.title = `${t(pages[page] ? page : "servers")} · Naru`;
  try {
    const made = await (name && one ? one(main, decodeURIComponent(name)) : list(main));
    if (typeof made === "function") leave = made;
  } catch (error) {
    if (error.status === 401) login(show);
    else fill(main, h("p", { className: "card bad", role: "alert" }, error.message));
  }
}

document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => { show(); main.focus({ preventScroll: true }); scrollTo(0, 0); });
show();
