import { api, follow, gathered, inOrder } from "./api.js";
import { action, check, empty, field, fill, h, onSubmit, say, snippet, sure, title } from "./dom.js";
import { number, t, when } from "./text.js";

const roles = ["read", "user", "operator", "admin"];

export async function keysPage(main, session) {
  const who = await session;
  const role = h("select", {}, roles.map((one) => h("option", { defaultSelected: one === "user" }, one)));
  const owner = h("input", { required: true, maxLength: 200, autocomplete: "off" });
  const days = h("input", { type: "number", min: 1, max: 36500, step: 1 });
  const limits = Object.fromEntries(["servers", "tools", "models"].map((one) => [one, h("input", { maxLength: 2000, autocomplete: "off", placeholder: "*" })]));
  const budgets = Object.fromEntries(["requestsPerDay", "tokensPerDay"].map((one) => [one, h("input", { type: "number", min: 0, step: 1 })]));
  const readOnly = h("input", { type: "checkbox" });
  const made = h("div", { "aria-live": "polite" });
  const rows = h("div");
  const button = h("button", { className: "main" }, t("create"));
  let count = 0;
  const ask = inOrder();
  const load = async () => {
    const isNews = ask();
    const keys = await api("/api/keys");
    if (!isNews()) return;
    count = keys.length;
    const drawn = keys.length ? table(keys, who, load, made) : empty(t("noKeys"));
    if (drawn.textContent !== rows.textContent) rows.replaceChildren(drawn); // else whoever reads or selects is left alone
  };
  const send = onSubmit(button, async () => {
    if (!count && who.id === "local" && !await sure(t("firstKey"), t("create"))) return;
    const body = { role: role.value, owner: owner.value, ...(days.value && { expiresInSeconds: Number(days.value) * 86400 }), ...(readOnly.checked && { readOnly: true }) };
    for (const [name, input] of Object.entries(limits)) if (input.value.trim()) body[name] = input.value.split(",").map((one) => one.trim()).filter(Boolean);
    for (const [name, input] of Object.entries(budgets)) if (input.value !== "") body[name] = Number(input.value);
    const key = await api("/api/keys", { method: "POST", body });
    fill(made, h("section", { className: "card notice wait-card" }, h("p", {}, h("strong", {}, t("shownOnce"))), snippet(key.key)));
    form.reset(); // as nobody has touched it: nothing is told to be missing, and no role stays chosen
    await load().catch(() => rows.replaceChildren()); // the first key: from now on this page needs one itself
  });
  const form = h("form", { className: "card", onsubmit: send },
    h("div", { className: "fields" }, field(t("owner"), owner), field(t("role"), role), field(t("days"), days, t("daysHint"))),
    h("details", {}, h("summary", {}, t("keyLimits")), h("p", { className: "lead" }, t("keyLimitsLead")), h("div", { className: "fields" },
      Object.entries(limits).map(([name, input]) => field(t(name), input)), Object.entries(budgets).map(([name, input]) => field(t(name), input))),
    check(t("readOnlyTools"), readOnly)), button);
  await load();
  fill(main, title(t("keys")), h("p", { className: "lead" }, t("keysLead")), made, rows,
    h("h2", {}, t("create")), form,
    h("h2", {}, t("roles")), h("div", { className: "scroll" }, h("table", {}, h("tbody", {}, roles.map((one) =>
      h("tr", {}, h("th", { scope: "row" }, one), h("td", {}, t(`${one}May`))))))));
  const look = gathered(() => load().catch(() => {}), 400);
  const stop = follow(look, ["keys"]);
  return () => { look.stop(); stop(); };
}

function limitsOf(key) {
  const names = ["servers", "tools", "models"].filter((one) => key[one]).map((one) => `${t(one)}: ${key[one].join(", ") || "–"}`);
  if (key.readOnly) names.push(t("readOnlyTools"));
  if (key.requestsPerDay !== undefined) names.push(`${t("requestsPerDay")}: ${number(key.requestsToday, 0)} / ${number(key.requestsPerDay, 0)}`);
  if (key.tokensPerDay !== undefined) names.push(`${t("tokensPerDay")}: ${number(key.tokensToday, 0)} / ${number(key.tokensPerDay, 0)}`);
  return names.length ? names.join("; ") : "–";
}

function table(keys, who, load, made) {
  const rotate = (key) => async () => {
    if (!await sure(t("rotateSure", { owner: key.owner || key.id }), t("rotate"))) return;
    const turned = await api(`/api/keys/${encodeURIComponent(key.id)}/rotate`, { method: "POST", body: { overlapSeconds: 86400 } });
    fill(made, h("section", { className: "card notice wait-card" }, h("p", {}, h("strong", {}, t("shownOnce"))), snippet(turned.key)));
    await load();
  };
  const revoke = (key) => async () => {
    if (!await sure(t("revokeSure", { owner: key.owner || key.id }), t("revoke"))) return;
    await api(`/api/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" });
    say(t("revoked", { owner: key.owner || key.id }));
    await load();
  };
  const columns = ["owner", "role", "key", "keyLimits", "expires", "lastUsed"];
  return h("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": t("keys") }, h("table", {},
    h("thead", {}, h("tr", {}, columns.map((one) => h("th", { scope: "col" }, t(one))), h("td", {}))),
    h("tbody", {}, keys.map((key) => h("tr", { "data-id": key.id },
      h("td", { className: "free" }, h("strong", {}, key.owner || "–"), key.id === who.id && ` (${t("you")})`), h("td", { className: "tight" }, key.role), h("td", { className: "tight" }, h("code", {}, key.id)), h("td", { className: "free" }, limitsOf(key)),
      h("td", { className: "tight" }, key.expiresAt ? when(key.expiresAt) : t("never")), h("td", { className: "tight" }, key.lastUsedAt ? when(key.lastUsedAt) : "–"),
      h("td", {}, action(t("rotate"), rotate(key), { className: "slim", "aria-label": `${t("rotate")}: ${key.owner || key.id}` }), " ", action(t("revoke"), revoke(key), { className: "danger slim", "aria-label": `${t("revoke")}: ${key.owner || key.id}` })))))));
}
