import { api, follow, gathered, inOrder, ofServers, rights } from "./api.js";
import { withheldTool } from "./approvals.js";
import { action, fill, h, json, say, sure, title } from "./dom.js";
import { editServer } from "./server_form.js";
import { countTools, state } from "./servers.js";
import { t, when } from "./text.js";

export const path = (name, what = "") => `/api/mcp/servers/${encodeURIComponent(name)}${what && `/${what}`}`;

export async function serverPage(main, name) {
  let last = "";
  const ask = inOrder();
  const load = async () => {
    const isNews = ask();
    const [server, may] = await Promise.all([api(path(name)), rights()]);
    if (server.config.url) server.signIn = await api(path(name, "sign-in"));
    if (!isNews()) return;
    const now = JSON.stringify(server);
    if (now === last) return;
    last = now;
    draw(main, server, load, may);
  };
  await load();
  const look = gathered(() => load().catch((error) => say(error.message)), 200);
  const stop = follow((kind) => {
    if (kind === "removed") location.hash = "#/servers";
    else look();
  }, ofServers, name);
  return () => { look.stop(); stop(); };
}

function draw(main, server, load, may) {
  const act = (what) => async () => {
    try { await api(path(server.name, what), { method: "POST" }); } finally { await load(); }
    say(`${server.name}: ${t((await api(path(server.name))).status)}`);
  };
  const connected = server.status === "CONNECTED";
  const operates = may("operator"), signs = server.signIn && may(server.signIn.credentials === "shared" ? "operator" : "user");
  const remove = async () => {
    if (!await sure(t("removeSure", { name: server.name }), t("remove"))) return;
    await api(path(server.name), { method: "DELETE" });
    say(t("removed", { name: server.name }));
    location.hash = "#/servers";
  };
  const signIn = async () => {
    const begun = await api(path(server.name, "sign-in"), { method: "POST" });
    if (!/^https?:/.test(begun.url)) throw new Error(begun.url);
    location.href = begun.url;
  };
  const signOut = async () => {
    try { await api(path(server.name, "sign-in"), { method: "DELETE" }); } finally { await load(); }
    say(t("signedOutAt", { name: server.name }));
  };
  fill(main,
    title(server.name, state(server.status)),
    h("p", { className: "lead" }, server.description),
    h("div", { className: "row bar" },
      operates && (connected ? action(t("disconnect"), act("disconnect"), { "data-same": "connection" }) : action(t("connect"), act("connect"), { className: "main", "data-same": "connection" })),
      operates && connected && action(t("refresh"), act("refresh")),
      signs && server.status === "NEEDS_AUTH" && action(t("signIn"), signIn, { className: "main" }),
      signs && server.signIn.signedIn && server.status !== "NEEDS_AUTH" && action(t("signInAgain"), signIn),
      signs && server.signIn.signedIn && action(t("signOut"), signOut),
      may("admin") && action(t("edit"), async () => editServer(server, load)),
      may("admin") && action(t("remove"), remove, { className: "danger" })),
    explanation(server), withheld(server, load, operates), tools(server),
    h("h2", {}, t("definition")), json({ transportType: server.transportType, config: server.config }),
    server.launch && [h("h2", {}, t("launch")), json([...server.launch.envNames.map((one) => `${one}=…`), ...server.launch.argv].join(" "))]);
}

function tools(server) {
  const first = server.tools.slice(0, 60);
  const prefix = `${server.name}__`;
  const unknown = !first.length && server.status !== "CONNECTED";
  return [h("h2", {}, unknown ? t("tools") : countTools(server.tools.length)),
    !first.length && h("p", { className: "soft" }, t(unknown ? "toolsUnknown" : "noToolsYet")),
    first.length > 0 && h("p", { className: "row" }, first.map((tool) => h("a", { href: `#/tools/${encodeURIComponent(prefix + tool)}` }, h("code", {}, tool)))),
    server.tools.length > first.length && h("p", {}, h("a", { href: `#/tools?server=${encodeURIComponent(server.name)}` }, t("all")))];
}

function explanation(server) {
  const why = server.explanation;
  const warnings = (server.warnings ?? []).map((warning) => h("p", { className: "wait small" }, warning));
  const failure = why.lastFailure;
  if (why.isUsable || (!failure && !why.remedy)) {
    // What is offered to whoever looks, which may be less than all that the server has.
    const what = server.status === "CONNECTED" ? t("connectedWith", { count: server.toolCount ?? server.tools.length }) : why.summary;
    return [h("p", { className: why.isUsable ? "good" : "soft" }, what), warnings];
  }
  const left = failure?.nextRetryAt ? Math.max(0, Math.round((failure.nextRetryAt - Date.now()) / 1000)) : null;
  return h("section", { className: `card ${failure ? "notice" : ""}`, "aria-label": t("why") }, h("h2", {}, t("why")),
    h("p", {}, why.summary), why.remedy && h("p", {}, h("strong", {}, why.remedy)),
    failure && h("p", { className: "soft small" }, `${failure.stage} / ${failure.code}`,
      failure.since && ` · ${t("since", { time: when(failure.since) })}`,
      left !== null && ` · ${t("nextRetry", { seconds: left })}`),
    warnings,
    why.logTail && [h("h3", {}, t("log")), json(why.logTail)]);
}

function withheld(server, load, mayApprove) {
  if (!server.withheldTools?.length) return null;
  const approve = (tools) => async () => {
    const seen = Object.fromEntries(tools.map((tool) => [tool.name, tool.sha256]));
    await api(path(server.name, "approve"), { method: "POST", body: { tools: seen } });
    say(t("approved", { name: Object.keys(seen).join(", ") }));
    await load();
  };
  const waiting = server.withheldTools.filter((tool) => ["pending", "changed"].includes(tool.status));
  return h("section", { className: "card notice wait-card", "aria-label": t("withheld") },
    h("div", { className: "head" }, h("h2", {}, t("withheld")), h("span", { className: "push" }),
      mayApprove && waiting.length > 1 && action(t("approveAll"), approve(waiting), { className: "main" })),
    server.withheldTools.map((tool) => withheldTool(tool, mayApprove && approve([tool]))));
}
