// The hub's API. Errors carry what was tried, what happened and what to do.
import { isKorean, t } from "./text.js";

// Whole numbers that JavaScript would round stay as they came, where the browser can keep them so.
const precise = (_, value, { source } = {}) => (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? JSON.rawJSON(source) : value);
export const parsed = (text) => (JSON.rawJSON && /\d{16}/.test(text) ? JSON.parse(text, precise) : JSON.parse(text));

async function answer(response) {
  if (response.status === 204) return null;
  const text = await response.text();
  let body = text;
  try { body = parsed(text); } catch { /* plain text */ }
  if (response.ok) return body;
  const said = body?.detail ? `${body.detail} ${body.remedy ?? ""}`.trim() : body?.error?.message;
  const error = new Error(said ?? `${response.status} ${response.statusText}`);
  error.status = response.status;
  error.signIn = body?.signIn; // what persons can sign in with beside a key
  if (response.status === 401) {
    error.message = t("sessionOver");
    dispatchEvent(new Event("sessionover"));
  }
  throw error;
}

// An answer that ahead.js has asked for serves the first who wants it.
function begun(path) {
  const answer = globalThis.ahead?.get(path);
  globalThis.ahead?.delete(path);
  return answer;
}

// Paths are ours, and the page may be served below another one: they count from where it is.
async function send(path, options) {
  try { return await ((options.method === "GET" && begun(path)) || fetch(`.${path}`, options)); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(t("offline"));
  }
}

// The hub says what is wrong in the page's language.
const inLanguage = () => ({ "Accept-Language": isKorean() ? "ko" : "en" });

export async function api(path, { method = "GET", body, headers = {} } = {}) {
  const options = { method, headers: { Accept: "application/json", ...inLanguage(), ...headers } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  return answer(await send(path, options));
}

// Who is here, asked once until somebody else may be, and what that person's role may do.
const roles = ["read", "user", "operator", "admin"];
export const atLeast = (who, role) => roles.indexOf(who.role) >= roles.indexOf(role);
let here;
export const person = () => (here ??= api("/api/session").catch((error) => { here = undefined; throw error; }));
export const forget = () => { here = undefined; };
export const rights = async () => { const who = await person(); return (role) => atLeast(who, role); };

export const query = (values) =>
  new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== undefined)).toString();

export async function* events(path, body, signal) {
  const response = await send(path, {
    method: "POST", signal, body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", Accept: "text/event-stream", ...inLanguage() },
  });
  if (!response.ok) await answer(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) yield parsed(part.slice(6));
  }
}

// What a file of the app is fetched by: a hub that is away is told in words.
export const fetched = (file) => file.catch(() => { throw new Error(t("offline")); });

// Changes as they happen, over one connection for the whole console; it opens again by itself.
export const ofServers = ["registered", "updated", "removed", "status", "tools"];
let source, isAway = false, began = 0;
const hearers = new Set();
const past = new Map(); // the last of each kind and name that was heard, and when
// A page begins to read: what changes from now on it is told, also what it could not yet hear.
export const reading = () => { began = performance.now(); };
function live() {
  if (source) return;
  source = new EventSource(`./api/mcp/events?present=0&age=${Math.ceil(performance.now() - began)}`);
  const tell = (kind, data) => { for (const { hear } of [...hearers]) hear(kind, data); };
  const lookAgain = () => { for (const { hear, kinds, name } of [...hearers]) hear(kinds[0], { name }); };
  for (const kind of [...ofServers, "approvals", "runs", "keys"]) {
    source.addEventListener(kind, (event) => {
      const data = JSON.parse(event.data);
      past.set(`${kind} ${data.name}`, { kind, data, at: performance.now() });
      tell(kind, data);
    });
  }
  // What changed between the reading and the first opening is not known: each looks again.
  source.addEventListener("ready", (event) => {
    if (JSON.parse(event.data).isNews) lookAgain();
  });
  source.addEventListener("open", () => {
    if (isAway) { // it came back; the first opening is no news
      lookAgain();
      tell("online", {});
    }
    isAway = false;
  });
  source.addEventListener("error", () => {
    isAway = true;
    tell("offline", {});
    if (source.readyState !== EventSource.CLOSED) return;
    api("/api/session").catch(() => {}); // a session that is over is told by its answer
    source = undefined; // refused for good, as after signing out, or while a proxy answers for the hub
    setTimeout(() => hearers.size && live(), 3000);
  });
}

// `hear(kind, data)` is told of changes of these kinds until the returned function is called; with a name, of that server's
// alone. `offline` and `online` tell of the connection itself.
export function follow(hear, kinds = ofServers, name = undefined) {
  const mine = (kind, data) => { if (kinds.includes(kind) && (!name || data.name === name)) hear(kind, data); };
  const hearer = { hear: mine, kinds, name };
  hearers.add(hearer);
  for (const { kind, data, at } of past.values()) if (at > began) mine(kind, data);
  live();
  return () => hearers.delete(hearer);
}

// Answers may overtake each other. What this returns is called at each question, and what that returns tells, once, whether
// its answer is of a later question than what is drawn.
export function inOrder() {
  let asked = 0, drawn = 0;
  return () => {
    const mine = ++asked;
    return () => mine > drawn && Boolean(drawn = mine);
  };
}

// Changes come in crowds: the first does the work at once, those within `wait` ms after it do it once more together.
export function gathered(work, wait) {
  let resting, isWanted = false;
  const change = () => {
    if (resting) { isWanted = true; return; }
    work();
    resting = setTimeout(() => {
      resting = undefined;
      if (isWanted) { isWanted = false; change(); }
    }, wait);
  };
  change.stop = () => clearTimeout(resting);
  return change;
}
