import { api } from "./api.js";
import { action, empty, fill, h, say, title } from "./dom.js";
import { has, t } from "./text.js";

const sign = (line) => (/^(---|\+\+\+|@@)/.test(line) ? "soft" : { "+": "plus", "-": "minus" }[line[0]] ?? "");

// A tool that is not offered: why, how it differs from what was approved, and a button where approving helps.
export function withheldTool(tool, approve, server) {
  const canApprove = ["pending", "changed"].includes(tool.status);
  return h("article", {},
    h("div", { className: "row" }, h("h3", { className: "grow" }, server && [h("span", { className: "soft" }, `${server} · `)], tool.name,
      " ", h("span", { className: "state wait" }, has(tool.status) ? t(tool.status) : tool.status)),
    canApprove && action(t("approve"), async () => { await approve(); say(t("approved", { name: tool.name })); })),
    h("p", { className: "soft small" }, tool.reason),
    tool.diff?.length > 0 && h("pre", { className: "diff", tabIndex: 0 }, tool.diff.map((line) => h("div", { className: sign(line) }, line))));
}

export async function approvalsPage(main) {
  const load = async () => {
    const { tools } = await api("/api/console/approvals");
    fill(main, title(t("approvals")), h("p", { className: "lead" }, t("approvalsLead")),
      !tools.length && empty(t("noApprovals")),
      tools.map((tool) => h("section", { className: "card", "aria-label": `${tool.server} ${tool.name}` }, withheldTool(tool, async () => {
        await api(`/api/mcp/servers/${encodeURIComponent(tool.server)}/approve`, { method: "POST", body: { tools: [tool.name] } });
        await load();
      }, tool.server))));
  };
  await load();
}
