import { api, fetched, follow, gathered, query, rights } from "./api.js";
import { empty, fill, h, keep, kept, listen, say, searchBox, title } from "./dom.js";
import { growing } from "./pages.js";
import { t } from "./text.js";

const kinds = {
  CONNECTED: "good", FAILED: "bad", NEEDS_AUTH: "bad", DEGRADED: "wait", CONNECTING: "wait", PENDING: "wait",
};
export const state = (status) => h("span", { className: `state ${kinds[status] ?? "soft"}` }, t(status));

export const countTools = (count) => (count === 1 ? t("oneTool") : t("toolsOf", { count }));

function row(server) {
  return h("li", {}, h("a", { className: "item", href: `#/servers/${encodeURIComponent(server.name)}` },
    h("span", { className: "name" }, server.name),
    server.description && h("span", { className: "about" }, server.description),
    server.why && h("span", { className: "about bad" }, server.why),
    h("span", { className: "side" }, h("span", { className: "tag" }, server.transportType ?? "URL"),
      server.status === "CONNECTED" && h("span", {}, countTools(server.toolCount)), state(server.status))));
}

export async function serversPage(main) {
  const list = h("ul", { className: "list", "aria-label": t("servers") });
  const end = h("div");
  const chips = h("div", { className: "chips" });
  const find = searchBox();
  let wanted = kept().choice ?? "";
  let any = false;
  const drawChips = (states) => {
    const total = Object.values(states).reduce((sum, count) => sum + count, 0);
    any = any || total > 0;
    const chip = (status, label, count) => h("button", {
      type: "button", "aria-pressed": String(wanted === status),
      onclick: () => { wanted = status; keep({ choice: status }); pages.reset(); },
    }, `${label} ${count}`);
    fill(chips, total > 0 && [chip("", t("all"), total), Object.entries(states).map(([name, count]) => chip(name, t(name), count))]);
  };
  const open = () => fetched(import("./server_form.js")).then(({ editServer }) => editServer(null, () => pages.reset())).catch((error) => say(error.message));
  const may = await rights();
  const add = () => may("admin") && h("button", { type: "button", className: "main", onclick: open }, t("add"));
  const pages = growing(list, end, {
    fetchPage: async (offset, limit) => {
      const found = await api(`/api/console/servers?${query({ q: find.value, state: wanted, offset, limit })}`);
      drawChips(found.states);
      return { total: found.total, rows: found.servers };
    },
    draw: row,
    none: () => (any ? empty(t("nothingFound")) : empty(t("noServers"), t("noServersHint"), add())),
  });
  listen(find, () => pages.reset());
  await pages.restart();
  fill(main, title(t("servers"), h("span", { className: "push" }), add()), h("p", { className: "lead" }, t("serversLead")),
    h("div", { className: "bar" }, find), chips, list, end);
  const look = gathered(() => pages.restart().catch(() => {}), 400);
  const stop = follow(look);
  return () => { look.stop(); pages.stop(); stop(); };
}
