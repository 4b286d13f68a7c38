// The audit log: who did what, newest first and as it happens, by kind, person and words; and whether its chain holds.
import { api, query } from "./api.js";
import { action, choose, empty, fill, h, json, listen, searchBox, title } from "./dom.js";
import { live } from "./live.js";
import { exact, t } from "./text.js";

const kinds = ["call", "admin", "approval", "refused"];
const standard = new Set(["seq", "at", "what", "who", "prev", "hash", "changed"]);
const kind = (what = "") => (what.startsWith("refused") ? "bad" : what.startsWith("admin") ? "wait" : "soft");

function row(entry) {
  if (entry.changed) return h("li", { className: "line" }, h("span", { className: "soft" }, `#${entry.seq}`), h("strong", { className: "bad" }, t("lineChanged")));
  const facts = Object.entries(entry).filter(([name]) => !standard.has(name));
  const short = facts.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`).join("  ");
  return h("li", { className: "line" }, h("span", { className: "soft" }, exact(Date.parse(entry.at))),
    h("span", { className: `state ${kind(entry.what)}` }, entry.what), h("code", {}, entry.who || "–"),
    h("details", { className: "said" }, h("summary", {}, short.length > 220 ? `${short.slice(0, 219)}…` : short), json(entry)));
}

export async function auditPage(main) {
  const find = searchBox();
  const what = h("select", { "aria-label": t("kindOf") }, h("option", { value: "" }, t("anyKind")), kinds.map((one) => h("option", { value: one }, one)));
  const list = h("ul", { className: "list lines", "aria-label": t("audit") });
  const end = h("div"), verdict = h("div", { "aria-live": "polite" });
  const asked = () => ({ q: find.value, what: what.value });
  const page = live(list, end, {
    key: (entry) => entry.seq,
    draw: row,
    newer: async (after) => (await api(`/api/audit?${query({ ...asked(), after, limit: 500 })}`)).entries,
    older: async (before) => {
      const { entries, before: next } = await api(`/api/audit?${query({ ...asked(), before, limit: 50 })}`);
      return { rows: entries, next };
    },
    none: () => empty(t("nothingFound")),
  });
  const prove = action(t("prove"), async () => {
    const found = await api("/api/audit/proof");
    fill(verdict, h("section", { className: `card notice ${found.holds ? "good-card" : ""}` },
      h("p", {}, h("strong", {}, t(found.holds ? "chainHolds" : "chainBroken", { count: found.entries }))), h("p", { className: "small" }, t("head"), " ", h("code", {}, found.head)),
      found.problems.length > 0 && json(found.problems.join("\n"))));
  });
  listen(find, page.restart);
  choose(what, page.restart);
  await page.restart();
  fill(main, title(t("audit"), h("span", { className: "push" }), prove, page.pause), h("p", { className: "lead" }, t("auditLead")), verdict,
    h("div", { className: "row bar" }, h("div", { className: "grow" }, find), h("div", {}, what)), list, end);
  return page.stop;
}
