// The hub's API. Errors carry what was tried, what happened and what to do.
async function answer(response) {
  if (response.status === 204) return null;
  const text = await response.text();
  let body = text;
  try { body = JSON.parse(text); } catch { /* plain text */ }
  if (response.ok) return body;
  const error = new Error(
    body?.detail ? `${body.detail} ${body.remedy ?? ""}`.trim() : body?.error?.message ?? `${response.status} ${response.statusText}`);
  error.status = response.status;
  throw error;
}

export async function api(path, { method = "GET", body, headers = {} } = {}) {
  const options = { method, headers: { Accept: "application/json", ...headers } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  return answer(await fetch(path, options));
}

export async function* events(path, body, signal) {
  const response = await fetch(path, {
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
