import { api } from "./api.js";
import { busy, field, fill, h, json, say } from "./dom.js";
import { t, when } from "./text.js";

const base = "/api/mcp/servers";
const path = (name) => `${base}/${encodeURIComponent(name)}`;
const kind = { CONNECTED: "good", FAILED: "bad", NEEDS_AUTH: "bad", DEGRADED: "wait", CONNECTING: "wait", PENDING: "wait" };

export const state = (status) => h("span", { className: `state ${kind[status] ?? "soft"}` }, status);

function line(server) {
  const why = server.lastFailure?.message ?? server.lastError;
  return h("li", { className: "card" },
    h("div", { className: "row" },
      h("a", { className: "grow", href: `#/servers/${encodeURIComponent(server.name)}` }, h("strong", {}, server.name)),
      h("span", { className: "soft small" }, `${server.toolCount} ${t("tools")}`), state(server.status)),
    server.description && h("div", { className: "soft small" }, server.description),
    why && server.status !== "CONNECTED" && h("div", { className: "bad small" }, why));
}

export async function serversPage(main) {
  const list = h("ul", { className: "plain" });
  const find = h("input", { type: "search", "aria-label": t("search"), placeholder: t("search") });
  let servers = [];
  const draw = () => {
    const wanted = find.value.toLowerCase();
    const shown = servers.filter((server) => server.name.toLowerCase().includes(wanted));
    fill(list, shown.length ? shown.map(line) : h("li", { className: "soft" }, servers.length ? t("none") : t("noServers")));
  };
  const load = async () => { servers = await api(base); draw(); };
  find.addEventListener("input", draw);
  await load();
  fill(main, h("h1", {}, t("servers")), h("div", { className: "row" }, h("div", { className: "grow" }, find),
    h("button", { className: "main", onclick: () => edit(null, load) }, t("add"))), h("h2", {}, ""), list);
  return follow(load);
}

function follow(load) {
  const source = new EventSource("/api/mcp/events");
  let waiting;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(() => load().catch(() => {}), 150); };
  for (const event of ["registered", "updated", "removed", "status", "tools"]) source.addEventListener(event, soon);
  return () => { clearTimeout(waiting); source.close(); };
}

export async function serverPage(main, name) {
  const load = async () => draw(main, await api(path(name)), load);
  await load();
  return follow(load);
}

function draw(main, server, load) {
  const act = (what, method = "POST") => async () => {
    await api(what ? `${path(server.name)}/${what}` : path(server.name), { method });
    if (method === "DELETE") location.hash = "#/servers"; else await load();
  };
  const button = (label, work, className) => {
    const made = h("button", { className, onclick: (event) => busy(() => made, work)(event) }, label);
    return made;
  };
  const connected = server.status === "CONNECTED";
  fill(main,
    h("div", { className: "row" }, h("h1", { className: "grow" }, server.name), state(server.status)),
    h("p", { className: "soft" }, server.description),
    h("div", { className: "row" },
      connected ? button(t("disconnect"), act("disconnect")) : button(t("connect"), act("connect"), "main"),
      button(t("edit"), async () => edit(server, load)),
      button(t("remove"), async () => { if (confirm(t("sure"))) await act("", "DELETE")(); }, "danger")),
    explanation(server), withheld(server, load),
    h("h2", {}, `${t("tools")} (${server.tools.length})`),
    h("p", {}, server.tools.map((tool) => [h("code", {}, tool), " "])),
    h("h2", {}, t("definition")), json({ transportType: server.transportType, config: server.config }),
    server.launch && json(server.launch));
}

function explanation(server) {
  const why = server.explanation;
  if (why.isUsable && !server.warnings?.length) return h("p", { className: "good" }, why.summary);
  const failure = why.lastFailure;
  const next = failure?.nextRetryAt ? Math.max(0, Math.round((failure.nextRetryAt - Date.now()) / 1000)) : null;
  return h("section", { className: "card", "aria-label": t("why") }, h("h2", {}, t("why")),
    h("p", {}, why.summary), why.remedy && h("p", {}, h("strong", {}, why.remedy)),
    failure && h("p", { className: "soft small" }, `${failure.stage}/${failure.code} · ${t("since")} ${when(failure.since)}`,
      next !== null && ` · ${t("nextRetry")} ${next} ${t("seconds")}`),
    (server.warnings ?? []).map((warning) => h("p", { className: "wait" }, warning)),
    why.logTail && h("details", { open: true }, h("summary", {}, t("log")), json(why.logTail)));
}

function withheld(server, load) {
  if (!server.withheldTools?.length) return null;
  const approve = (tools) => async () => {
    await api(`${path(server.name)}/approve`, { method: "POST", body: tools ? { tools } : {} });
    await load();
  };
  const guarded = (work) => (event) => busy(() => event.target, work)(event);
  return h("section", { className: "card", "aria-label": t("withheld") }, h("h2", {}, t("withheld")),
    server.withheldTools.map((tool) => h("article", {},
      h("div", { className: "row" }, h("strong", { className: "grow" }, tool.name), h("span", { className: "state wait" }, tool.status),
        ["pending", "changed"].includes(tool.status) && h("button", { onclick: guarded(approve([tool.name])) }, t("approve"))),
      h("p", { className: "soft small" }, tool.reason),
      tool.diff?.length > 0 && h("pre", {}, tool.diff.map((text) =>
        h("div", { className: text.startsWith("+") ? "plus" : text.startsWith("-") ? "minus" : "" }, text))))),
    h("button", { className: "main", onclick: guarded(approve(null)) }, t("approveAll")));
}

function read(text) {
  if (!text.trim()) return undefined;
  try { return JSON.parse(text); } catch (error) { throw new Error(t("badJson") + error.message); }
}

function edit(server, done) {
  const config = server?.config ?? {};
  const name = h("input", { value: server?.name ?? "", required: true, disabled: Boolean(server), pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]{0,63}" });
  const about = h("input", { value: server?.description ?? "" });
  const way = h("select", {}, ["HTTP", "SSE", "STDIO"].map((one) => h("option", { value: one, selected: one === (server?.transportType ?? "HTTP") }, one)));
  const url = h("input", { value: config.url ?? "", placeholder: "http://127.0.0.1:8080/mcp" });
  const headers = h("textarea", { value: config.headers ? JSON.stringify(config.headers, null, 2) : "" });
  const command = h("input", { value: config.command ?? "" });
  const args = h("textarea", { value: (config.args ?? []).join("\n") });
  const env = h("textarea", { value: config.env ? JSON.stringify(config.env, null, 2) : "" });
  const auto = h("input", { type: "checkbox", checked: server?.autoConnect ?? true });
  const pasted = h("textarea", { placeholder: '{"mcpServers": {"name": {"url": "…"}}}' });
  const remote = h("div", {}, field(t("url"), url), field(t("headers"), headers));
  const local = h("div", {}, field(t("command"), command), field(t("args"), args), field(t("env"), env));
  const fit = () => { remote.hidden = way.value === "STDIO"; local.hidden = way.value !== "STDIO"; };
  const made = () => ({
    name: name.value.trim(), description: about.value || null, transportType: way.value, autoConnect: auto.checked,
    config: way.value === "STDIO"
      ? { command: command.value.trim(), args: args.value.split("\n").filter(Boolean), ...(env.value.trim() && { env: read(env.value) }) }
      : { url: url.value.trim(), ...(headers.value.trim() && { headers: read(headers.value) }) },
  });
  const bodies = () => {
    const text = read(pasted.value);
    if (!text) return [made()];
    const found = text.mcpServers ?? text.servers ?? text;
    return Object.entries(found).map(([key, { description, type, transport, ...rest }]) => ({
      name: key, description: description ?? null, transportType: type ?? transport ?? (rest.command ? "STDIO" : undefined), config: rest,
    }));
  };
  const problem = h("p", { className: "bad", role: "alert" });
  const save = async (event) => {
    event.preventDefault();
    problem.textContent = "";
    try {
      if (server) {
        const { name: same, ...changes } = made();
        await api(path(server.name), { method: "PATCH", body: changes });
      } else for (const body of bodies()) await api(base, { method: "POST", body });
      box.close();
      say(t("saved"));
      await done();
    } catch (error) { problem.textContent = error.message; }
  };
  const box = h("dialog", { "aria-label": t("add"), onclose: () => box.remove() },
    h("form", { onsubmit: save }, h("h1", {}, server ? `${t("edit")} ${server.name}` : t("add")),
      field(t("name"), name), field(t("description"), about), field(t("transport"), way), remote, local,
      h("label", {}, auto, " ", t("auto")),
      !server && h("details", {}, h("summary", {}, t("paste")), field("JSON", pasted)),
      problem,
      h("div", { className: "row" }, h("button", { className: "main" }, t("save")),
        h("button", { type: "button", onclick: () => box.close() }, t("cancel")))));
  pasted.addEventListener("input", () => { name.required = !pasted.value.trim(); });
  way.addEventListener("change", fit);
  fit();
  document.body.append(box);
  box.showModal();
}
