import { api } from "./api.js";
import { action, empty, field, fill, h, onSubmit, snippet, sure, title } from "./dom.js";
import { t, when } from "./text.js";

const roles = ["read", "user", "operator", "admin"];

export async function keysPage(main, session) {
  const who = await session;
  const role = h("select", {}, roles.map((one) => h("option", { selected: one === "user" }, one)));
  const owner = h("input", { required: true, maxLength: 200, autocomplete: "off" });
  const days = h("input", { type: "number", min: 1, max: 36500, step: 1 });
  const made = h("div", { "aria-live": "polite" });
  const rows = h("div");
  const button = h("button", { className: "main" }, t("create"));
  let count = 0;
  const load = async () => {
    const keys = await api("/api/keys");
    count = keys.length;
    fill(rows, keys.length ? table(keys, who, load) : empty(t("noKeys")));
  };
  const send = onSubmit(button, async () => {
    if (!count && who.id === "local" && !await sure(t("firstKey"), t("create"))) return;
    const body = { role: role.value, owner: owner.value, ...(days.value && { expiresInSeconds: Number(days.value) * 86400 }) };
    const key = await api("/api/keys", { method: "POST", body });
    fill(made, h("section", { className: "card notice wait-card" }, h("p", {}, h("strong", {}, t("shownOnce"))), snippet(key.key)));
    owner.value = days.value = "";
    await load().catch(() => {});
  });
  await load();
  fill(main, title(t("keys")), h("p", { className: "lead" }, t("keysLead")), made, rows,
    h("h2", {}, t("create")), h("form", { className: "card", onsubmit: send },
      h("div", { className: "fields" }, field(t("owner"), owner), field(t("role"), role), field(t("days"), days, t("daysHint"))), button),
    h("h2", {}, t("roles")), h("div", { className: "scroll" }, h("table", {}, h("tbody", {}, roles.map((one) =>
      h("tr", {}, h("th", { scope: "row" }, one), h("td", {}, t(`${one}May`))))))));
}

function table(keys, who, load) {
  const revoke = (key) => async () => {
    if (!await sure(t("revokeSure", { owner: key.owner || key.id }), t("revoke"))) return;
    await api(`/api/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" });
    await load();
  };
  const columns = ["owner", "role", "key", "expires", "lastUsed"];
  return h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": t("keys") }, h("table", {},
    h("thead", {}, h("tr", {}, columns.map((one) => h("th", { scope: "col" }, t(one))), h("td", {}))),
    h("tbody", {}, keys.map((key) => h("tr", {},
      h("td", {}, h("strong", {}, key.owner || "–"), key.id === who.id && ` (${t("you")})`), h("td", {}, key.role), h("td", {}, h("code", {}, key.id)),
      h("td", { className: "tight" }, key.expiresAt ? when(key.expiresAt) : t("never")), h("td", { className: "tight" }, key.lastUsedAt ? when(key.lastUsedAt) : "–"),
      h("td", {}, action(t("revoke"), revoke(key), { className: "danger slim" })))))));
}
