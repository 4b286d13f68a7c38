import { api, follow, gathered, inOrder, ofServers, parsed, rights } from "./api.js";
import { action, barred, empty, fill, h, say, title } from "./dom.js";
import { has, t, when } from "./text.js";

const sign = (line) => (/^(---|\+\+\+|@@)/.test(line) ? "soft" : { "+": "plus", "-": "minus" }[line[0]] ?? "");

// A tool that is not offered: why, how it differs from what was approved, and a button where approving helps.
export function withheldTool(tool, approve, server) {
  const canApprove = approve && ["pending", "changed"].includes(tool.status);
  return h("article", {},
    h("div", { className: "row" }, h("h3", { className: "grow" }, server && [h("span", { className: "soft" }, `${server} · `)], tool.name,
      " ", h("span", { className: "state wait" }, has(tool.status) ? t(tool.status) : tool.status)),
    canApprove && action(t("approve"), async () => { await approve(); say(t("approved", { name: tool.name })); })),
    h("p", { className: "soft small" }, tool.reason),
    tool.diff?.length > 0 && h("pre", { className: "diff", tabIndex: 0 }, tool.diff.map((line) => h("div", { className: sign(line) }, line))));
}

// A call that is held until a person answers (N9): what would be called, with what, by whom, and until when.
export function waitingCall(one, load) {
  const answer = (decision) => async () => {
    await api(`/api/approvals/${encodeURIComponent(one.id)}`, { method: "POST", body: { decision } });
    say(t("answeredCall", { name: one.tool }));
    await load();
  };
  const until = when(one.expiresAt);
  return h("section", { className: "card", "data-id": one.id, "aria-label": `${one.server} ${one.tool}` }, h("div", {},
    h("h3", {}, h("span", { className: "soft" }, `${one.server} · `), one.tool, " ", h("span", { className: "state wait" }, t("waitsUntil", { time: until }))),
    h("p", { className: "soft small" }, t("calledBy", { name: one.caller || "local" })),
    h("pre", { tabIndex: 0 }, one.arguments),
    h("div", { className: "row" }, action(t("allowOnce"), answer("once"), { className: "main" }),
      action(t("allowAlways"), answer("always")), action(t("denyCall"), answer("deny")))));
}

const same = (text, given) => { try { return JSON.stringify(parsed(text)) === JSON.stringify(given); } catch { return true; } };

// Calls that wait for a yes are answered where they are seen to wait: `going` has rows of a waterfall, each with what was `given`.
export async function showHeld(going) {
  if (!(await rights())("operator")) return;
  const { waiting } = await api("/api/approvals");
  const left = new Set(waiting);
  const isOf = (held, one) => (one.label === `${held.server}__${held.tool}` || one.label === held.tool)
    && same(held.arguments, one.given);
  for (const one of going.values()) {
    const held = [...left].find((other) => isOf(other, one));
    left.delete(held);
    if (held?.id === one.held) continue;
    one.held = held?.id;
    fill(one.place, held && waitingCall(held, async () => fill(one.place)));
  }
}

// Readers may see withheld tools, but only operators are shown what is called.
const heldCalls = async (may) => (may("operator") ? api("/api/approvals") : { waiting: [], standing: [] });

// What was allowed for always, each with a button that takes it back.
function standingCalls(standing, load) {
  const takeBack = async (one) => {
    await api(`/api/approvals/standing/${encodeURIComponent(one.id)}`, { method: "DELETE" });
    say(t("tookBack", { name: one.tool }));
    await load();
  };
  return [h("h2", {}, t("standing")), h("p", { className: "lead" }, t("standingLead")),
    h("ul", { className: "list" }, standing.map((one) => h("li", {}, h("div", { className: "item" },
      h("span", { className: "name" }, h("span", { className: "soft" }, `${one.server} · `), one.tool),
      h("span", { className: "about" }, t("standingBy", { name: one.caller || "local", time: when(one.givenAt) })),
      h("span", { className: "side" }, action(t("takeBack"), () => takeBack(one), { className: "danger slim", "aria-label": `${t("takeBack")}: ${one.server} ${one.tool}` }))))))];
}

export async function approvalsPage(main) {
  let shown = "";
  const ask = inOrder(), may = await rights();
  const load = async () => {
    const isNews = ask();
    const [{ tools }, held] = await Promise.all([api("/api/console/approvals"), heldCalls(may)]);
    if (!isNews()) return;
    const { waiting, standing } = held;
    // Drawn anew only when something began or ended to wait, so that nobody's focus is taken.
    const now = JSON.stringify([tools, waiting.map((one) => one.id), standing.map((one) => one.id)]);
    if (now === shown) return;
    shown = now;
    fill(main, title(t("approvals")),
      waiting.length > 0 && [h("h2", {}, t("heldCalls")), waiting.map((one) => waitingCall(one, load))],
      (tools.length > 0 || !waiting.length) && h("p", { className: "lead" }, t("approvalsLead")), !may("operator") && barred("operator"),
      !tools.length && !waiting.length && empty(t("noApprovals")),
      tools.map((tool) => h("section", { className: "card", "aria-label": `${tool.server} ${tool.name}` }, withheldTool(tool, may("operator") && (async () => {
        await api(`/api/mcp/servers/${encodeURIComponent(tool.server)}/approve`, { method: "POST", body: { tools: { [tool.name]: tool.sha256 } } });
        await load();
      }), tool.server))),
      standing.length > 0 && standingCalls(standing, load));
  };
  await load();
  const look = gathered(() => load().catch(() => {}), 400);
  const stop = follow(look, [...ofServers, "approvals"]);
  return () => { look.stop(); stop(); };
}
