import { api } from "./api.js";
import { busy, field, fill, h } from "./dom.js";
import { t, when } from "./text.js";

export async function modelsPage(main) {
  const { models } = await api("/api/models");
  const columns = [["model", "name"], ["family", "family"], ["strategy", "strategy"], ["native", "native_tools"], ["guided", "guided"], ["dialect", "dialect"], ["small", "small"], ["context", "context_tokens"]];
  fill(main, h("h1", {}, t("models")), h("p", { className: "soft" }, t("probeHint")), h("div", { className: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, columns.map(([label]) => h("th", { scope: "col" }, t(label))))),
    h("tbody", {}, models.map((model) => h("tr", {}, columns.map(([, key]) => h("td", {}, model[key] === true ? "✓" : model[key] === false ? "–" : String(model[key] || "–")))))))));
}

export async function keysPage(main) {
  const role = h("select", {}, ["read", "user", "operator", "admin"].map((one) => h("option", {}, one)));
  const owner = h("input", {});
  const made = h("div", { "aria-live": "polite" });
  const rows = h("tbody");
  const button = h("button", { className: "main" }, t("create"));
  const load = async () => {
    const found = await api("/api/keys");
    const keys = Array.isArray(found) ? found : found.keys;
    fill(rows, keys.map((key) => h("tr", {}, h("td", {}, key.id), h("td", {}, key.role), h("td", {}, key.owner), h("td", { className: "soft" }, key.createdAt ? when(key.createdAt) : ""),
      h("td", {}, h("button", { className: "danger", onclick: (event) => busy(() => event.target, async () => { await api(`/api/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" }); await load(); })(event) }, t("revoke"))))),
      !keys.length && h("tr", {}, h("td", { colSpan: 5, className: "soft" }, t("none"))));
  };
  const send = busy(() => button, async () => {
    const key = await api("/api/keys", { method: "POST", body: { role: role.value, owner: owner.value } });
    fill(made, h("p", {}, t("shownOnce"), " ", h("code", {}, key.key ?? key.secret)));
    await load();
  });
  await load();
  fill(main, h("h1", {}, t("keys")), h("form", { className: "card", onsubmit: send }, h("div", { className: "row" },
    h("div", { className: "grow" }, field(t("role"), role)), h("div", { className: "grow" }, field(t("owner"), owner))), button), made,
    h("div", { className: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["key", "role", "owner", "time"].map((key) => h("th", { scope: "col" }, t(key))), h("th", { scope: "col" }, t("revoke")))), rows)));
}
