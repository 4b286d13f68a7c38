// The hub's API. Errors carry what was tried, what happened and what to do.
import { t } from "./text.js";

async function answer(response) {
  if (response.status === 204) return null;
  const text = await response.text();
  let body = text;
  try { body = JSON.parse(text); } catch { /* plain text */ }
  if (response.ok) return body;
  const said = body?.detail ? `${body.detail} ${body.remedy ?? ""}`.trim() : body?.error?.message;
  const error = new Error(said ?? `${response.status} ${response.statusText}`);
  error.status = response.status;
  throw error;
}

// An answer that ahead.js has asked for serves the first who wants it.
function begun(path) {
  const answer = globalThis.ahead?.get(path);
  globalThis.ahead?.delete(path);
  return answer;
}

async function send(path, options) {
  try { return await ((options.method === "GET" && begun(path)) || fetch(path, options)); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(t("offline"));
  }
}

export async function api(path, { method = "GET", body, headers = {} } = {}) {
  const options = { method, headers: { Accept: "application/json", ...headers } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  return answer(await send(path, options));
}

export const query = (values) =>
  new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== undefined)).toString();

export async function* events(path, body, signal) {
  const response = await send(path, {
    method: "POST", signal, body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
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
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice(6));
  }
}

// Changes of servers as they happen; `hear(name, state)` gets the server's present state.
export function follow(hear, name) {
  const path = name ? `/api/mcp/servers/${encodeURIComponent(name)}/events` : "/api/mcp/events";
  const source = new EventSource(`${path}?present=0`);
  for (const kind of ["registered", "updated", "removed", "status", "tools"]) {
    source.addEventListener(kind, (event) => hear(kind, JSON.parse(event.data)));
  }
  return () => source.close();
}
