// What this hub logs, as it happens: newest first, by level and by words, older lines on demand.
import { api, query } from "./api.js";
import { choose, empty, fill, h, listen, searchBox, title } from "./dom.js";
import { exact, t } from "./text.js";
import { live } from "./live.js";

const levels = ["info", "warning", "error"];
const kind = (level) => (level >= 40 ? "bad" : level >= 30 ? "wait" : "soft");

function row(line) {
  return h("li", { className: "line" },
    h("span", { className: "soft" }, exact(line.at)), h("span", { className: `state ${kind(line.level)}` }, line.level_name), h("code", {}, line.logger.split(/(?=\.)/).map((part) => [h("wbr"), part])),
    h("span", { className: "said" }, line.message), line.request_id && h("code", { className: "soft" }, line.request_id), line.error && h("details", {}, h("summary", {}, t("traceback")), h("pre", { tabIndex: 0 }, line.error)));
}

export async function logsPage(main) {
  const find = searchBox();
  const level = h("select", { "aria-label": t("level") }, h("option", { value: "" }, t("anyLevel")), levels.map((one) => h("option", { value: one }, `≥ ${one}`)));
  const list = h("ul", { className: "list lines", "aria-label": t("logs") });
  const end = h("div");
  const asked = () => ({ q: find.value, level: level.value });
  const page = live(list, end, {
    key: (line) => line.id,
    draw: row,
    newer: async (after) => (await api(`/api/logs?${query({ ...asked(), after, limit: 500 })}`)).lines,
    older: async (before) => {
      const { lines } = await api(`/api/logs?${query({ ...asked(), before, limit: 100 })}`);
      return { rows: lines, next: lines.length === 100 ? lines.at(-1).id : null };
    },
    none: () => empty(t("nothingFound"), t("noLogsHint")),
  });
  listen(find, page.restart);
  choose(level, page.restart);
  await page.restart();
  fill(main, title(t("logs"), h("span", { className: "push" }), page.pause), h("p", { className: "lead" }, t("logsLead")),
    h("div", { className: "row bar" }, h("div", { className: "grow" }, find), h("div", {}, level)), list, end);
  return page.stop;
}
