import { api } from "./api.js";
import { fill, h, snippet, title } from "./dom.js";
import { t } from "./text.js";

export async function clientsPage(main, session) {
  const who = await session;
  const { models } = await api("/api/models").catch(() => ({ models: [] }));
  const model = models[0]?.name ?? "MODEL";
  const here = new URL(".", location.href).href.slice(0, -1);
  const key = who.id === "local" ? "none" : "NARU_API_KEY";
  const python = `from openai import OpenAI

naru = OpenAI(base_url="${here}/v1", api_key="${key}")
answer = naru.chat.completions.create(
    model="${model}+tools",
    messages=[{"role": "user", "content": "…"}],
)
print(answer.choices[0].message.content)`;
  const header = who.id === "local" ? "" : ` -H 'Authorization: Bearer NARU_API_KEY'`;
  const curl = `curl ${here}/v1/chat/completions${header} -H 'Content-Type: application/json' \\
  -d '{"model": "${model}+tools", "messages": [{"role": "user", "content": "…"}]}'`;
  const entry = who.id === "local" ? { url: `${here}/mcp` } : { url: `${here}/mcp`, headers: { Authorization: "Bearer NARU_API_KEY" } };
  fill(main, title(t("clients")), h("p", { className: "lead" }, t("clientsLead"), who.id !== "local" && ` ${t("keyNeeded")}`),
    h("h2", {}, t("openaiClients")), h("p", { className: "soft" }, t("openaiHint")),
    h("p", {}, t("baseUrl"), " ", h("code", {}, `${here}/v1`)), snippet(python), snippet(curl),
    h("h2", {}, t("mcpClients")), h("p", { className: "soft" }, t("mcpHint")), snippet(JSON.stringify({ mcpServers: { naru: entry } }, null, 2)),
    snippet(["claude-desktop", "cursor", "vscode", "codex"].map((name) => `naru connect ${name} --write`).join("\n")),
    h("h2", {}, t("terminal")), snippet("naru chat\nnaru tools list\nnaru doctor"));
}
