// Add or change a server: a form, or the JSON that other products use; what is wrong is said before it is sent.
import { api } from "./api.js";
import { check, field, fill, h, onSubmit, say, snippet } from "./dom.js";
import { t } from "./text.js";

const base = "/api/mcp/servers";
const asLines = (table, between) => Object.entries(table ?? {}).map(([name, value]) => `${name}${between}${value}`).join("\n");

function fromLines(text, between) {
  const table = {};
  for (const line of text.split("\n").map((one) => one.trim()).filter(Boolean)) {
    const at = line.indexOf(between);
    if (at < 1) throw new Error(t("badLine", { line }));
    table[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return Object.keys(table).length ? table : undefined;
}

// The servers in pasted JSON: `mcpServers`, `servers`, the array form, or a bare object of entries.
export function pastedServers(text) {
  let data;
  try { data = JSON.parse(text); } catch (error) { throw new Error(t("badJson") + error.message); }
  const named = Array.isArray(data) ? Object.fromEntries(data.map((one) => [one?.name, one])) : data?.mcpServers ?? data?.servers ?? data;
  const entries = Object.entries(named ?? {}).filter(([, one]) => one && typeof one === "object" && (one.command || one.url || one.serverUrl || one.httpUrl));
  if (!entries.length) throw new Error(t("pasteNone"));
  return entries.map(([name, entry]) => {
    const { type, transport, transportType, description, autoConnect, name: _, serverUrl, httpUrl, ...config } = entry;
    const url = config.url ?? serverUrl ?? httpUrl;
    const kind = transportType ?? type ?? transport ?? (config.command ? "STDIO" : undefined);
    return { name, description, autoConnect, transportType: kind, config: url ? { ...config, url } : config };
  });
}

// The same server for the command line, which may start programs where this page may not.
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
function commandOf(parts) {
  const env = parts.env.value.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => `--env ${quoted(line)}`);
  const words = [parts.command.value.trim() || "npx", ...parts.args.value.split("\n").filter(Boolean)].map(quoted);
  return ["naru servers add", quoted(parts.name.value || "NAME"), ...env, "--", ...words].join(" ");
}

function form(server, mayStartPrograms, onFit) {
  const config = server?.config ?? {};
  const parts = {
    name: h("input", {
      value: server?.name ?? "", required: true, disabled: Boolean(server), pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]{0,63}",
      autocomplete: "off", spellcheck: false, title: t("nameHint"),
    }),
    about: h("input", { value: server?.description ?? "", autocomplete: "off" }),
    way: h("select", {}, [["HTTP", "HTTP"], ["SSE", "SSE"], ["STDIO", "STDIO"]].map(([value, label]) =>
      h("option", { value, selected: value === (server?.transportType ?? "HTTP") }, label))),
    url: h("input", { type: "url", value: config.url ?? "", placeholder: "http://127.0.0.1:8080/mcp", pattern: "https?://.+" }),
    headers: h("textarea", { value: asLines(config.headers, ": "), rows: 2, spellcheck: false }),
    command: h("input", { value: config.command ?? "", placeholder: "npx", spellcheck: false }),
    args: h("textarea", { value: (config.args ?? []).join("\n"), rows: 3, spellcheck: false }),
    env: h("textarea", { value: asLines(config.env, "="), rows: 2, spellcheck: false }),
    auto: h("input", { type: "checkbox", checked: server?.autoConnect ?? true }),
  };
  const remote = h("div", {}, field(t("url"), parts.url), field(t("headers"), parts.headers, t("headersHint")));
  const refused = h("div", { className: "card notice wait-card", hidden: true }, h("p", {}, t("noPrograms")), h("div"));
  const asCommand = () => fill(refused.lastChild, snippet(commandOf(parts)));
  const local = h("div", {}, refused, field(t("command"), parts.command), field(t("args"), parts.args, t("argsHint")), field(t("env"), parts.env, t("envHint")));
  const fit = () => {
    const isProgram = parts.way.value === "STDIO";
    remote.hidden = isProgram;
    local.hidden = !isProgram;
    parts.url.required = !isProgram;
    parts.command.required = isProgram;
    parts.url.disabled = isProgram;
    refused.hidden = !isProgram || mayStartPrograms;
    if (!refused.hidden) asCommand();
    onFit(refused.hidden);
  };
  for (const input of [parts.name, parts.command, parts.args, parts.env]) input.addEventListener("input", () => refused.hidden || asCommand());
  parts.way.addEventListener("change", fit);
  fit();
  const view = h("div", {}, h("div", { className: "fields" }, field(t("name"), parts.name, t("nameHint")), field(t("transport"), parts.way)),
    field(t("description"), parts.about), remote, local, check(t("auto"), parts.auto));
  const value = () => {
    const isProgram = parts.way.value === "STDIO";
    const own = isProgram
      ? { command: parts.command.value.trim(), args: parts.args.value.split("\n").filter(Boolean), env: fromLines(parts.env.value, "=") }
      : { url: parts.url.value.trim(), headers: fromLines(parts.headers.value, ":") };
    // In a merge patch null takes a member out: what belongs to the other transport, or was emptied.
    const gone = server ? Object.fromEntries(Object.keys(config).filter((key) => ["command", "args", "env", "cwd", "url", "headers"].includes(key) && own[key] === undefined).map((key) => [key, null])) : {};
    return {
      name: parts.name.value, description: parts.about.value || null, transportType: parts.way.value,
      autoConnect: parts.auto.checked, config: { ...gone, ...own },
    };
  };
  return { view, value, parts };
}

export async function editServer(server, done) {
  const { mayStartPrograms } = await api("/api/session");
  const button = h("button", { className: "main" }, t("save"));
  const { view, value, parts } = form(server, mayStartPrograms, (isPossible) => { button.disabled = !isPossible; });
  const pasted = h("textarea", { rows: 9, spellcheck: false, placeholder: '{"mcpServers": {"docs": {"url": "https://host/mcp"}}}' });
  const found = h("p", { className: "small soft", role: "status" });
  const byPaste = h("div", { hidden: true }, field(t("byPaste"), pasted, t("pasteHint")), found);
  const problem = h("p", { className: "bad lines-kept", role: "alert" });
  const tab = (label, isPaste) => h("button", { type: "button", "aria-pressed": String(byPaste.hidden !== isPaste), onclick: () => choose(isPaste) }, label);
  const tabs = h("div", { className: "chips" });
  const choose = (isPaste) => {
    byPaste.hidden = !isPaste;
    view.hidden = isPaste;
    for (const input of view.querySelectorAll("input, select, textarea")) input.disabled = isPaste;
    pasted.required = isPaste;
    problem.textContent = "";
    tabs.replaceChildren(tab(t("byForm"), false), tab(t("byPaste"), true));
    button.disabled = false;
    if (isPaste) pasted.focus();
    else parts.way.dispatchEvent(new Event("change"));
  };
  pasted.addEventListener("input", () => {
    try {
      found.className = "small good";
      found.textContent = pasted.value.trim() ? t("pasteFound", { names: pastedServers(pasted.value).map((one) => one.name).join(", ") }) : "";
    } catch (error) {
      found.className = "small bad";
      found.textContent = error.message;
    }
  });
  const save = onSubmit(button, async () => {
    problem.textContent = "";
    if (!byPaste.hidden && found.classList.contains("bad")) return pasted.focus(); // said where it was pasted
    try {
      const said = await store(server, byPaste.hidden ? [value()] : pastedServers(pasted.value));
      box.close();
      say(said);
      await done();
    } catch (error) {
      problem.textContent = error.message;
      if (!byPaste.hidden) await done(); // some of them may have been added
    }
  });
  const heading = server ? t("editOf", { name: server.name }) : t("add");
  const box = h("dialog", { "aria-label": heading, onclose: () => box.remove() },
    h("h1", {}, heading), !server && tabs,
    h("form", { onsubmit: save }, view, byPaste, problem,
      h("div", { className: "row" }, h("button", { type: "button", onclick: () => box.close() }, t("cancel")), button)));
  if (!server) choose(false);
  document.body.append(box);
  box.showModal();
  (server ? parts.about : parts.name).focus();
}

async function store(server, bodies) {
  if (server) {
    const { name, ...changes } = bodies[0];
    await api(`${base}/${encodeURIComponent(name)}`, { method: "PATCH", body: changes });
    return t("saved");
  }
  const added = [], wrong = [];
  for (const body of bodies) {
    try { await api(base, { method: "POST", body }); added.push(body.name); } catch (error) { wrong.push(`${bodies.length > 1 ? `${body.name}: ` : ""}${error.message}`); }
  }
  const said = added.length > 0 && t("addedSome", { names: added.join(", ") });
  if (wrong.length) throw new Error([said, ...wrong].filter(Boolean).join("\n"));
  return said;
}
