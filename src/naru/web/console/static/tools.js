import { api, follow, gathered, query } from "./api.js";
import { empty, fill, h, listen, searchBox, title } from "./dom.js";
import { growing } from "./pages.js";
import { t } from "./text.js";

function row(tool) {
  return h("li", {}, h("a", { className: "item", href: `#/tools/${encodeURIComponent(tool.name)}` },
    h("span", { className: "name" }, tool.title || tool.name),
    tool.title && h("span", { className: "about" }, tool.name),
    tool.description && h("span", { className: "about" }, tool.description),
    h("span", { className: "side" }, h("span", { className: "tag" }, tool.server))));
}

export async function toolsPage(main) {
  const list = h("ul", { className: "list", "aria-label": t("tools") });
  const end = h("div");
  const find = searchBox();
  const server = new URLSearchParams(location.hash.split("?")[1] ?? "").get("server") ?? "";
  let any = false;
  const pages = growing(list, end, {
    fetchPage: async (offset, limit) => {
      const found = await api(`/api/console/tools?${query({ q: find.value, server, offset, limit })}`);
      any = any || found.total > 0;
      return { total: found.total, rows: found.tools };
    },
    draw: row,
    none: () => (any ? empty(t("nothingFound")) : empty(t("noTools"), t("noToolsHint"))),
  });
  listen(find, () => pages.reset());
  await pages.restart();
  fill(main, title(server ? `${t("tools")} · ${server}` : t("tools")), h("p", { className: "lead" }, t("toolsLead")),
    h("div", { className: "bar" }, find), list, end);
  const look = gathered(() => pages.restart().catch(() => {}), 400);
  const stop = follow(look);
  return () => { look.stop(); pages.stop(); stop(); };
}
